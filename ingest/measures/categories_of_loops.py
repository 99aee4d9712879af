"""Categories of a loop's state: the values of an element share bytes and have one category.

    w      = parameter(3)                  the state that the first iteration begins with
    state  = parameter(0)                  in the body: element 1 is `w`, then what was returned
    new    = add(state{1}, part)           what the body returns
    loop   = while(…)                      element 1 is the last `new`

The loop's result decides for all of them, because it is what the bytes are for: a stack that the
backward pass reads, a gradient that the update reads.
"""

from collections.abc import Collection, Container, Mapping, Sequence
from typing import Final

from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.instruction import Instruction
from xlagraph.ingest.measures.input_categories import Categorized, Category, sorted_array
from xlagraph.ingest.measures.phases import Phase, Phases
from xlagraph.ingest.plan import Plan

_ACCUMULATED: Final = Categorized(
    Category.GRADIENT, "accumulated in a loop that runs the backward pass, shape of a weight"
)
_TEMPORARY: Final = frozenset((
    Category.ACTIVATION, Category.BACKWARD, Category.FORWARD, Category.GRADIENT, Category.OTHER,
    Category.UPDATE,
))  # fmt: skip
"""Categories of temporaries that a loop's result replaces."""
_OF_A_PHASE: Final = frozenset(
    (Category.BACKWARD, Category.FORWARD, Category.OTHER, Category.UPDATE)
)
"""Categories that say less than those of the values in the loop."""


def categories_in_loops(
    plan: Plan,
    found: tuple[Categorized, ...],
    sets: Sequence[int],
    instructions: Mapping[str, Instruction],
    phases: Phases,
    *,
    weights: Container[tuple[str, tuple[str, ...]]],
    inputs: Mapping[int, Categorized],
) -> tuple[Categorized, ...]:
    """Return the category of each of the plan's values, those in loops corrected.

    ``sets`` has the buffer set of each value, and ``inputs`` the category of an allocation.
    """
    results: dict[int, int] = {}
    for index, value in enumerate(plan.values):
        if instructions[value.name].opcode == "while" and not value.shape.is_tuple:
            results[sets[index]] = index  # the last one: outer loops follow those in their body
    if not results:
        return found
    members = grouped(
        (buffer_set, index) for index, buffer_set in enumerate(sets) if buffer_set in results
    )
    changed = list(found)
    training = _loops_with_backward(instructions, phases)
    for buffer_set, result in results.items():
        value, inside = plan.values[result], members[buffer_set]
        category = inputs.get(value.allocation, found[result])
        if (
            category.category in (Category.OTHER, Category.UPDATE)
            and value.name in training
            and sorted_array(value.shape.bare) in weights
            and phases.readers.get(value.value_id)
            and _is_only_updated(plan, inside, phases)
        ):
            category = _ACCUMULATED
        if category.category not in _OF_A_PHASE:
            for index in inside:
                if found[index].category in _TEMPORARY:
                    changed[index] = category
    return tuple(changed)


def _is_only_updated(plan: Plan, inside: Collection[int], phases: Phases) -> bool:
    """Return True if neither the forward nor the backward pass reads an element of the state."""
    return not any(
        phases.of(reader) in (Phase.FORWARD, Phase.BACKWARD)
        for index in inside
        for reader in phases.readers.get(plan.values[index].value_id, ())
    )


def _loops_with_backward(instructions: Mapping[str, Instruction], phases: Phases) -> set[str]:
    """Return the names of the loops that run an instruction of the backward pass."""
    callers: dict[str, Instruction] = {}
    for instruction in instructions.values():
        for _, callee in instruction.attributes.callees:
            callers.setdefault(callee, instruction)
    computations = {
        instruction.computation
        for name, instruction in instructions.items()
        if phases.of(name) is Phase.BACKWARD
    }
    loops: set[str] = set()
    seen: set[str | None] = set()
    while computations:
        computation = computations.pop()
        caller = callers.get(computation or "")
        if computation in seen or caller is None:
            continue
        seen.add(computation)
        if caller.opcode == "while":
            loops.add(caller.name)
        computations.add(caller.computation)
    return loops
