"""Facts about a value that replanning itself does not need."""

from typing import NamedTuple

from xlagraph.hlo.op_names import is_backward
from xlagraph.planner.compilation.records import StoredValue

__all__ = ["ValueFacts", "value_facts"]


class ValueFacts(NamedTuple):
    """Facts about a value that `PlannedValue` does not contain."""

    value_id: int
    label: str
    shape: str
    """Shape with layout."""
    dtype: str | None
    opcode: str | None
    op_name: str | None
    """Op name that the value is attributed to; its instruction's op name if no other is known."""
    own_op_name: str | None
    """Op name of its instruction."""
    is_stacked: bool
    """True if it is in a stack that the iterations of a loop fill."""
    source_lines: tuple[str, ...]
    """`file:line` of its instruction, of its attribution, and of the user's code."""
    live_until: int | None
    last_use: int | None
    needed_until: int | None
    """Last step that needs an entry parameter; None for other values."""
    color: int
    parameter: tuple[int, str] | None
    """Number and shape index if it is an entry parameter."""
    computation: str | None
    """Computation that contains its instruction."""

    @property
    def is_backward(self) -> bool:
        """True if its op name says that the backward pass computes it."""
        return is_backward(self.op_name)


def value_facts(
    value: StoredValue, computation: str | None, parameter: tuple[int, str] | None
) -> ValueFacts:
    """Collect the facts of a stored value.

    `computation` contains its instruction; `parameter` is the number and shape index if it is an
    entry parameter.
    """
    places = (
        (value.source_file, value.source_line),
        (value.attributed_file, value.attributed_line),
        (value.user_file, value.user_line),
    )
    lines = [f"{file}:{line}" for file, line in places if file is not None and line is not None]
    return ValueFacts(
        value_id=value.value_id,
        label=value.label,
        shape=f"{value.shape or ''}{value.layout or ''}",
        dtype=value.dtype,
        opcode=value.opcode,
        op_name=value.attributed_op_name or value.op_name,
        own_op_name=value.op_name,
        is_stacked=value.stack_loop is not None,
        source_lines=tuple(dict.fromkeys(lines)),
        live_until=value.live_until,
        last_use=value.last_use,
        needed_until=value.needed_until,
        color=value.memory_space,
        parameter=parameter,
        computation=computation,
    )
