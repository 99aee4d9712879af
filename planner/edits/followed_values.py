"""Find the values that shrink or disappear together with a value.

- All values that must share its bytes: the state of a loop, values updated in place, the result
  that takes the bytes of a donated parameter.
- The stacks in which a loop keeps it, one element for each iteration.
- Its copies, and copies of an entry parameter that follows. A parameter shrinks with its copy,
  because both are the same array.
"""

from collections.abc import Collection

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.stacked_values import stacks_of
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.value_changes import whole_sets

__all__ = ["followed_values"]


def followed_values(
    stored: PlannableCompilation,
    program: PlannedProgram,
    named: Collection[int],
    *,
    with_parameters: bool,
) -> frozenset[int]:
    """Return the named values and all that follow them, if they are in the plan of the program.

    If `with_parameters`, also the parameters that they are copies of.
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
