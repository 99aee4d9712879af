"""The edit that makes instructions run in another order of XLA."""

from dataclasses import dataclass
from functools import cached_property

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.order_result import named_order
from xlagraph.planner.edits.schedules import (
    ChosenOrder,
    Schedule,
    order_of_schedule,
    reordering_of,
    with_order,
)
from xlagraph.planner.orders.ordered_program import Reordering
from xlagraph.planner.orders.rules import is_made_by_xla
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.presentation.byte_sizes import human_bytes


@dataclass(frozen=True)
class Reorder(Edit):
    """Run the instructions in another order; other edits then see its steps."""

    schedule: Schedule
    chosen: ChosenOrder
    ordered: PlannableCompilation
    reordering: Reordering

    @classmethod
    def of(
        cls, stored: StoredCompilation, compilation: PlannableCompilation, schedule: Schedule
    ) -> "Reorder":
        """Return the edit; raise QueryError if another order cannot be planned."""
        found = reordering_of(stored, compilation)
        chosen = order_of_schedule(found, compilation, schedule)
        ordered = with_order(compilation, found, found.flat(chosen.order))
        return cls(schedule, chosen, ordered, found)

    @property
    def rule(self) -> str:
        """The scheduler of XLA that makes the order."""
        return self.chosen.rule.value

    @cached_property
    def doubt(self) -> str | None:
        """Why the figures are not exact; None if they are."""
        return _doubt(self.reordering, self.ordered) if self._is_new else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions behind the figures."""
        if not self._is_new:
            return ()
        setting = f"no setting makes XLA run instructions in {named_order(self.schedule)}"
        if self.chosen.setting is not None:
            setting = f"the program is compiled with {self.chosen.setting}"
        return (setting,) if self.doubt is None else (setting, self.doubt)

    @property
    def _is_new(self) -> bool:
        return self.chosen.order != self.reordering.schedulable.present_order

    @property
    def arguments(self) -> tuple[str, ...]:
        return "--schedule", self.schedule.value

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        del compilation
        known = program.by_id
        changed = frozenset(
            value.value_id
            for value in self.ordered.program.values
            if known.get(value.value_id) != value
        )
        return Edited(
            self.ordered.program if changed else program,
            compilation=self.ordered,
            value_ids=changed,
        )

    def sentence(self, after: Replanned, before: Replanned) -> str:
        if after.program is before.program:
            return f"changes nothing: the instructions already run in {named_order(self.rule)}"
        saved = before.reserved_bytes() - after.reserved_bytes()
        text = f"the instructions run in {named_order(self.rule)}"
        if saved > 0:
            return f"{text}, which saves {human_bytes(saved)} of reserved memory"
        if saved < 0:
            return f"{text}, which costs {human_bytes(-saved)}"
        return f"{text}, which reserves as much"


def _doubt(found: Reordering, compilation: PlannableCompilation) -> str | None:
    if not found.is_exact:
        return (
            "the live ranges of this dump do not follow from its schedule: do not trust the figures"
        )
    if compilation.is_gpu:
        return "figures of other orders are near, but not exact, on a GPU"
    if not is_made_by_xla(found.schedulable):
        return (
            "no scheduler of XLA makes the order of this dump, so dependences may be missing:"
            " jaxlib 0.12 drops barriers after it has ordered the instructions"
        )
    return None
