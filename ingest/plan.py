"""The memory plan of one compilation as immutable records, independent of the input format.

    Plan
    ├── allocations   Allocation    one buffer of the plan
    ├── values        Value         one HLO value in a slot of an allocation
    ├── used_values   UsedValue     positions and uses of a value
    └── live_ranges   LiveRanges    schedule, ranges, printed peak

Facts and sections missing from an input format are ``None``; a section that is present and lists
nothing is an empty tuple. Shape indices are kept as XLA prints them, with their braces: ``{}``,
``{1,0}``.

Records that can exist by the million are named tuples, the others frozen dataclasses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from xlagraph.hlo.shapes import Shape


class ParameterStorage(NamedTuple):
    """The entry parameter that an allocation stores."""

    number: int
    shape: str | None
    """Shape without layout; up to jaxlib 0.7.0 the shape of the whole tuple on each leaf."""
    shape_index: str | None


class Allocation(NamedTuple):
    """One buffer of the plan."""

    number: int
    size_bytes: int
    address: str | None = None
    """Address of a C++ object at compile time, up to TensorFlow 2.10; it has no meaning."""
    memory_space: int = 0
    """Memory space; printed only when it is not 0."""
    page: int | None = None
    parameter: ParameterStorage | None = None
    output_shape: str | None = None
    is_constant: bool = False
    is_thread_local: bool = False
    maybe_live_out: bool = False
    is_preallocated_temp: bool = False


class Value(NamedTuple):
    """One HLO value in its slot ``[offset_bytes, offset_bytes + size_bytes)``."""

    value_id: int
    name: str
    shape_index: str | None
    """Tuple index, if the shape of the defining instruction is a tuple."""
    is_phi: bool
    memory_space: int | None
    allocation: int
    """Number of the allocation that holds it."""
    offset_bytes: int
    size_bytes: int
    shape: Shape

    @property
    def label(self) -> str:
        """Name and tuple index: ``fusion.7``, ``while.1{1}``, ``tuple.13{}``."""
        return self.name if self.shape_index is None else self.name + self.shape_index


class Position(NamedTuple):
    """An instruction and shape index at which a value is visible."""

    instruction: str
    shape_index: str | None


class Use(NamedTuple):
    """An instruction that reads a value."""

    instruction: str
    operand: int
    operand_index: str | None
    """Index within the operand, if the operand is a tuple."""


class UsedValue(NamedTuple):
    """Positions and uses of one value, in the dump's order."""

    value_id: int
    positions: tuple[Position, ...]
    uses: tuple[Use, ...]


class LiveRange(NamedTuple):
    """The first and last step at which a value is needed, both included."""

    name: str
    shape_index: str
    """Tuple index; ``{}`` for arrays."""
    live_from: int
    live_until: int


class PrintedPeakEntry(NamedTuple):
    """One line of XLA's list of values live at its peak."""

    name: str
    shape_index: str | None
    """Tuple index; None before jaxlib 0.6."""
    bytes: int
    cumulative_bytes: int | None


@dataclass(frozen=True, slots=True)
class PrintedPeak:
    """The peak that XLA prints.

    Often not the true one: it looks for the step with the size of whole tuples where it means
    their elements.
    """

    step: int
    entries: tuple[PrintedPeakEntry, ...]
    has_stack_trace: bool | None = field(default=None, compare=False)
    """True if a stack trace follows, as since jaxlib 0.7.1; None if the input has no such lines."""


@dataclass(frozen=True, slots=True)
class LiveRanges:
    """Schedule, live ranges and printed peak."""

    max_step: int
    schedule: tuple[str, ...]
    """Instruction names; the index in the tuple is the step."""
    ranges: tuple[LiveRange, ...]
    peak: PrintedPeak | None


class Statistic(NamedTuple):
    """A number of JAX's `CompiledMemoryStats`."""

    field: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The memory plan of one compilation."""

    allocations: tuple[Allocation, ...]
    values: tuple[Value, ...]
    """Values by allocation, in the input's order."""
    total_bytes: int | None
    """XLA's own sum of all allocations, every memory space and thread-local included."""
    used_values: tuple[UsedValue, ...] | None
    """Positions and uses; None before TensorFlow 1.15 or without the companion file."""
    live_ranges: LiveRanges | None
    buffer_sets: Mapping[int, int] | None = None
    """Smallest id among the values that must share bytes, by value id, if XLA states it."""
    derived: tuple[str, ...] = ()
    """Names of facts that were derived by XLA's rules instead of read."""
    heap_trace_agrees: bool | None = None
    """True if XLA's heap trace agrees with derived live ranges; None if one is missing."""
    statistics: tuple[Statistic, ...] = ()
    """Statistics of JAX's memory analysis; empty if they are not stored next to the dump."""
