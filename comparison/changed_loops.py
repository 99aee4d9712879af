"""Find ops that only one program computes in a loop, and loops that stack values in one only."""

from collections.abc import Iterable

from xlagraph.comparison.held_values import HeldValue
from xlagraph.hlo.op_names import OF_ANY_LOOP, in_loop, stem

__all__ = ["ChangedLoops"]

Op = tuple[str, ...]
"""Scopes and primitive of an op, without the names of loops."""


class ChangedLoops:
    """Ops and stacks of loops that differ between two programs."""

    def __init__(self, a: Iterable[HeldValue], b: Iterable[HeldValue]) -> None:
        inside_a, outside_a, self._first_a = _ops(a)
        inside_b, outside_b, self._first_b = _ops(b)
        self._new = (outside_a - inside_a) & (inside_b - outside_b)
        self._gone = (inside_a - outside_a) & (outside_b - inside_b)

    def moved(self, value: HeldValue) -> str:
        """Return ``new`` or ``gone`` for an op in a loop on one side only; else an empty string."""
        op = _op(value)
        return "new" if op in self._new else "gone" if op in self._gone else ""

    def is_first_stack(self, value: HeldValue, *, is_new: bool) -> bool:
        """Return True if the other program has the loop of a stack, but stacks nothing in it."""
        return _loop(value) in (self._first_a if is_new else self._first_b)


def _ops(values: Iterable[HeldValue]) -> tuple[set[Op], set[Op], set[Op]]:
    """Return the ops in loops, those outside of loops, and the loops that stack no values."""
    inside: set[Op] = set()
    outside: set[Op] = set()
    loops: set[Op] = set()
    stacks: set[Op] = set()
    for value in values:
        if value.is_computed and (op := _op(value)):
            (inside if in_loop(value.op_name) else outside).add(op)
        if in_loop(value.op_name):
            loops.add(_loop(value))
        if (value.stack_turns or 0) > 1:
            stacks.add(_loop(value))
    return inside, outside, loops - stacks


def _op(value: HeldValue) -> Op:
    if ";" in (value.op_name or ""):  # a joined name, `a/mul;b/add`, is of no one op
        return ()
    return tuple(name for name in stem(value.op_name) if name not in OF_ANY_LOOP)


def _loop(value: HeldValue) -> Op:
    names = stem(value.op_name)
    ends = [place for place, name in enumerate(names) if name == "while"]
    return names[: ends[-1]] if ends else ()
