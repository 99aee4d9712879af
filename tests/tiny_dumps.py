"""Tiny dumps, written as two short tables, and two runs of them that many tests share.

The tables are allocations, and values in the schedule's order:

    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
    1 | 4096 | maybe-live-out

    0 | x   | f32[1024] | 0 | 4096 | 0-2 | parameter(0)
    1 | out | f32[1024] | 0 | 4096 | 1-2 | negate(x)    | jit(f)/neg

A value has: allocation, name, shape, offset, size, live range, opcode and operands, op name. An
operand is the name of a value that is used. The op name may be followed by
` @ model.py:12`, or by ` @ frame 3` where the text of the module lists frames. The place in the
table, from 0, is the id of the value; its instruction has the step at which its name first occurs
in the table.

An element of a tuple is called `call{1}`, that of a loop `loop{1} (phi)`; values of one instruction
repeat its text. Names after the first, `x, call{0}`, are further positions of the value. An
instruction that makes no value has `-` as its allocation. One that is not scheduled has `-` as its
live range; a dump without any live range has no section of them.

Run `before` compiles jit_f (temp 256) and jit_g (temp 128); run `after` compiles jit_f
(temp 512) and jit_h (temp 64). Each reserves its temp and 128 bytes more, all of it live
at step 2: parameter `p` (64), `t` from f.py:5 (the temp), result `out` from f.py:7 (64).
Run `padded` has one value, of 16 bytes in 8,192, which is a finding of `advise`.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from xlagraph.graph import Graph
from xlagraph.graph.engine import LoadTarget
from xlagraph.ingest import ingest

_NAME = r"[A-Za-z_][\w.-]*"
_INDEX = r"\{[\d,]*\}"
_WITH_LINE = re.compile(
    r"(?P<op>.*?)(?: @ (?:frame (?P<frame>\d+)|(?P<file>\S+):(?P<line>\d+)))?", re.DOTALL
)


class _Block(NamedTuple):
    """A row of the first table: an allocation."""

    number: str
    size: str
    attributes: str

    @property
    def color(self) -> str:
        found = re.search(r"color (\d+)", self.attributes)
        return found[1] if found else "0"


class _Line(NamedTuple):
    """A row of the second table: a value, or an instruction that makes none."""

    allocation: str
    names: str
    shape: str
    offset: str
    size: str
    live: str
    made: str = ""
    op_name: str = ""

    @property
    def printed_name(self) -> str:
        return self.names.split(", ")[0]

    @property
    def name(self) -> str:
        return self.printed_name.removesuffix(" (phi)")

    @property
    def positions(self) -> list[str]:
        return [self.name, *self.names.split(", ")[1:]]

    @property
    def instruction(self) -> str:
        return self.name.partition("{")[0]

    @property
    def is_value(self) -> bool:
        return self.allocation != "-"

    @property
    def steps(self) -> range:
        """Steps in which it is live."""
        if not self.is_value or self.live == "-":
            return range(0)
        first, last = map(int, self.live.split("-"))
        return range(first, last + 1)

    @property
    def ranged_name(self) -> str:
        """Its name among live ranges."""
        return self.name if "{" in self.name else self.name + "{}"

    @property
    def operands(self) -> list[str]:
        return re.findall(rf"{_NAME}(?:{_INDEX})?", self.made.partition("(")[2].partition(")")[0])


def tiny_dump(
    allocations: str, values: str, *, total: int | None = None, peak_step: int | None = None
) -> str:
    """Write the dump of two tables, with the total and the peak step that XLA prints.

    If they are not given, the total is the sum of the allocations.
    """
    blocks = [_Block(*cells) for cells in _rows(allocations, columns=3)]
    lines = [_Line(*cells) for cells in _rows(values, columns=8)]
    if total is None:
        total = sum(int(block.size) for block in blocks)
    text = [
        *_allocations(blocks, lines),
        "",
        f"Total bytes used: {total} ({total}B)",
        "",
        *_used_values(blocks, lines),
        *_live_ranges(lines, peak_step),
    ]
    return "\n".join(text) + "\n"


def _rows(table: str, *, columns: int) -> list[list[str]]:
    return [
        [cell.strip() for cell in row.strip().split(" | ", columns - 1)]
        for row in table.split("\n")
        if row.strip()
    ]


def _values(lines: Sequence[_Line]) -> list[tuple[int, _Line]]:
    """Return the values with their ids."""
    return list(enumerate(line for line in lines if line.is_value))


def _allocations(blocks: Sequence[_Block], lines: Sequence[_Line]) -> list[str]:
    text = ["BufferAssignment:"]
    for block in blocks:
        text.append(f"allocation {block.number}: size {block.size}, {block.attributes}:")
        text += [
            f" value: <{value_id} {line.printed_name} @{block.color}>"
            f" (size={line.size},offset={line.offset}): {line.shape}"
            for value_id, line in _values(lines)
            if line.allocation == block.number
        ]
    return text


def _used_values(blocks: Sequence[_Block], lines: Sequence[_Line]) -> list[str]:
    colors = {block.number: block.color for block in blocks}
    uses: dict[str, list[str]] = {}
    whole_shapes = {line.instruction: line.shape for line in lines if line.shape.startswith("(")}
    for user in lines:
        for operand, name in enumerate(user.operands):
            uses.setdefault(name, []).append(f"  {user.instruction}, operand {operand}")
    text = ["Used values:"]
    for value_id, line in _values(lines):
        text.append(f"<{value_id} {line.printed_name} @{colors[line.allocation]}>")
        text.append(" positions:")
        text += [f"  {name.replace('{', ' {')}" for name in line.positions]
        text.append(" uses:")
        text += dict.fromkeys(uses.get(line.name, ()))
        if line.made:
            shape = line.shape
            if "{" in line.name:
                leaves = [each.shape for each in lines if each.instruction == line.instruction]
                shape = whole_shapes.get(line.instruction, f"({', '.join(leaves)})")
            text.append(f" from instruction: %{line.instruction} = {shape} {_operation(line)}")
    return text


def _operation(line: _Line) -> str:
    opcode, _, rest = line.made.partition("(")
    operands, _, attributes = rest.partition(")")
    operands = re.sub(rf"({_NAME})(?:{_INDEX})?", r"%\1", operands)
    text = f"{opcode}({operands}){attributes}"
    if not line.op_name:
        return text
    found = _WITH_LINE.fullmatch(line.op_name)
    assert found is not None
    metadata = f'op_name="{found["op"]}"'
    if found["frame"]:
        metadata += f" stack_frame_id={found['frame']}"
    if found["file"]:
        metadata += f' source_file="{found["file"]}" source_line={found["line"]}'
    return f"{text}, metadata={{{metadata}}}"


def _live_ranges(lines: Sequence[_Line], peak_step: int | None) -> list[str]:
    ranged = [line for line in lines if line.steps]
    if not ranged:
        return []
    schedule = list(dict.fromkeys(line.instruction for line in lines if line.live != "-"))
    last = max([len(schedule), *(line.steps[-1] for line in ranged)])
    if peak_step is None:
        peak_step = _peak_step(ranged, last)
    return [
        "",
        "",
        f"HloLiveRange (max {last}):",
        "  InstructionSequence:",
        *(f"    {step}:{name}" for step, name in enumerate(schedule)),
        "  BufferLiveRange:",
        *(f"    {line.ranged_name}:{line.live}" for line in ranged),
        *_printed_peak(ranged, peak_step),
    ]


def _peak_step(ranged: Sequence[_Line], last: int) -> int:
    live_bytes = [0] * (last + 1)
    for line in ranged:
        for step in line.steps:
            live_bytes[step] += int(line.size)
    return live_bytes.index(max(live_bytes))


def _printed_peak(ranged: Sequence[_Line], peak_step: int) -> list[str]:
    text, cumulative = [f"  Live ranges at {peak_step} (peak):"], 0
    for line in sorted(ranged, key=lambda line: -int(line.size)):
        if peak_step in line.steps:
            cumulative += int(line.size)
            text.append(
                f"    {line.ranged_name}: {line.size} bytes (cumulative: {cumulative} bytes)"
            )
    return text


PADDED = tiny_dump(
    "0 | 8192 | preallocated-temp",
    "0 | a | s8[16,1] | 0 | 8192 | 0-1 | iota() | jit(f)/iota",
)

STEM = "module_{number:04}.{module}.cpu_after_optimizations"
BEFORE_F = f"before/{STEM.format(number=1, module='jit_f')}"
BEFORE_G = f"before/{STEM.format(number=3, module='jit_g')}"
AFTER_F = f"after/{STEM.format(number=1, module='jit_f')}"
AFTER_H = f"after/{STEM.format(number=5, module='jit_h')}"


def dump(temp: int, *, total: int | None = None, op: str = "jit(f)/layer_0/dot") -> str:
    """Write the dump of a module with this many bytes of temporaries."""
    temporary = f"f32[{temp // 4}]{{0}} | 0 | {temp}"
    return tiny_dump(
        f"""
        0 | 64     | parameter 0, shape |f32[16]| at ShapeIndex {{}}
        1 | 64     | output shape is |f32[16]|, maybe-live-out
        2 | {temp} | preallocated-temp
        """,
        f"""
        0 | p   | f32[16]{{0}} | 0 | 64 | 0-3 | parameter(0) | p
        2 | t   | {temporary}           | 1-2 | fusion(p), calls=%fused   | {op} @ f.py:5
        1 | out | f32[16]{{0}} | 0 | 64 | 2-3 | fusion(t), calls=%fused.1 | jit(f)/sum @ f.py:7
        """,
        total=total,
    )


def write_dump(folder: Path, number: int, module: str, text: str) -> Path:
    """Write a dump at the path that XLA would use."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = STEM.format(number=number, module=module)
    path = folder / f"{stem}-buffer-assignment.txt"
    path.write_text(text)
    return path


def write_runs(folder: Path) -> Path:
    """Write the runs `before` and `after`."""
    write_dump(folder / "before", 1, "jit_f", dump(256))
    write_dump(folder / "before", 3, "jit_g", dump(128))
    write_dump(folder / "after", 1, "jit_f", dump(512))
    write_dump(folder / "after", 5, "jit_h", dump(64))
    return folder


def write_padded_run(folder: Path) -> Path:
    """Write the run `padded`, whose compilation is `padded/f`."""
    (folder / "padded").mkdir(parents=True)
    (folder / "padded" / "f.txt").write_text(PADDED)
    return folder


def ingest_text(graph: LoadTarget, folder: Path, text: str) -> str:
    """Ingest one dump, whose run has the name of the folder, and return its key."""
    run = folder / "runs" / folder.name
    run.mkdir(parents=True)
    (run / "f.txt").write_text(text)
    assert ingest(graph, run.parent, jobs=1).ok
    return f"{run.name}/f"


def ingest_two_runs(graph: Graph, folder: Path) -> None:
    """Fill a graph with the runs `before` and `after`."""
    assert ingest(graph, write_runs(folder), jobs=1).ok
