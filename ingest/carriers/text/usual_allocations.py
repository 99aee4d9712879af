"""Read allocations and values that are spelled as usual, thousands with each call.

Nothing is reported here: the careful parser continues where this one stops, and finds the fault.
"""

from collections.abc import Iterator
from itertools import chain, repeat
from operator import add, le
from re import Match
from sys import intern
from typing import Final

from xlagraph.hlo.shapes import parse_shape
from xlagraph.ingest.carriers.text import line_forms as form
from xlagraph.ingest.carriers.text.printed_plan import DraftPlan
from xlagraph.ingest.plan import Allocation, ParameterStorage, Value

__all__ = ["parsed_allocation", "read_usual_allocations"]

_CHUNK_CHARACTERS: Final = 1 << 18


def read_usual_allocations(lines: str, start: int, draft: DraftPlan) -> int:
    """Read allocations with their values while they are as usual; return the position after."""
    for end in _chunk_ends(lines, start):
        if not _read(lines[start - 1 : end - 1], draft):
            break
        start = end
    return start


def _chunk_ends(lines: str, start: int) -> Iterator[int]:
    """Yield the end of each chunk; the next one begins with an allocation."""
    found = form.ALLOCATION_LINES.match(lines, start)
    last = found.end() if found else start
    if lines.startswith("  ", last):  # a value of another form
        last = start
    while start < last:
        start = lines.find("\nallocation ", start + _CHUNK_CHARACTERS, last) + 1 or last
        yield start


def _read(chunk: str, draft: DraftPlan) -> bool:
    """Read lines, each after a line break; return False unless all of them are as usual."""
    before, *parts = form.USUAL_ALLOCATION.split(chunk)
    printed, facts, values_of_each = parts[::3], parts[1::3], parts[2::3]
    rows = form.USUAL_VALUE.findall(chunk)
    if before or len(printed) + len(rows) != chunk.count("\n"):
        return False
    numbers = list(map(int, printed))
    first = len(draft.allocations)
    lines = {each: form.ALLOCATION.regex.match(f"allocation 0: {each}:\n") for each in set(facts)}
    fields = {each: parsed_allocation(line)[1:] for each, line in lines.items() if line}
    if numbers != list(range(first, first + len(numbers))) or len(fields) != len(lines):
        return False
    allocations = [
        Allocation(number, *fields[each]) for number, each in zip(numbers, facts, strict=True)
    ]
    counts = [each.count("\n") for each in values_of_each]
    if rows and not _read_values(rows, list(chain(*map(repeat, allocations, counts))), draft):
        return False
    draft.allocations += allocations
    return True


def _read_values(
    rows: list[tuple[str, ...]], allocations: list[Allocation], draft: DraftPlan
) -> bool:
    headers, ids, names, indices, phis, colors, sizes, offsets, shapes = zip(*rows, strict=True)
    value_ids, size_bytes, offset_bytes = (list(map(int, each)) for each in (ids, sizes, offsets))
    if not (
        len(set(value_ids)) == len(value_ids)
        and draft.value_ids.isdisjoint(value_ids)
        and all(
            map(le, map(add, offset_bytes, size_bytes), [each.size_bytes for each in allocations])
        )
    ):
        return False
    index_of = {each: intern(each) or None for each in set(indices)}
    color_of = {each: int(each) if each else None for each in set(colors)}
    shape_of = {each: parse_shape(each) for each in set(shapes)}
    columns = zip(
        value_ids,
        map(draft.names.setdefault, names, names),
        map(index_of.__getitem__, indices),
        map(bool, phis),
        map(color_of.__getitem__, colors),
        [each.number for each in allocations],
        offset_bytes,
        size_bytes,
        map(shape_of.__getitem__, shapes),
        strict=True,
    )
    values = list(map(Value._make, columns))
    draft.values += values
    draft.value_ids.update(value_ids)
    draft.unused_values.update(zip(headers, values, strict=True))
    draft.value_form = "value"
    return True


def parsed_allocation(line: Match[str]) -> Allocation:
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
