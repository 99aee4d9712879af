"""Role and donation of each allocation, and if the dump marks outputs."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from xlagraph.hlo.program import EntryParameter, Program
from xlagraph.ingest.plan import Allocation, ParameterStorage


class Role(StrEnum):
    """Purpose of an allocation."""

    THREAD_LOCAL = "threadLocal"
    CONSTANT = "constant"
    PARAMETER = "parameter"
    OUTPUT = "output"
    LIVE_OUT = "liveOut"
    TEMP = "temp"


class DonationState(StrEnum):
    """State of a donated parameter: paired if an output takes its bytes."""

    PAIRED = "paired"
    UNPAIRED = "unpaired"


class Donation(NamedTuple):
    """A parameter that the caller donates."""

    state: DonationState
    output_index: str | None
    """Shape index of the output that is written over it; None if it is unpaired."""


def role(allocation: Allocation) -> Role | None:
    """Return the first role that applies; None if the dump does not say."""
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
    """Return True if the producer of the dump marks outputs at all.

    TensorFlow has marked them since 2.2, which also prints the shapes of parameters. Earlier
    versions print neither, but print an address in every allocation.
    """
    return any(
        allocation.address is None
        or allocation.output_shape is not None
        or (allocation.parameter is not None and allocation.parameter.shape is not None)
        for allocation in allocations
    )


def donations(allocations: Sequence[Allocation], program: Program) -> tuple[Donation | None, ...]:
    """Return the donation of each allocation's parameter; None if nothing is donated."""
    return tuple(
        [
            None if allocation.parameter is None else _donation(allocation.parameter, program)
            for allocation in allocations
        ]
    )


def _donation(parameter: ParameterStorage, program: Program) -> Donation | None:
    stored = EntryParameter(parameter.number, parameter.shape_index or "{}")
    if (output := program.output_by_donated.get(stored)) is not None:
        return Donation(DonationState.PAIRED, output)
    if stored in program.unpaired_donors:
        return Donation(DonationState.UNPAIRED, None)
    return None
