"""Parse the module text of a dump: computations, call stacks and the facts of its header.

    HloModule jit_f, is_scheduled=true,
    input_output_alias={ {0}: (1, {}, may-alias), {1,0}: (2, {3}, must-alias) },
    buffer_donor={ (0, {}), (4, {1}) }, …, num_partitions=8      all on one line
    FileNames                          1 "/src/train.py"
    FunctionNames                      1 "train_step"
    FileLocations                      1 {file_name_id=1 function_name_id=1 line=50 … column=18 …}
    StackFrames                        2 {file_location_id=1 parent_frame_id=2}
    %fused_computation (…) -> … {      or ``fused_computation {``; one begins with ``ENTRY``
      ROOT %add.3 = f32[8]{0} add(…)   or without ``%``
    }

The text is a companion of the dump. XLA extends its grammar freely, so lines that do not
match are skipped.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from xlagraph.hlo.attribute_text import unescaped
from xlagraph.hlo.computation_text import NO_TEXTS, PrintedComputation
from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.instruction_text import PrintedInstruction, parse_instruction
from xlagraph.hlo.metadata import StackFrame, acyclic_callers
from xlagraph.hlo.program import EntryParameter, Program

_INDEX: Final = r"(\{[\d, ]*+\})"
# {0}: (1, {}, may-alias)   without the kind up to 2020
_ALIAS: Final = rf"{_INDEX}: \((\d{{1,18}}), {_INDEX}(?:, (?:may|must)-alias)?\)"
# (4, {1})
_DONOR: Final = rf"\((\d{{1,18}}), {_INDEX}\)"
_ALIASES: Final = re.compile(rf", input_output_alias=\{{ *({_ALIAS},? *)*+\}}")
_DONORS: Final = re.compile(rf", buffer_donor=\{{ *({_DONOR},? *)*+\}}")
_NAME: Final = re.compile(r"HloModule ([^\s,]+)")
_PARTITIONS: Final = re.compile(r", num_partitions=(\d{1,9})(?!\d)")


def parse_module_header(line: str) -> Program:
    """Return what the line that begins with ``HloModule`` states; skip parts that do not match."""
    aliases = _ALIASES.search(line)
    donors = _DONORS.search(line)
    partitions = _PARTITIONS.search(line)
    name = _NAME.match(line)
    return Program(
        name=name[1] if name else None,
        output_by_donated={
            _parameter(number, index): _plain(output)
            for output, number, index in re.findall(_ALIAS, aliases[0] if aliases else "")
        },
        unpaired_donors=frozenset(
            _parameter(number, index)
            for number, index in re.findall(_DONOR, donors[0] if donors else "")
        ),
        partitions=int(partitions[1]) if partitions else 1,
    )


def _parameter(number: str, index: str) -> EntryParameter:
    return EntryParameter(int(number), _plain(index))


def _plain(index: str) -> str:
    return index.replace(" ", "")


_HEADER: Final = "HloModule "
# %region_0.4 (a: f32[]) -> f32[] {   region_1.4 {   ENTRY %main.5 (…) -> … {
_OPENING: Final = r"(ENTRY )?%?([^\s(]++) [^\n]*\{[^\S\n]*+(?=\n)"
# the opening of a computation or another line, then the indented lines after it
_BODY: Final = re.compile(rf"^(?:{_OPENING}|([^\n]*+))((?:\n  [^\n]*+)++)", re.MULTILINE)
# %fusion.1 = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused_computation.1
_FUSION: Final = " fusion("
_FUSED: Final = re.compile(r" fusion\([^\n]*?, calls=%?([^\s,{}]+)")
# The GPU compiler writes a fingerprint into the header (since 2023); library calls have targets.
_GPU_FINGERPRINT: Final = "fingerprint_before_lhs="
_GPU_TARGET: Final = 'custom_call_target="__cu'
# 1 "train_step"   1 {file_location_id=1 parent_frame_id=1}
_TABLE_ROW: Final = re.compile(r"(\d{1,18}) (.+)")
_FIELD: Final = re.compile(r"(\w+)=(\d{1,18})(?!\d)")
_TABLES: Final = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


def parse_module_text(text: str, plan_texts: Mapping[str, str] = NO_TEXTS) -> Program:
    """Parse a module text, its computations on first access; linear in its length.

    ``plan_texts`` are the texts of instructions in the memory plan, by name. They take precedence;
    the module text fills the facts missing from them.
    """
    if not text:
        return Program(instructions=_only_planned(plan_texts, ()))
    text = text.removeprefix("\N{BYTE ORDER MARK}")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if text.startswith("  "):
        text = f"\n{text}"
    bodies: dict[str, str] = {}
    between: list[str] = []
    entry = None
    computation = ""
    end = 0
    for found in _BODY.finditer(text):
        between.append(text[end : found.start()])
        end = found.end()
        entry_mark, name, other_line, body = found.groups()
        if name is None:
            between.append(other_line)
        else:
            computation = name
            if entry_mark is not None:
                entry = name
        bodies[computation] = bodies[computation] + body if computation in bodies else body
    between.append(text[end:])
    # Nearly all are the same: the line that closes a computation and an empty line.
    lines = [line.rstrip() for part in dict.fromkeys(between) for line in part.split("\n")]
    header_line = next((line for line in lines if line.startswith(_HEADER)), "")
    header = parse_module_header(header_line)
    # A plan names no instruction inside a fusion.
    inside: set[str] = set()
    for body in bodies.values():
        if _FUSION in body:
            inside.update(_FUSED.findall(body))
    computations = {
        name: PrintedComputation(name, body, NO_TEXTS if name in inside else plan_texts)
        for name, body in bodies.items()
    }
    named: dict[str, Instruction] = {}
    for name, each in computations.items():
        if name not in inside:
            for instruction in each.instructions:
                named.setdefault(instruction.name, instruction)
    named |= _only_planned(plan_texts, named)
    return replace(
        header,
        entry_name=entry,
        computations=computations,
        instructions=named,
        frames=_frames(_tables(lines)),
        is_gpu=_GPU_FINGERPRINT in header_line or _GPU_TARGET in text,
    )


def parse_stack_frames(text: str) -> dict[int, StackFrame]:
    """Return the frames of a module text, by number; its tables precede all computations."""
    head = text.replace("\r\n", "\n").partition("\n  ")[0]
    return _frames(_tables(line.rstrip() for line in head.split("\n")))


def _only_planned(
    plan_texts: Mapping[str, str], named: Collection[str]
) -> dict[str, PrintedInstruction]:
    """Return the instructions that only the plan has."""
    found = {
        name: parse_instruction(name, text)
        for name, text in plan_texts.items()
        if name not in named
    }
    for name, instruction in found.items():
        instruction.text = plan_texts[name]
    return found


def _tables(lines: Iterable[str]) -> dict[str, dict[int, str]]:
    """Return the rows of each table, by number."""
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
    """Return the caller of each frame; None if it is missing or part of a cycle."""
    # XLA prints the number of the parent + 1, and 1 if there is no parent.
    return acyclic_callers(
        {number: _fields(row).get("parent_frame_id", 0) - 1 for number, row in stack.items()}
    )


def _fields(row: str) -> dict[str, int]:
    return {name: int(number) for name, number in _FIELD.findall(row)}
