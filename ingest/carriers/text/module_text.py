"""The module text beside a dump: computations, call stacks, what its header says.

    HloModule jit_f, is_scheduled=true, …
    FileNames                          1 "/src/train.py"
    FunctionNames                      1 "train_step"
    FileLocations                      1 {file_name_id=1 function_name_id=1 line=50 … column=18 …}
    StackFrames                        2 {file_location_id=1 parent_frame_id=2}
    %fused_computation (…) -> … {      or ``fused_computation {``, and ``ENTRY`` in front of one
      ROOT %add.3 = f32[8]{0} add(…)   or without ``%``
    }

The text is a companion of the dump and its grammar is XLA's own and open: lines that do
not fit are passed over.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from xlagraph.ingest.carriers.text.instruction_text import InstructionFacts, unescaped
from xlagraph.ingest.carriers.text.module_header import ModuleHeader, parse_module_header
from xlagraph.ingest.hlo.computations import Aliasing, Computation, HloTextError, Module

__all__ = ["ModuleInstruction", "ModuleText", "StackFrame", "hlo_module", "parse_module_text"]


class ModuleInstruction(NamedTuple):
    """One instruction of the module text."""

    computation: str
    text: str
    """After ``%name = ``."""


class StackFrame(NamedTuple):
    """A source location from which an instruction comes, and its caller."""

    function: str | None
    file: str | None
    line: int | None
    column: int | None
    caller: int | None
    """Number of the calling frame; None of the outermost."""


@dataclass(frozen=True, slots=True)
class ModuleText:
    """What is kept of a module text."""

    header: ModuleHeader
    instructions: Mapping[str, ModuleInstruction]
    """Those asked for."""
    frames: Mapping[int, StackFrame]
    """By number; every caller is among them, and none calls itself by way of others."""
    computations: Mapping[str, Computation] = field(repr=False, compare=False)
    """By name; those that are looked into are parsed then."""
    entry: str | None = None
    """Computation that the program begins with."""
    is_gpu: bool = False
    """Whether the text shows that it was compiled for a GPU."""

    def root_opcode(self, facts: InstructionFacts) -> str | None:
        """Return the opcode of the root of the computation that a fusion runs; else None."""
        if facts.opcode != "fusion" or facts.calls is None:
            return None
        computation = self.computations.get(facts.calls)
        try:
            return computation.root.opcode if computation is not None else None
        except HloTextError:
            return None

    def source_location(self, facts: InstructionFacts) -> tuple[str | None, int | None]:
        """Return source file and line: the instruction's own, else those of its innermost frame."""
        if facts.source_file is not None or facts.stack_frame_id is None:
            return facts.source_file, facts.source_line
        frame = self.frames.get(facts.stack_frame_id)
        return (frame.file, frame.line) if frame else (None, None)


_HEADER: Final = "HloModule "
# %region_0.4 (a: f32[]) -> f32[] {   region_1.4 {   ENTRY %main.5 (…) -> … {
_COMPUTATION: Final = re.compile(r"(?:ENTRY )?%?([^\s(]+) (?:.*)\{$")
_NOT_INDENTED: Final = re.compile(r"\n(?!  )")
_NAME: Final = re.compile(r"\n  (?:ROOT )?%?(\S+) = ")
_INSTRUCTION: Final = re.compile(rf"{_NAME.pattern}(.*)")
# The GPU compiler keeps a fingerprint in the header (since 2023); libraries have targets.
_OF_GPU: Final = ("fingerprint_before_lhs=", 'custom_call_target="__cu')
# 1 "train_step"   1 {file_location_id=1 parent_frame_id=1}
_TABLE_ROW: Final = re.compile(r"(\d{1,18}) (.+)")
_FIELD: Final = re.compile(r"(\w+)=(\d{1,18})(?!\d)")
_TABLES: Final = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


def parse_module_text(text: str, names: Collection[str]) -> ModuleText:
    """Parse the instructions called `names` and the stack frames; linear in the text."""
    wanted = frozenset(names)
    lines: list[str] = []
    computation = ""
    entry = None
    found: dict[str, ModuleInstruction] = {}
    bodies: dict[str, str] = {}
    for line, body in _paragraphs(text.removeprefix("\N{BYTE ORDER MARK}")):
        lines.append(line)
        if line.endswith("{") and (opening := _COMPUTATION.match(line)):
            computation = opening[1]
            if line.startswith("ENTRY "):
                entry = computation
        if body:
            bodies[computation] = bodies.get(computation, "") + body
            if not wanted.isdisjoint(_NAME.findall(body)):
                _find_instructions(wanted, computation, body, found)
    return ModuleText(
        parse_module_header(next((line for line in lines if line.startswith(_HEADER)), "")),
        found,
        _frames(_tables(lines)),
        {name: Computation(name, body) for name, body in bodies.items()},
        entry,
        any(mark in text for mark in _OF_GPU),
    )


def hlo_module(text: ModuleText) -> Module | None:
    """Return the program that a module text holds; None without an entry computation."""
    entry = text.computations.get(text.entry) if text.entry is not None else None
    if entry is None:
        return None
    aliasing = [
        Aliasing(output, parameter.number, parameter.shape_index)
        for parameter, output in text.header.output_by_donated.items()
    ]
    return Module(text.computations, entry, tuple(aliasing))


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line that is not indented, and the indented ones after it.

    The former without white space at its end, the latter with a line break before each.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if text.startswith("  "):
        text = f"\n{text}"
    start = 0
    for following in chain(_NOT_INDENTED.finditer(text), (None,)):
        end = following.start() if following is not None else len(text)
        at = text.find("\n", start, end)
        if at < 0:
            at = end
        if at > start + 1 or at < end:  # neither empty nor a brace alone
            yield text[start:at].rstrip(), text[at:end]
        start = end + 1


def _find_instructions(
    wanted: Collection[str], computation: str, body: str, found: dict[str, ModuleInstruction]
) -> None:
    for name, text in _INSTRUCTION.findall(body):
        if name in wanted and name not in found:
            found[name] = ModuleInstruction(computation, text.rstrip())


def _tables(lines: Iterable[str]) -> dict[str, dict[int, str]]:
    """Return the rows of each table by their numbers."""
    tables: dict[str, dict[int, str]] = {}
    table: dict[int, str] | None = None
    for line in lines:
        if table is not None and (row := _TABLE_ROW.match(line)):
            table.setdefault(int(row[1]), row[2])
        elif line in _TABLES:
            table = tables.setdefault(line, {})
    return tables


def _frames(tables: Mapping[str, Mapping[int, str]]) -> dict[int, StackFrame]:
    files, functions, locations, stack = (tables.get(table, {}) for table in _TABLES)
    callers = _callers(stack)
    frames: dict[int, StackFrame] = {}
    for number, row in stack.items():
        location = _fields(locations.get(_fields(row).get("file_location_id", 0), ""))
        file = files.get(location.get("file_name_id", 0))
        function = functions.get(location.get("function_name_id", 0))
        frames[number] = StackFrame(
            unescaped(function.rstrip()) or None if function else None,
            unescaped(file.rstrip()) or None if file else None,
            location.get("line") or None,
            location.get("column"),
            callers[number],
        )
    return frames


def _callers(stack: Mapping[int, str]) -> dict[int, int | None]:
    """Return each frame's caller; one that is missing or leads back to the frame is None."""
    callers: dict[int, int | None] = {}
    for number, row in stack.items():
        # XLA prints the number of the parent + 1, and 1 for none.
        caller = _fields(row).get("parent_frame_id", 0) - 1
        callers[number] = caller if caller in stack else None
    acyclic: set[int] = set()
    for number in stack:
        path: dict[int, None] = {}
        at: int | None = number
        while at is not None and at not in acyclic and at not in path:
            path[at] = None
            at = callers[at]
        if at in path:  # a circle: cut it where it was entered
            callers[next(reversed(path))] = None
        acyclic.update(path)
    return callers


def _fields(row: str) -> dict[str, int]:
    return {name: int(number) for name, number in _FIELD.findall(row)}
