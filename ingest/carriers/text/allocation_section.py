"""Read the allocations of a dump and their values, in each of the three forms of a value."""

from collections.abc import Callable, Collection, Mapping
from re import Match
from sys import intern
from typing import Final

from xlagraph.hlo.shapes import parse_shape
from xlagraph.ingest.carriers.text import line_forms as form
from xlagraph.ingest.carriers.text.line_forms import LineForm
from xlagraph.ingest.carriers.text.printed_plan import DraftPlan, ValueForm
from xlagraph.ingest.carriers.text.text import DumpText
from xlagraph.ingest.carriers.text.used_values_section import (
    parse_used_value,
    syntax_error_in_block,
)
from xlagraph.ingest.plan import Allocation, ParameterStorage, Value

_LEAST_NUMBER: Final = str(form.LARGEST_NUMBER + 1)
"""Digits of the least 64-bit number, which XLA prints for an unbounded dimension."""


def parse_allocations(text: DumpText, header: Match[str], draft: DraftPlan) -> int:
    """Read the allocations and their values; a multi-line value also lists its uses."""
    position = header.end()
    numbers: set[int] = set()
    while found := form.ALLOCATION.regex.match(text.text, position):
        allocation = _allocation(found)
        if allocation.number in numbers:
            raise text.error(position, "an allocation number that no earlier line has")
        numbers.add(allocation.number)
        draft.allocations.append(allocation)
        position = _values(text, found.end(), allocation, draft)
    if not numbers:
        raise text.syntax_error(position, form.ALLOCATION)
    text.check_sum(header.start(), [allocation.size_bytes for allocation in draft.allocations])
    text.check_sum(header.start(), [value.size_bytes for value in draft.values])
    _check_shapes(text, header.start(), {value.shape.text for value in draft.values})
    return position


def _allocation(line: Match[str]) -> Allocation:
    """Return the allocation of a line of the form `ALLOCATION`."""
    (
        number, address, size, color, page, parameter, shape, index, output,
        constant, thread_local, maybe_live_out, preallocated_temp,
    ) = line.groups()  # fmt: skip
    fields = (
        int(number),
        int(size),
        address,
        0 if color is None else int(color),
        None if page is None else int(page),
        None if parameter is None else ParameterStorage(int(parameter), shape, index),
        output,
        constant is not None,
        thread_local is not None,
        maybe_live_out is not None,
        preallocated_temp is not None,
    )
    return Allocation(*fields)


def _check_shapes(text: DumpText, start: int, shapes: Collection[str]) -> None:
    """Raise if a dimension is too large; tuples are skipped, their elements are other values."""
    for shape in shapes:
        if not shape.startswith("("):
            for number in form.WIDE_NUMBER.findall(shape):
                if len(number) > len(_LEAST_NUMBER) or number > _LEAST_NUMBER:
                    position = text.text.index(shape, start)
                    raise text.width_error(position)


def _values(text: DumpText, position: int, allocation: Allocation, draft: DraftPlan) -> int:
    if draft.value_form is None:
        for name, (opening, _) in _VALUE_FORMS.items():
            if opening.regex.match(text.text, position):
                draft.value_form = name
    if draft.value_form is None:
        return position
    return _VALUE_FORMS[draft.value_form][1](text, position, allocation, draft)


def _one_line_values(
    text: DumpText, position: int, allocation: Allocation, draft: DraftPlan
) -> int:
    match = form.VALUE.regex.match
    while found := match(text.text, position):
        header, value_id, name, index, phi, color, size, offset, shape = found.groups()
        spelled = (value_id, name, index, phi, color, offset, size, shape)
        draft.unused_values[header] = _value(text, position, spelled, allocation, draft)
        position = found.end()
    return position


def _logical_buffers(
    text: DumpText, position: int, allocation: Allocation, draft: DraftPlan
) -> int:
    while found := form.LOGICAL_BUFFER.regex.match(text.text, position):
        name, numbers, value_id, color, offset, size, shape = found.groups()
        # An array and the pointer table of a tuple both have an empty index.
        index = f"{{{numbers}}}" if numbers or shape.startswith("(") else None
        spelled = (value_id, name, index, None, color, offset, size, shape)
        _value(text, position, spelled, allocation, draft)
        position = found.end()
    return position


def _multi_line_values(
    text: DumpText, position: int, allocation: Allocation, draft: DraftPlan
) -> int:
    while form.VALUE_OPENING.regex.match(text.text, position):
        block = form.MULTI_LINE_VALUE_BLOCK.match(text.text, position)
        if block is None:
            raise syntax_error_in_block(text, position, (form.VALUE_OPENING,), form.VALUE_CLOSING)
        value_id, phi, name, index, color, *lists, offset, size, shape = block.groups()
        spelled = (value_id, name, index, phi, color, offset, size, shape)
        value = _value(text, position, spelled, allocation, draft)
        if draft.used_values is None:
            draft.used_values = []
        draft.used_values.append(parse_used_value(text, block, lists, value, draft))
        position = block.end()
    return position


def _value(
    text: DumpText,
    position: int,
    spelled: tuple[str, str, str | None, str | None, str | None, str, str, str],
    allocation: Allocation,
    draft: DraftPlan,
) -> Value:
    number, name, index, phi, color, offset, size, shape = spelled
    value_id, offset_bytes, size_bytes = int(number), int(offset), int(size)
    if value_id in draft.value_ids:
        raise text.error(position, "a value id that no earlier line has")
    if offset_bytes + size_bytes > allocation.size_bytes:
        expected = f"a value within the {allocation.size_bytes} bytes of its allocation"
        raise text.error(position, expected)
    fields = (
        value_id,
        draft.names.setdefault(name, name),
        index and intern(index),
        phi is not None,
        None if color is None else int(color),
        allocation.number,
        offset_bytes,
        size_bytes,
        parse_shape(shape),
    )
    value = Value(*fields)
    draft.value_ids.add(value_id)
    draft.values.append(value)
    return value


_VALUE_FORMS: Final[
    Mapping[ValueForm, tuple[LineForm, Callable[[DumpText, int, Allocation, DraftPlan], int]]]
] = {
    "value": (form.VALUE, _one_line_values),
    "logical buffer": (form.LOGICAL_BUFFER, _logical_buffers),
    "multi-line value": (form.VALUE_OPENING, _multi_line_values),
}
