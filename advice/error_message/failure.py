"""An out-of-memory failure as its message reports it.

Sizes are in bytes. Messages round them to two decimals of a unit. A missing size is None, never 0.
"""

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """The stage at which memory ran out."""

    PLAN = "plan"
    """The compiler: the memory plan is larger than the memory space, nothing was run."""
    REMATERIALIZATION = "rematerialization"
    """The compiler: recomputing values did not bring the program below XLA's limit for that. The
    program was compiled all the same."""
    PROGRAM_LOAD = "program load"
    """The runtime: a compiled program did not fit on the device."""
    ALLOCATOR = "allocator"
    """The runtime: the allocator had no room for a buffer, or for the temporaries of a program."""


@dataclass(frozen=True, slots=True)
class TracebackLine:
    """The innermost line of the user's own code in the traceback around the message."""

    file: str
    line: int
    function: str | None


@dataclass(frozen=True, slots=True)
class BreakdownPart:
    """A line of a breakdown: the bytes of one kind of memory."""

    whole: str
    """The breakdown it belongs to: `total`, `program` or `assignment`."""
    name: str
    """The printed name: `arguments`, `HLO temp`, `preallocated temp allocation`."""
    size_bytes: int | None
    """Size; None if the message says `unknown size`."""
    padding_bytes: int | None = None
    """Padding; None if the message does not say."""


@dataclass(frozen=True, slots=True)
class LargeAllocation:
    """An entry of the list of largest allocations, or of peak buffers."""

    size_bytes: int
    op_name: str | None = None
    source_file: str | None = None
    source_line: int | None = None
    shape: str | None = None
    unpadded_bytes: int | None = None
    instruction: str | None = None
    """Name of the HLO instruction; None if only an opcode is printed."""
    label: str | None = None
    """The XLA label as printed; XLA shortens long labels."""
    kind: str | None = None
    """Type of the allocation: `HLO temp`, `scoped`, `arguments`."""

    @property
    def padding_bytes(self) -> int:
        """Bytes that hold no element; 0 if the message does not say."""
        return max(0, self.size_bytes - (self.unpadded_bytes or self.size_bytes))


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed request for memory."""

    stage: Stage
    requested_bytes: int | None
    """Memory that the plan needs, or bytes requested from the allocator."""
    capacity_bytes: int | None = None
    """Size of the memory space, or limit of the allocator."""
    free_bytes: int | None = None
    """Bytes that were free; only an allocator says so."""
    contiguous_bytes: int | None = None
    """Largest free block, if it is smaller than the free bytes."""
    in_use_bytes: int | None = None
    """Bytes that were in use before the request."""
    exceeded_bytes: int | None = None
    """Missing bytes as printed."""
    memory_space: str | None = None
    """`hbm`, `vmem`, …; None if the message names none."""
    allocator: str | None = None
    """Name of the allocator: `GPU_0_bfc`."""
    code: str | None = None
    """XLA's error code: `E1000`."""
    module: str | None = None
    """Module that the message names, or that its op names begin with."""
    instruction: str | None = None
    """HLO instruction of a scoped allocation."""
    is_scoped: bool = False
    """True if one instruction needs more scratch memory than the limit."""
    original_bytes: int | None = None
    """Bytes that the plan needed before XLA recomputed values."""
    argument_bytes: int | None = None
    """Bytes of inputs and outputs, if they alone exceed the limit."""
    is_outside_pool: bool = False
    """True if the driver had no memory outside of the pool that the framework reserves."""
    is_constant: bool = False
    """True if a constant of the program was allocated."""
    parts: tuple[BreakdownPart, ...] = ()
    output_bytes: int | None = None
    output_shared_bytes: int | None = None
    """Part of the output that is stored in the arguments: donated."""
    largest: tuple[LargeAllocation, ...] = ()
    is_cut: bool = False
    """True if the message is cut off."""
    traceback_line: TracebackLine | None = None
    line_number: int = 0
    """Line of the log where the message begins, counted from 1."""

    @property
    def is_compiled(self) -> bool:
        """True if the compiler reports the failure: nothing was run."""
        return self.stage in (Stage.PLAN, Stage.REMATERIALIZATION)

    @property
    def missing_bytes(self) -> int | None:
        """Missing bytes; None if unknown."""
        if self.exceeded_bytes is not None:
            return self.exceeded_bytes
        if self.requested_bytes is None:
            return None
        if self.is_compiled:
            there = self.capacity_bytes
        else:
            there = self.contiguous_bytes if self.contiguous_bytes is not None else self.room_bytes
        return None if there is None else max(0, self.requested_bytes - there)

    @property
    def room_bytes(self) -> int | None:
        """Bytes that were free, as printed or as the limit and the bytes in use imply."""
        if self.free_bytes is not None:
            return self.free_bytes
        if self.is_compiled or self.capacity_bytes is None or self.in_use_bytes is None:
            return None
        return max(0, self.capacity_bytes - self.in_use_bytes)

    @property
    def padding_bytes(self) -> int:
        """Padding of the temporaries as printed, or of the listed allocations if that is more."""
        listed = sum(allocation.padding_bytes for allocation in self.largest)
        return max(listed, *(part.padding_bytes or 0 for part in self.parts), 0)

    def part_bytes(self, name: str) -> int | None:
        """Return the size of a part by its printed name; None if it is not printed."""
        return next((part.size_bytes for part in self.parts if part.name == name), None)
