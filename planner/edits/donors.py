"""Pair donated parameters with results the way the frameworks do.

JAX (`_set_up_aliases`, jax/_src/interpreters/mlir.py) takes the results in order and pairs each
with the first remaining donated parameter of the same shape, layout and type. TensorFlow and
PyTorch/XLA name the pairs themselves; if the state is returned in the order in which it is passed,
the pairs are the same.

The queries use other rules: alias/not-donated counts every output of the shape, with any layout,
because nothing is paired there yet; alias/donated counts those of equal bytes and type, as XLA does
once the framework has named an input.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable

from xlagraph.hlo.shape_indices import index_numbers
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.value_facts import ValueFacts
from xlagraph.planner.donation import Donor

__all__ = ["is_donated", "pair_donations", "parameters"]


def parameters(stored: PlannableCompilation) -> list[ValueFacts]:
    """Return the array parameters of the program in order, donated or not."""
    found = [
        facts
        for facts in stored.facts.values()
        if facts.parameter is not None and facts.dtype not in ("tuple", "token", None)
    ]
    return sorted(found, key=lambda facts: _order(facts))


def _order(facts: ValueFacts) -> tuple[int, tuple[int, ...]]:
    number, index = facts.parameter or (0, "{}")
    return number, index_numbers(index)


def pair_donations(
    stored: PlannableCompilation, parameter_ids: Collection[int]
) -> tuple[list[Donor], list[int]]:
    """Pair parameters, given by value id, with results; also return the unpaired parameters.

    Skipped are parameters that are donated already, results that already take the bytes of a
    parameter, and results that are a parameter or a constant.
    """
    left: defaultdict[str, deque[ValueFacts]] = defaultdict(deque)
    for facts in parameters(stored):
        if facts.value_id in parameter_ids and not is_donated(stored, facts.value_id):
            left[facts.shape].append(facts)
    pairs: list[Donor] = []
    for output in _free_results(stored):
        waiting = left[stored.result_shapes.get(output, stored.facts[output].shape)]
        if waiting:
            facts = waiting.popleft()
            pairs.append(Donor(facts.value_id, output, facts.needed_until or 0))
    return pairs, [facts.value_id for waiting in left.values() for facts in waiting]


def is_donated(stored: PlannableCompilation, value_id: int) -> bool:
    """Return True if a parameter is donated already."""
    value = stored.program.by_id[value_id]
    allocation = stored.program.stored_in(value)
    return allocation is not None and allocation.maybe_live_out


def _free_results(stored: PlannableCompilation) -> Iterable[int]:
    by_id = stored.program.by_id
    taken: set[int] = set()
    for output in stored.results:
        value = by_id.get(output)
        if value is None or value.is_table or value.buffer_set in taken:
            continue
        taken.add(value.buffer_set)
        members = stored.program.sets[value.buffer_set]
        if not any(member.is_stored for member in members):
            yield output
