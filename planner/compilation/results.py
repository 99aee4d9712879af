"""Find what a program returns, and the computations that it runs once."""

from collections.abc import Iterable, Mapping

from xlagraph.hlo.shapes import index_numbers, parse_shape
from xlagraph.planner.compilation.records import (
    StoredInstruction,
    StoredPosition,
    StoredValue,
)

__all__ = ["result_shapes", "results", "run_once"]


def run_once(
    result: str | None,
    instructions: Mapping[str, StoredInstruction],
    values: Iterable[StoredValue],
    positions: Iterable[StoredPosition],
) -> frozenset[str]:
    """Return the entry computation and those that it calls, found by the values calls return."""
    root = None if result is None else instructions.get(result)
    calls = {name: each.computation for name, each in instructions.items() if each.opcode == "call"}
    makers = {value.value_id: value.name for value in values} if calls else {}
    returned = [
        (calls[name], instructions[makers[value_id]].computation if value_id in makers else None)
        for value_id, name, _ in positions
        if name in calls
    ]
    found = {root.computation if root is not None else None}
    while True:
        called = {callee for caller, callee in returned if caller in found} - found
        if not called:
            return frozenset(name for name in found if name is not None)
        found |= called


def results(positions: Iterable[StoredPosition]) -> tuple[int, ...]:
    """Return the ids of the values that the program returns, given where its result shows them."""
    ordered = sorted(
        [(index_numbers(position.shape_index), position.value_id) for position in positions]
    )
    return tuple([value_id for _, value_id in ordered])


def result_shapes(positions: Iterable[StoredPosition], text: str | None) -> dict[int, str]:
    """Return the shapes of these values, read from the shape of the program's result."""
    if not text:
        return {}
    shape = parse_shape(text)
    elements = [each.text for each in (shape.elements if shape.is_tuple else (shape,))]
    found: dict[int, str] = {}
    for position in positions:
        index = index_numbers(position.shape_index)
        if len(index) == shape.is_tuple and (not index or index[0] < len(elements)):
            found[position.value_id] = elements[index[0] if index else 0]
    return found
