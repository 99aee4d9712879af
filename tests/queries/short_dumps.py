"""Dumps written down as two short tables: allocations, and values in the order of the schedule.

    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
    1 | 4096 | maybe-live-out

    0 | x   | f32[1024] | 0 | 4096 | 0-2 | parameter(0)
    1 | out | f32[1024] | 0 | 4096 | 1-2 | negate(x)    | jit(f)/neg

A value has: allocation, name, shape, offset, size, live range, opcode and operands, op name;
the op name may be followed by ` @ model.py:12`. Its instruction has the place in the schedule
at which its name first stands in the table, from 0. An element of a tuple is called `call{1}`;
values of one instruction say the same of it. An operand is the name of a value.
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

    @property
    def instruction(self) -> str:
        """The instruction that makes it."""
        return self.name.partition("{")[0]

    @property
    def position(self) -> str:
        """As it stands among positions."""
        return self.name.replace("{", " {")


def short_dump(allocations: str, values: str, *, live_ranges: bool = True) -> str:
    """Write the dump; a name used as operand is a use."""
    lines = [Line(*(cell.strip() for cell in row.split(" | "))) for row in _rows(values)]
    blocks = [row.split(" | ", 2) for row in _rows(allocations)]
    colors = {}
    text = ["BufferAssignment:"]
    for number, size, attributes in ([cell.strip() for cell in block] for block in blocks):
        text.append(f"allocation {number}: size {size}, {attributes}:")
        color = re.search(r"color (\d+)", attributes)
        colors[number] = color[1] if color else "0"
        text += [
            f" value: <{place} {line.name} @{colors[number]}>"
            f" (size={line.size},offset={line.offset}): {line.shape}"
            for place, line in enumerate(lines)
            if line.allocation == number
        ]
    total = sum(int(block[1]) for block in blocks)
    text += ["", f"Total bytes used: {total} ({total}B)", "", "Used values:"]
    for place, line in enumerate(lines):
        text += [
            f"<{place} {line.name} @{colors[line.allocation]}>",
            " positions:",
            f"  {line.position}",
            " uses:",
        ]
        text += dict.fromkeys(
            f"  {user.instruction}, operand {operand}"
            for user in lines
            for operand, name in enumerate(_operands(user))
            if name == line.name
        )
        text.append(f" from instruction: {_instruction(line, lines)}")
    if live_ranges:
        schedule = list(dict.fromkeys(line.instruction for line in lines))
        last = max([len(schedule), *(int(line.live.split("-")[1]) for line in lines)])
        text += ["", f"HloLiveRange (max {last}):", "  InstructionSequence:"]
        text += [f"    {step}:{name}" for step, name in enumerate(schedule)]
        text += ["  BufferLiveRange:"]
        text += [f"    {_indexed(line)}:{line.live}" for line in lines]
        text += _peak(lines, last)
    return "\n".join(text) + "\n"


def _peak(lines: list[Line], last: int) -> list[str]:
    def live_at(step: int) -> list[Line]:
        return [line for line in lines if step in _steps(line)]

    step = max(range(last + 1), key=lambda at: sum(int(line.size) for line in live_at(at)))
    text, cumulative = [f"  Live ranges at {step} (peak):"], 0
    for line in sorted(live_at(step), key=lambda line: -int(line.size)):
        cumulative += int(line.size)
        text.append(f"    {_indexed(line)}: {line.size} bytes (cumulative: {cumulative} bytes)")
    return text


def _steps(line: Line) -> range:
    first, last = map(int, line.live.split("-"))
    return range(first, last + 1)


def _rows(table: str) -> list[str]:
    return [row for row in table.splitlines() if row.strip()]


def _indexed(line: Line) -> str:
    return line.name if "{" in line.name else line.name + "{}"


def _operands(line: Line) -> list[str]:
    return re.findall(
        r"[A-Za-z][\w.-]*(?:\{[\d,]*\})?", line.made.partition("(")[2].partition(")")[0]
    )


def _instruction(line: Line, lines: list[Line]) -> str:
    opcode, _, rest = line.made.partition("(")
    operands, _, attributes = rest.partition(")")
    operands = re.sub(r"([A-Za-z][\w.-]*)(?:\{[\d,]*\})?", r"%\1", operands)
    shape = line.shape
    if "{" in line.name:
        leaves = [other.shape for other in lines if other.instruction == line.instruction]
        shape = f"({', '.join(leaf for leaf in leaves if not leaf.startswith('('))})"
    metadata = []
    if line.op_name:
        op_name, _, source = line.op_name.partition(" @ ")
        metadata.append(f'op_name="{op_name}"')
        if source:
            file, _, number = source.rpartition(":")
            metadata.append(f'source_file="{file}" source_line={number}')
    told = f", metadata={{{' '.join(metadata)}}}" if metadata else ""
    return f"%{line.instruction} = {shape} {opcode}({operands}){attributes}{told}"
