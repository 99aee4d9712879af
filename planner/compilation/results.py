"""Find what a program returns, and the computations that it runs once."""

from collections.abc import Iterable, Mapping, Sequence

from xlagraph.hlo.shapes import index_numbers, parse_shape
from xlagraph.planner.compilation.records import StoredMaker, StoredReturn


def run_once(
    result: str | None, returns: Sequence[StoredReturn], makers: Mapping[int, StoredMaker]
) -> frozenset[str]:
    """Return the entry computation and those that it calls, found by the values calls return."""
    found = {each.computation for each in returns if each.instruction == result}
    called = {
        (each.computation, makers[each.value_id].computation)
        for each in returns
        if each.opcode == "call"
    }
    while inner := {callee for caller, callee in called if caller in found} - found:
        found |= inner
    return frozenset(name for name in found if name is not None)


def results(returned: Iterable[StoredReturn]) -> tuple[int, ...]:
    """Return the ids of the values that the program returns, given where its result shows them."""
    ordered = sorted([(index_numbers(each.shape_index), each.value_id) for each in returned])
    return tuple([value_id for _, value_id in ordered])


def result_shapes(returned: Iterable[StoredReturn], text: str | None) -> dict[int, str]:
    """Return the shapes of these values, read from the shape of the program's result."""
    if not text:
        return {}
    shape = parse_shape(text)
    elements = [each.text for each in (shape.elements if shape.is_tuple else (shape,))]
    found: dict[int, str] = {}
    for each in returned:
        index = index_numbers(each.shape_index)
        if len(index) == shape.is_tuple and (not index or index[0] < len(elements)):
            found[each.value_id] = elements[index[0] if index else 0]
    return found
