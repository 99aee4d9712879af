"""Immutable records of a compiled program, as planning needs them.

    PlannedProgram
    ├── values        PlannedValue       one HLO value: size, live range, buffer set
    ├── allocations   PlannedAllocation  the buffers of the plan that XLA made
    └── overwrites    Overwrite          an operand whose bytes a value may take

Steps are those of the schedule; both ends of a live range are inclusive. The records do not
depend on the source of the facts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from xlagraph.hlo.grouping import grouped


class PlannedAllocation(NamedTuple):
    """One buffer of the plan that XLA made, as it is stored: its fields are the columns."""

    number: int
    size_bytes: int
    role: str | None
    """parameter, output, temp, constant, threadLocal or liveOut; None if the dump does not say."""
    memory_space: int
    parameter_number: int | None = None
    shape_index: str | None = None
    """Shape index within that parameter."""
    shape: str | None = None
    maybe_live_out: bool = False
    physical_peak_bytes: int | None = None
    largest_hole_bytes: int | None = None
    page: int | None = None

    @property
    def is_read_only(self) -> bool:
        """True for constants and undonated parameters, which must not be overwritten."""
        return self.role == "constant" or (self.role == "parameter" and not self.maybe_live_out)


class Overwrite(NamedTuple):
    """An operand whose bytes a value may take if the operand ends as the value begins."""

    value_id: int
    is_operand: bool
    """True if the operand itself defines the value, without a bitcast or tuple element between:
    only then do they share bytes of a heap."""
    may_share_block: bool
    """True if they may share a block; depends on the version of XLA."""


class PlannedValue(NamedTuple):
    """One HLO value that has a live range, as a plan needs it.

    Not the value as it is stored, which is a fact with many columns: edits change most of these
    fields, range and set are always known, and the copies that compilers add are stored nowhere.
    """

    value_id: int
    size_bytes: int
    """Size of the buffer set: that of its largest member."""
    memory_space: int
    buffer_set: int
    """Smallest value id of the set of values that must share an address."""
    live_from: int
    live_until: int
    post_order: int
    """Post-order number of the defining instruction."""
    allocation: int
    """Number of the allocation that XLA chose."""
    offset_bytes: int
    instruction: str = ""
    """Name of the defining instruction."""
    computation: str = ""
    """Name of the computation that contains it; empty if unknown."""
    is_in_entry: bool = True
    """True if it is defined in the entry computation, or in one that this calls."""
    is_stored: bool = False
    """True for a constant or entry parameter that has an allocation made for it."""
    is_table: bool = False
    """True for a tuple's pointer table."""
    is_copy: bool = False
    lives_out: bool = False
    """True if it appears in the result of the entry computation."""
    operands: tuple[int, ...] = ()
    """Values that its instruction reads as arrays, in the order of the operands."""
    reads: tuple[int, ...] = ()
    """All values that its instruction reads, including elements of tuples."""


def begin_of(value: PlannedValue) -> int:
    """Return the step from which a value is live: a key to sort values by."""
    return value.live_from


@dataclass(frozen=True)
class PlannedProgram:
    """The values of a compiled program, and the plan that XLA made for them."""

    values: tuple[PlannedValue, ...]
    allocations: tuple[PlannedAllocation, ...]
    overwrites: Mapping[int, tuple[Overwrite, ...]]
    """Operands that each value may overwrite, in their order, by the id of that value."""
    alignments: tuple[int, ...]
    """Alignments in bytes that the platform may have used, most likely first."""
    given_bytes: Mapping[int, int]
    """Bytes that are never replanned, by memory space: memory that XLA assigned first, and
    allocations without a live range. Thread-local allocations do not count."""
    heaps_take_all: bool = False
    """True if all temporaries lie in heaps, also those that fit into the block of a result or of a
    donated parameter while it is free, as planned by libtpu 0.0.52."""
    heap_ids: frozenset[int] = frozenset()
    """Values whose sets lie in heaps although other temporaries use the blocks of results."""

    def needs_heap(self, members: Iterable[PlannedValue]) -> bool:
        """Return True if a set of temporaries takes no block of a result or of a parameter."""
        return self.heaps_take_all or any(each.value_id in self.heap_ids for each in members)

    @cached_property
    def by_id(self) -> dict[int, PlannedValue]:
        """Values by id."""
        return {value.value_id: value for value in self.values}

    def values_of(self, value_ids: Iterable[int]) -> list[PlannedValue]:
        """Return those of the values that are in the program, by id."""
        return [self.by_id[each] for each in sorted(value_ids) if each in self.by_id]

    @cached_property
    def sets(self) -> dict[int, tuple[PlannedValue, ...]]:
        """Members of each buffer set, by its name."""
        return members_of_sets(self.values)

    def sets_of(self, value_ids: Iterable[int]) -> list[tuple[PlannedValue, ...]]:
        """Return the buffer sets that contain one of these values."""
        found = {self.by_id[each].buffer_set for each in value_ids if each in self.by_id}
        return [self.sets[name] for name in sorted(found)]

    def bytes_of(self, value_ids: Iterable[int]) -> int:
        """Return the size of the buffer sets that contain one of these values."""
        return sum(members[0].size_bytes for members in self.sets_of(value_ids))

    def stored_in(self, value: PlannedValue) -> PlannedAllocation | None:
        """Return the allocation of a constant or entry parameter; None for other values."""
        return self.allocation_of(value) if value.is_stored else None

    def allocation_of(self, value: PlannedValue) -> PlannedAllocation | None:
        """Return the allocation in which XLA put a value; None if it is unknown."""
        return self._allocation_by_number.get(value.allocation)

    def fixed_sets(self, memory_space: int) -> frozenset[int]:
        """Return the buffer sets that have blocks of their own all the time.

        These are constants, entry parameters that no result is written over, and tables.
        """
        return frozenset(
            value.buffer_set
            for value in self.values
            if value.memory_space == memory_space
            and (
                value.is_table
                or ((stored := self.stored_in(value)) is not None and stored.is_read_only)
            )
        )

    def fixed_bytes(self, memory_space: int) -> int:
        """Return the bytes of these sets, and of memory that is never replanned."""
        sizes = {value.buffer_set: value.size_bytes for value in self.values}
        own = sum(sizes[name] for name in self.fixed_sets(memory_space))
        return own + self.given_bytes.get(memory_space, 0)

    @cached_property
    def in_blocks_of_other_spaces(self) -> dict[int, tuple[PlannedValue, ...]]:
        """Values in temporary blocks of another memory space, by number of the allocation.

        Since 2026 XLA gives values of a GPU's memory bytes of blocks for collectives.
        """
        held: dict[int, tuple[PlannedValue, ...]] = {}
        for value in self.values:
            allocation = self._allocation_by_number.get(value.allocation)
            if allocation is None or allocation.role != "temp":
                continue
            if allocation.memory_space != value.memory_space and not value.is_table:
                held[allocation.number] = (*held.get(allocation.number, ()), value)
        return held

    @cached_property
    def _allocation_by_number(self) -> dict[int, PlannedAllocation]:
        return {allocation.number: allocation for allocation in self.allocations}


def members_of_sets(values: Iterable[PlannedValue]) -> dict[int, tuple[PlannedValue, ...]]:
    """Return the members of each buffer set, in the order of the values."""
    members = grouped((value.buffer_set, value) for value in values)
    return {name: tuple(values) for name, values in members.items()}


PRESET_SPACES: Final = frozenset((1,))
"""Colours that TPUs assign before all others (VMEM); their temporary blocks are unchanged."""
