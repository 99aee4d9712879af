"""Live bytes in the dump's order, and in the order that saves memory."""

from dataclasses import dataclass
from functools import cached_property

from xlagraph.planner.compilation.kept_results import kept
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.schedules import (
    ChosenOrder,
    Schedule,
    order_of_schedule,
    reordering_of,
    with_order,
)
from xlagraph.planner.orders.live_bytes import LiveBytes, LiveBytesModel
from xlagraph.planner.orders.ordered_program import Reordering


@dataclass(frozen=True)
class LiveOrders:
    """Bytes of a memory space that are live at each step of two orders."""

    compilation: PlannableCompilation
    """The compilation as XLA planned it."""
    reordering: Reordering
    chosen: ChosenOrder
    """The order of the platform's setting that saves memory."""
    model: LiveBytesModel
    here: LiveBytes
    """Live bytes in the dump's order."""
    other: LiveBytes
    """Live bytes in the chosen order."""

    @cached_property
    def ordered(self) -> PlannableCompilation:
        """The compilation in the chosen order."""
        return with_order(self.compilation, self.reordering, self.other.schedule)


@kept
def live_orders(stored: StoredCompilation, memory_space: int) -> LiveOrders:
    """Count the live bytes of both orders; raises QueryError if another cannot be planned."""
    compilation = plannable_compilation(stored)
    found = reordering_of(stored, compilation)
    chosen = order_of_schedule(found, compilation, Schedule.MEMORY)
    model = LiveBytesModel(found, memory_space)
    here = model.of(found.flat(found.schedulable.present_order))
    other = model.of(found.flat(chosen.order))
    return LiveOrders(compilation, found, chosen, model, here, other)
