"""Read the total of a dump and its used values: positions, uses, defining instructions."""

from collections.abc import Sequence
from re import Match
from sys import intern
from typing import Final

from xlagraph.ingest.carriers.text import line_forms as form
from xlagraph.ingest.carriers.text.line_forms import LineForm
from xlagraph.ingest.carriers.text.printed_plan import DraftPlan
from xlagraph.ingest.carriers.text.text import DumpText
from xlagraph.ingest.errors import ParseError
from xlagraph.ingest.plan import Position, Use, UsedValue, Value

_NO_USES_LINE: Final = form.NO_USES.example + "\n"
_AFTER_INSTRUCTION: Final = ("<", form.POSITIONS.example, "\n")


def parse_totals(text: DumpText, header: Match[str], draft: DraftPlan) -> int:
    """Read the total and the used values after it."""
    draft.total_bytes, draft.human_total = int(header[1]), header[2]
    position = text.skip_blanks(header.end())
    used_values = form.USED_VALUES.regex.match(text.text, position)
    if used_values is None:
        raise text.syntax_error(position, form.USED_VALUES)
    return _used_values(text, used_values.end(), draft)


def _used_values(text: DumpText, start: int, draft: DraftPlan) -> int:
    lines = text.text
    used_values = draft.used_values = []
    position = start
    waiting = draft.unused_values
    while lines.startswith("<", position):
        block = form.USED_VALUE_BLOCK.match(lines, position)
        if block is None:
            raise syntax_error_in_block(
                text, position, (form.VALUE_HEADER, form.POSITIONS), form.FROM_INSTRUCTION
            )
        header, *lists, prefix = block.groups()
        value = waiting.pop(header, None)
        if value is None:
            raise text.error(position, "a value of an allocation, each value once")
        is_glued = position > start and lines[position - 1] != "\n"
        if not used_values:
            draft.instruction_prefix = prefix
        elif len(used_values) == 1:
            draft.is_glued = is_glued
        if prefix != draft.instruction_prefix:
            raise text.error(block.end(), f"'{draft.instruction_prefix or '<'}', as before")
        if is_glued is not draft.is_glued:
            raise text.error(position, "a line end before every value or before no value")
        used_values.append(parse_used_value(text, block, lists, value, draft))
        position = block.end()
        if prefix is not None:
            position = _instruction_end(text, position, value.name, draft.instructions)
    if waiting:
        missing = next(iter(waiting))
        raise text.error(position, f"the used value '{missing}', which is in an allocation")
    if not used_values:
        raise text.syntax_error(position, form.VALUE_HEADER)
    return position


def syntax_error_in_block(
    text: DumpText, position: int, opening: Sequence[LineForm], closing: LineForm
) -> ParseError:
    """Return the error for the first line that does not match in a block of lists."""
    for line_form in opening:
        position = text.skip_line(position, line_form)
    position = text.skip_lines(text.skip_line(position, form.POSITION), form.POSITION)
    position = text.skip_line(position, form.USES, form.USES_NOT_INITIALIZED)
    position = text.skip_lines(position, form.USE, form.NO_USES)
    return text.syntax_error(position, form.USE, closing)


def parse_used_value(
    text: DumpText,
    block: Match[str],
    lists: Sequence[str | None],
    value: Value,
    draft: DraftPlan,
) -> UsedValue:
    """Read positions and uses; ``lists`` are their groups in the block."""
    name, index, more_positions, remark, user, operand, operand_index, more_uses = lists
    kept = draft.names.setdefault
    # The value itself is nearly always the first position.
    first = value.name if name is None or name == value.name else name
    positions = [Position(first, index and intern(index))]
    if more_positions:
        start, end = block.span("positions")
        positions += [
            Position(kept(name, name), intern(index) if index else None)
            for name, index in text.parse_lines(start, end, form.POSITION)
        ]
    uses = []
    if user is not None and operand is not None:
        uses.append(Use(kept(user, user), int(operand), operand_index))
        if more_uses:
            start, end = block.span("uses")
            uses += [
                Use(kept(name, name), int(number), index or None)
                for name, number, index in text.parse_lines(start, end, form.USE)
            ]
    else:
        _note_no_uses(text, block, value, draft)
    if remark is not None and (user is not None or more_uses):
        raise text.error(block.end("remark") + 1, "no uses after the remark")
    return UsedValue(value.value_id, tuple(positions), tuple(uses))


def _note_no_uses(text: DumpText, block: Match[str], value: Value, draft: DraftPlan) -> None:
    if block["remark"] is not None:
        draft.values_without_uses.add(value.value_id)
        return
    start, end = block.span("uses")
    prints_none = text.text[start:end] == _NO_USES_LINE
    if start < end and not prints_none:
        raise text.syntax_error(start, form.USE)
    if draft.prints_none is None:
        draft.prints_none = prints_none
    elif prints_none != draft.prints_none:
        raise text.error(start, "'(none)' in every empty list of uses or in no list")


def _instruction_end(text: DumpText, position: int, name: str, instructions: dict[str, str]) -> int:
    """Record an instruction's text; return the start of the next line or glued value."""
    lines = text.text
    if not lines.startswith(f"{name} = ", position):
        raise text.error(position, f"the instruction '%{name} = …', which defines the value")
    start = position + len(name) + len(" = ")
    # Each element of a tuple repeats its whole instruction, which makes files quadratic in
    # the width of tuples: the copies are compared in place, without slicing.
    known = instructions.get(name)
    if known is not None and lines.startswith(known, start):
        end = start + len(known)
    else:
        end = lines.index("\n", start)
        if not lines.startswith(_AFTER_INSTRUCTION, end + 1):  # it may be inside a string
            end_outside_strings = next(form.INSTRUCTION.finditer(lines, start)).end()
            if lines.startswith("\n", end_outside_strings):
                end = end_outside_strings
        if lines.startswith(form.POSITIONS.example, end + 1):
            end = lines.rfind("<", start, end)
        if known is not None or end <= start:
            raise text.error(position, f"the text of '%{name}', the same for all its values")
        instructions[name] = lines[start:end]
    if lines.startswith("\n", end):
        return end + 1
    if not lines.startswith("<", end):
        raise text.error(position, f"the text of '%{name}', the same for all its values")
    return end
