"""Dumps written down as two short tables: allocations, and values in the order of the schedule.

    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
    1 | 4096 | maybe-live-out

    0 | x   | f32[1024] | 0 | 4096 | 0-2 | parameter(0)
    1 | out | f32[1024] | 0 | 4096 | 1-2 | negate(x)    | jit(f)/neg

A value has: allocation, name, shape, offset, size, live range, opcode and operands, op name.
Each is an instruction of its own; its step is its place in the table, from 0.
"""

import re
from typing import NamedTuple


class Line(NamedTuple):
    """A value."""

    allocation: str
    name: str
    shape: str
    offset: str
    size: str
    live: str
    made: str
    op_name: str = ""


def short_dump(allocations: str, values: str, *, live_ranges: bool = True) -> str:
    """Write the dump; a name used as operand is a use."""
    lines = [Line(*(cell.strip() for cell in row.split(" | "))) for row in _rows(values)]
    blocks = [row.split(" | ", 2) for row in _rows(allocations)]
    text = ["BufferAssignment:"]
    for number, size, attributes in ([cell.strip() for cell in block] for block in blocks):
        text.append(f"allocation {number}: size {size}, {attributes}:")
        text += [
            f" value: <{place} {line.name} @0>"
            f" (size={line.size},offset={line.offset}): {line.shape}"
            for place, line in enumerate(lines)
            if line.allocation == number
        ]
    total = sum(int(block[1]) for block in blocks)
    text += ["", f"Total bytes used: {total} ({total}B)", "", "Used values:"]
    for place, line in enumerate(lines):
        text += [f"<{place} {line.name} @0>", " positions:", f"  {line.name}", " uses:"]
        text += [
            f"  {user.name}, operand {operand}"
            for user in lines
            for operand, name in enumerate(_operands(user))
            if name == line.name
        ]
        text.append(f" from instruction: {_instruction(line)}")
    if live_ranges:
        last = max([len(lines), *(int(line.live.split("-")[1]) for line in lines)])
        text += ["", f"HloLiveRange (max {last}):", "  InstructionSequence:"]
        text += [f"    {step}:{line.name}" for step, line in enumerate(lines)]
        text += ["  BufferLiveRange:"]
        text += [f"    {line.name}{{}}:{line.live}" for line in lines]
        text += _peak(lines, last)
    return "\n".join(text) + "\n"


def _peak(lines: list[Line], last: int) -> list[str]:
    def live_at(step: int) -> list[Line]:
        return [line for line in lines if step in _steps(line)]

    step = max(range(last + 1), key=lambda at: sum(int(line.size) for line in live_at(at)))
    text, cumulative = [f"  Live ranges at {step} (peak):"], 0
    for line in sorted(live_at(step), key=lambda line: -int(line.size)):
        cumulative += int(line.size)
        text.append(f"    {line.name}{{}}: {line.size} bytes (cumulative: {cumulative} bytes)")
    return text


def _steps(line: Line) -> range:
    first, last = map(int, line.live.split("-"))
    return range(first, last + 1)


def _rows(table: str) -> list[str]:
    return [row for row in table.splitlines() if row.strip()]


def _operands(line: Line) -> list[str]:
    return re.findall(r"[A-Za-z][\w.-]*", line.made.partition("(")[2])


def _instruction(line: Line) -> str:
    opcode, _, rest = line.made.partition("(")
    operands = re.sub(r"([A-Za-z][\w.-]*)", r"%\1", rest)
    metadata = f', metadata={{op_name="{line.op_name}"}}' if line.op_name else ""
    return f"%{line.name} = {line.shape} {opcode}({operands}{metadata}"
