"""What planning needs to know of a compiled program: plain immutable records.

    PlannedProgram
    ├── values        PlannedValue       one HLO value: size, live range, what it must share
    ├── allocations   PlannedAllocation  the buffers of the plan that XLA made
    └── overwrites    Overwrite          which value may take the bytes of which operand

Steps count the schedule, both ends of a live range are inclusive. Nothing here knows where
the facts come from.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

__all__ = [
    "PRESET_COLORS",
    "Overwrite",
    "PlannedAllocation",
    "PlannedProgram",
    "PlannedValue",
    "Role",
    "members_of_sets",
]

Role = Literal["parameter", "output", "temp", "constant", "threadLocal", "liveOut"]


class PlannedAllocation(NamedTuple):
    """One buffer of the plan that XLA made."""

    number: int
    size_bytes: int
    color: int
    role: Role | None
    """None where the dump does not say."""
    maybe_live_out: bool = False
    parameter_number: int | None = None
    shape_index: str | None = None
    """Within that parameter."""

    @property
    def is_read_only(self) -> bool:
        """Whether nothing may be written over it: constants, and parameters not donated."""
        return self.role == "constant" or (self.role == "parameter" and not self.maybe_live_out)


class Overwrite(NamedTuple):
    """An operand whose bytes a value may take where the operand ends as the value begins."""

    value_id: int
    is_operand: bool
    """The operand is the value's own instruction, not a bitcast or element of it."""


class PlannedValue(NamedTuple):
    """One HLO value that has a live range."""

    value_id: int
    size_bytes: int
    """Of its buffer set: the largest of the members."""
    color: int
    buffer_set: int
    """Values of one set must share an address; named after its smallest value id."""
    first: int
    last: int
    post_order: int
    """Of its defining instruction."""
    allocation: int
    """Number of the allocation that XLA chose."""
    offset_bytes: int
    instruction: str = ""
    """The defining one."""
    is_in_entry: bool = True
    """Whether it is defined in the entry computation, or in one that this calls."""
    is_stored: bool = False
    """A constant or an entry parameter, which its allocation is for."""
    is_table: bool = False
    """A tuple's pointer table."""
    is_copy: bool = False
    lives_out: bool = False
    """Appears in the result of the entry computation."""
    operands: tuple[int, ...] = ()
    """Values that its instruction reads as arrays, in the order of the operands."""
    reads: tuple[int, ...] = ()
    """All values that its instruction reads, elements of tuples too."""


@dataclass(frozen=True)
class PlannedProgram:
    """The values of a compiled program, and the plan that XLA made for them."""

    values: tuple[PlannedValue, ...]
    allocations: tuple[PlannedAllocation, ...]
    overwrites: Mapping[int, tuple[Overwrite, ...]]
    """By id of the value that overwrites: its operands, in their order."""
    alignments: tuple[int, ...]
    """Those that the platform may have used, most likely first."""
    given_bytes: Mapping[int, int]
    """By colour, what every plan takes as it is: memory that XLA assigned before all else, and
    allocations without a live range; thread-local ones do not count."""

    @cached_property
    def by_id(self) -> dict[int, PlannedValue]:
        """The values by their id."""
        return {value.value_id: value for value in self.values}

    @cached_property
    def sets(self) -> dict[int, tuple[PlannedValue, ...]]:
        """Members of each buffer set."""
        return members_of_sets(self.values)

    def stored_in(self, value: PlannedValue) -> PlannedAllocation | None:
        """Return the allocation of the constant or entry parameter that a value is."""
        return self._allocation_by_number[value.allocation] if value.is_stored else None

    @cached_property
    def _allocation_by_number(self) -> dict[int, PlannedAllocation]:
        return {allocation.number: allocation for allocation in self.allocations}


def members_of_sets(values: Iterable[PlannedValue]) -> dict[int, tuple[PlannedValue, ...]]:
    """Return the members of each buffer set, in the order of the values."""
    members: dict[int, list[PlannedValue]] = {}
    for value in values:
        members.setdefault(value.buffer_set, []).append(value)
    return {name: tuple(values) for name, values in members.items()}


PRESET_COLORS: Final = frozenset((1,))
"""Memory that TPUs assign before all else (VMEM): its temporary blocks are taken as they are."""
