"""What each allocation is for, whether it is the output, and what becomes of what it stores."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from xlagraph.ingest.model.plan import Allocation
from xlagraph.ingest.model.program import EntryParameter, Program

__all__ = ["Donation", "DonationState", "Role", "donations", "marks_outputs", "role"]


class Role(StrEnum):
    """What an allocation is for."""

    THREAD_LOCAL = "threadLocal"
    CONSTANT = "constant"
    PARAMETER = "parameter"
    OUTPUT = "output"
    LIVE_OUT = "liveOut"
    TEMP = "temp"


class DonationState(StrEnum):
    """Whether a parameter that the caller gives up has an output that takes its bytes."""

    PAIRED = "paired"
    UNPAIRED = "unpaired"


class Donation(NamedTuple):
    """A parameter that the caller gives up."""

    state: DonationState
    output_index: str | None
    """Of the output that is written over it; None if it is unpaired."""


def role(allocation: Allocation) -> Role | None:
    """Return the first role that holds; None if the dump does not say."""
    if allocation.is_thread_local:
        return Role.THREAD_LOCAL
    if allocation.is_constant:
        return Role.CONSTANT
    if allocation.parameter is not None:
        return Role.PARAMETER
    if allocation.output_shape is not None:
        return Role.OUTPUT
    if allocation.maybe_live_out:
        return Role.LIVE_OUT
    return Role.TEMP if allocation.is_preallocated_temp else None


def marks_outputs(allocations: Sequence[Allocation]) -> bool:
    """Return whether the producer marks the output at all.

    TensorFlow does since 2.2, when it also began to print the shapes of parameters; what
    came before prints neither, but an address in every allocation.
    """
    return any(
        allocation.address is None
        or allocation.output_shape is not None
        or (allocation.parameter is not None and allocation.parameter.shape is not None)
        for allocation in allocations
    )


def donations(allocations: Sequence[Allocation], program: Program) -> tuple[Donation | None, ...]:
    """Return the donation of what each allocation stores; None where nothing is given up."""
    return tuple([_donation(allocation, program) for allocation in allocations])


def _donation(allocation: Allocation, program: Program) -> Donation | None:
    if allocation.parameter is None:
        return None
    stored = EntryParameter(allocation.parameter.number, allocation.parameter.shape_index or "{}")
    if (output := program.output_by_donated.get(stored)) is not None:
        return Donation(DonationState.PAIRED, output)
    if stored in program.unpaired_donors:
        return Donation(DonationState.UNPAIRED, None)
    return None
