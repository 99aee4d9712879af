"""A parameter to donate, and the result that takes its bytes."""

from typing import NamedTuple

from xlagraph.planner.planned_program import PlannedProgram, PlannedValue

__all__ = ["Donor", "is_own_copy"]


class Donor(NamedTuple):
    """A parameter to donate, and the result that takes its bytes."""

    parameter: int
    """Value id of the parameter."""
    output: int
    """Value id of the result."""
    needed_until: int
    """Last step in which the parameter is needed."""


def is_own_copy(program: PlannedProgram, value: PlannedValue, donor: Donor) -> bool:
    """Return True for the copy that begins the result's set; donation makes it unnecessary."""
    return (
        value.is_copy
        and value.value_id != donor.output
        and value.operands == (donor.parameter,)
        and value.buffer_set == program.by_id[donor.output].buffer_set
    )
