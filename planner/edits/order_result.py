"""Result of an order analysis, and its cells in machine formats."""

from dataclasses import dataclass
from typing import Final

from xlagraph.graph.engine import Cell
from xlagraph.graph.record_cells import record_cells
from xlagraph.planner.solving import SolvedPacking
from xlagraph.presentation.byte_sizes import human_bytes, share_text
from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable

_NEAR: Final = 0.02
"""Maximum excess over the lower bound, as a share of reserved bytes, that counts as near."""


@dataclass(frozen=True, slots=True)
class PlannedOrder:
    """An order that XLA can make, replanned."""

    name: str
    """`depth-first`, `post-order` or `list`."""
    reserved_bytes: int
    temp_bytes: int
    setting: str | None
    """Setting with which XLA compiles it; None if there is none on this platform."""


@dataclass(frozen=True, slots=True)
class WaitingGroup:
    """Values of one source line and scope that wait at the peak because of the order."""

    wait: str
    """`made early` or `read late`."""
    size_bytes: int
    value_count: int
    line: str | None
    """`file:line` of the user's code."""
    scope: str | None
    largest: str
    """Label of the largest value."""
    delay: str
    """Instruction that delays the reader of that value."""


@dataclass(frozen=True, slots=True)
class MovedInstructions:
    """Instructions that would run elsewhere, after the moves before."""

    instruction: str
    """The instruction that is moved, with what must move along."""
    moved_count: int
    from_step: int
    before: str
    """Instruction before which they would run."""
    before_step: int
    reserved_bytes: int
    """Bytes replanned after this move."""


@dataclass(frozen=True, slots=True, repr=False)
class OrderCost(Outlined):
    """Bytes of memory space 0 that a program reserves in this order, in others, and in any."""

    compilation: str
    instruction_count: int
    present: tuple[str, ...]
    """XLA's schedulers that make this order; empty if none does."""
    reserved_bytes: int
    reserved_bytes_replanned: int
    temp_bytes: int
    orders: tuple[PlannedOrder, ...]
    chosen: str
    """The order that the memory-optimized setting of the platform makes."""
    is_choice: bool
    """True if XLA chooses this order among the three: on GPUs."""
    bound_bytes: int
    """No order reserves less."""
    bound_instruction: str | None
    """Instruction during which every order needs as many."""
    live_bytes: int
    """Most bytes live at one step of this order."""
    peak_step: int
    packing_bytes: int
    """Bytes of the temporary block beyond those live at one step: what any packing could save."""
    compared_with: str | None
    """Order whose peak has none of the waiting values; None if no order reserves less."""
    waiting: tuple[WaitingGroup, ...]
    moves: tuple[MovedInstructions, ...]
    doubts: tuple[str, ...]
    """Reasons not to trust the figures."""
    notes: tuple[str, ...] = ()
    """Note that names the compilation if it was chosen by default."""
    solved: SolvedPacking | None = None
    """The smallest temporary block that a search found; None if nothing was searched."""

    def outline(self) -> Outline:
        """Return the answer, XLA's orders, and the values that wait at the peak."""
        orders = [("this", self.reserved_bytes, self.temp_bytes)]
        orders += [(each.name, each.reserved_bytes, each.temp_bytes) for each in self.orders]
        tables = [OutlineTable(("order", "reservedBytes", "tempBytes"), orders)]
        if self.waiting:
            waiting = [
                (each.wait, each.size_bytes, each.line, each.largest) for each in self.waiting
            ]
            columns = ("wait", "sizeBytes", "line", "largest")
            tables.append(OutlineTable(columns, waiting, "Live at the peak because of the order"))
        return Outline(f"{self.compilation}: {self.sentence}", tables, (*self.notes, *self.doubts))

    @property
    def order_bytes(self) -> int:
        """Bytes live at the peak beyond the bound."""
        return self.live_bytes - self.bound_bytes

    @property
    def is_packing_optimal(self) -> bool:
        """True if no packing of the temporary block is smaller.

        It is as large as the bytes live at one step, or a search proved it.
        """
        return self.packing_bytes == 0 or (
            self.solved is not None and self.solved.bound_bytes == self.temp_bytes
        )

    @property
    def sharing_bytes(self) -> int:
        """Bytes of outputs and other blocks that temporaries cannot use at the peak."""
        return self.reserved_bytes - self.live_bytes - self.packing_bytes

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        name = f", {named_order(self.present[0])}," if self.present else ""
        parts = [f"This order{name} reserves {human_bytes(self.reserved_bytes)}"]
        by_name = {each.name: each for each in self.orders}
        chosen = by_name[self.chosen]
        if self.chosen not in self.present:
            parts.append(_compared(chosen, self.reserved_bytes, is_near=bool(self.doubts)))
        best = min(self.orders, key=lambda each: each.reserved_bytes)
        if self.is_choice and best.reserved_bytes < chosen.reserved_bytes:
            text = _compared(best, chosen.reserved_bytes, is_near=True)
            parts.append(f"XLA prefers {named_order(self.chosen)}, but {text}")
        parts.append(f"no order reserves less than {human_bytes(self.bound_bytes)}")
        if self.reserved_bytes - self.bound_bytes <= _NEAR * self.reserved_bytes:
            parts[-1] += ", so the order is not the problem"
        return f"{'; '.join(parts)}."


def named_order(name: str) -> str:
    """Return the name of an order of XLA with its article."""
    return f"the {name}" if name.endswith("order") else f"the {name} order"


def _compared(other: PlannedOrder, reserved_bytes: int, *, is_near: bool) -> str:
    change = other.reserved_bytes - reserved_bytes
    about = " about" if is_near else ""
    if change == 0:
        return f"{named_order(other.name)} reserves{about} as much"
    share = f" ({share_text(change / reserved_bytes, signed=True)})" if reserved_bytes else ""
    return f"{named_order(other.name)} reserves{about} {human_bytes(other.reserved_bytes)}{share}"


def order_cells(result: OrderCost) -> dict[str, Cell]:
    """Return a result's cells by column; lists contain objects."""
    return {
        "compilation": result.compilation,
        "instructions": result.instruction_count,
        "present": list(result.present),
        "reservedBytes": result.reserved_bytes,
        "reservedBytesReplanned": result.reserved_bytes_replanned,
        "tempBytes": result.temp_bytes,
        "memoryOptimized": result.chosen,
        "boundBytes": result.bound_bytes,
        "boundInstruction": result.bound_instruction,
        "orderBytes": result.order_bytes,
        "sharingBytes": result.sharing_bytes,
        "packingBytes": result.packing_bytes,
        "isPackingOptimal": result.is_packing_optimal,
        "solvedBytes": result.solved.size_bytes if result.solved else None,
        "solvedBoundBytes": result.solved.bound_bytes if result.solved else None,
        "peakStep": result.peak_step,
        "orders": [record_cells(each, name="order") for each in result.orders],
        "comparedWith": result.compared_with,
        "waiting": [record_cells(each, value_count="values") for each in result.waiting],
        "moves": [
            record_cells(each, moved_count="instructions", reserved_bytes="reservedBytesAfter")
            for each in result.moves
        ],
        "doubts": list(result.doubts),
    }
