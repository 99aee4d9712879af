"""Which parameter gives its bytes to which result, as the frameworks pair them.

JAX (`_set_up_aliases`, jax/_src/interpreters/mlir.py) goes through the results in their
order and takes for each the first donated parameter of its shape, layout and type that is left.
TensorFlow and PyTorch/XLA name the pairs themselves: where the state comes back in its own
order the pairs are the same.

The queries have rules of their own: alias/not-donated counts every output of the shape, whatever
its layout, as nothing is paired there yet; alias/donated those of equal bytes and type, as XLA does
once the framework has named an input.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable

from xlagraph.queries.advice.plannable_compilation import (
    PlannableCompilation,
    ValueFacts,
    index_numbers,
)
from xlagraph.xla_planner.donation import Donor

__all__ = ["is_donated", "pair_donations", "parameters"]


def parameters(stored: PlannableCompilation) -> list[ValueFacts]:
    """Return the array parameters of the program, in their order, donated or not."""
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
    """Pair parameters, given by value id, with results; also return those that have none.

    Parameters that are donated already are not among them, nor is a result that one of those
    gives its bytes to, or one that is a parameter or a constant itself.
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
    """Whether a parameter is donated already."""
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
