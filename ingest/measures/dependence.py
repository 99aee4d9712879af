"""Dependences between the instructions of the scheduled computations.

They decide which orders of instructions are possible, and which one each of XLA's schedulers
chooses. Uses and positions do not contain them: those skip tuples, tuple elements and bitcasts.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xlagraph.hlo.instruction import Instruction, ProgramError
from xlagraph.hlo.post_order import scheduled_callees, scheduled_computations
from xlagraph.hlo.program import Program


class Dependence(NamedTuple):
    """Dependences and called computations of an instruction; empty sequences are None."""

    operands: Sequence[str] | None
    """Names of its operands in order; a name that is read twice is there twice."""
    control_predecessors: Sequence[str] | None
    callees: Sequence[str] | None
    """Computations that it runs as part of the schedule, in the schedule's order."""
    is_root: bool
    """True if it returns the result of its computation."""
    unique_id: int | None
    """Number that XLA gave it; None if the input format has none."""


def dependences(program: Program) -> Mapping[str, Dependence]:
    """Return the dependences of each instruction that may be scheduled, by name.

    They are empty without computations, or if a line of one could not be read.
    """
    if not program.has_computations:
        return {}
    found: dict[str, Dependence] = {}
    try:
        for computation in scheduled_computations(program):
            if computation.unread is not None:
                return {}
            root = computation.root.name
            for each in computation.instructions:
                found[each.name] = _dependence(each, is_root=each.name == root)
    except (ProgramError, RecursionError):  # the program is truncated, or calls itself
        return {}
    return found


def _dependence(each: Instruction, *, is_root: bool) -> Dependence:
    return Dependence(
        each.operand_names or None,
        each.attributes.control_predecessors or None,
        scheduled_callees(each) or None,
        is_root,
        each.unique_id,
    )
