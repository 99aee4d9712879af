"""The edit that orders the readers of old values in a backward pass before what is written."""

from dataclasses import dataclass, replace

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.resizing import Remove
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.value_changes import with_lengthened_values


@dataclass(frozen=True, slots=True)
class WaitForGradients(Edit):
    """Write over parameters only once all gradients are computed.

    The copies of the old parameters are gone, but all gradients are live until the last one is
    made: a barrier between gradients and update takes all of them.
    """

    copies: Remove
    gradients: frozenset[int]
    """Ids of the values that the update reads of the backward pass."""

    @property
    def matched(self) -> frozenset[int]:
        return self.copies.matched

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        edited = self.copies.apply(compilation, program)
        made = [each.live_from for each in edited.program.values_of(self.gradients)]
        waiting = dict.fromkeys(self.gradients, max(made, default=0))
        return replace(edited, program=with_lengthened_values(edited.program, waiting))

    def sentence(self, after: Replanned, before: Replanned) -> str:
        return self.copies.sentence(after, before)
