"""Which values follow a value that gets smaller or goes: it is more than one name in a plan.

- All that must share its bytes: the state of a loop, what is updated in place, the result that a
  donated parameter becomes.
- The stacks that a loop keeps of it, one for each iteration.
- Its copies, and those of an entry parameter that follows. A parameter gets smaller with its copy:
  they are the same array.
"""

from collections.abc import Collection

from xlagraph.queries.advice.plannable_compilation import PlannableCompilation
from xlagraph.queries.advice.stacked_values import stacks_of
from xlagraph.xla_planner.planned_program import PlannedProgram
from xlagraph.xla_planner.value_changes import whole_sets

__all__ = ["followed_values"]


def followed_values(
    stored: PlannableCompilation,
    program: PlannedProgram,
    named: Collection[int],
    *,
    with_parameters: bool,
) -> frozenset[int]:
    """Return the values named and all that follow them, as far as the program plans them.

    `with_parameters`: also the parameters that they are copies of.
    """
    given = {value_id for value_id, facts in stored.facts.items() if facts.parameter is not None}
    copies = [value for value in program.values if value.is_copy and len(value.operands) == 1]
    sources = frozenset(named)
    found = whole_sets(program, sources | stacks_of(stored, program, sources))
    while True:
        sources |= found & given
        following = {copy.value_id for copy in copies if copy.operands[0] in sources}
        if with_parameters:
            copied = {copy.operands[0] for copy in copies if copy.value_id in found}
            following |= copied & given
        if following <= found:
            return found
        found |= whole_sets(program, following)
