"""Find ops that only one program computes in a loop, and loops that stack values in one only."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from xlagraph.comparison.argument_names import pattern
from xlagraph.comparison.held_values import HeldValue, SourceLine
from xlagraph.hlo.op_names import OF_ANY_LOOP, loop_depth, primitive, stem

_LEAST_REPEATED: Final = 2
"""Minimum number of scopes of one pattern that a loop replaces."""
_LEAST_SHARE: Final = 0.1
"""Minimum share of a line's values in as many loops."""
_Key = TypeVar("_Key")
Op = tuple[str, ...]
"""Scopes and primitive of an op, without the names of loops."""
OpOfLine = tuple[SourceLine, SourceLine | None, str]
"""Source line of the user, source line of a library, and primitive."""
Line = tuple[SourceLine, str, int]
"""Source line, primitive, and number of loops around it."""


class ChangedLoops:
    """Ops and stacks of loops that differ between two programs."""

    def __init__(self, a: Iterable[HeldValue], b: Iterable[HeldValue]) -> None:
        a, b = tuple(a), tuple(b)
        depths_a, self._first_a = _ops(a)
        depths_b, self._first_b = _ops(b)
        self._depths = _moved(depths_a, depths_b)
        # a name without scopes, such as `mul`, is of many lines
        lines = _counts_of_lines(a), _counts_of_lines(b)
        self._depths_of_lines = {
            line: depths
            for kept in (_without_rare, set[int])
            for line, depths in _moved(
                *({line: kept(counts) for line, counts in side.items()} for side in lines)
            ).items()
        }
        # a line that both compute in as many loops, in other functions, did not move into one
        self._in_both = _lines_inside(a) & _lines_inside(b)

    def moved(self, value: HeldValue) -> tuple[int, int] | None:
        """Return the numbers of loops around an op in both programs; None if they are equal."""
        op = _op_of_line(value)
        if op and (depths := self._depths_of_lines.get(op)):
            return depths
        return None if _line(value) in self._in_both else self._depths.get(_op(value))

    def is_first_stack(self, value: HeldValue, *, is_new: bool) -> bool:
        """Return True if the other program has the loop of a stack, but stacks nothing in it."""
        return _loop(value) in (self._first_a if is_new else self._first_b)


def is_now_looped(
    scope: str, one_by_one: Iterable[HeldValue], looping: Iterable[HeldValue]
) -> bool:
    """Return True if repeated scopes, such as ``layer_*``, are a loop's body in the other program.

    At least half of the ops in the scopes, such as ``mlp/dot`` of ``layer_0/mlp/dot``, must be in
    more loops of the other program than anywhere in this one.
    """
    one_by_one = tuple(one_by_one)
    every = {name for value in one_by_one for name in _op(value)}
    scopes = {name for name in every if pattern(name) == scope}
    if len(scopes) < _LEAST_REPEATED:
        return False
    ends, deepest = _depths_of_ends(one_by_one), _depths_of_ends(looping)
    found = [
        deepest.get(end, 0) > ends[end]
        for value in one_by_one
        if (names := _op(value))
        and (places := [place for place, name in enumerate(names) if name in scopes])
        and (end := names[max(places) + 1 :])
    ]
    return sum(found) * 2 >= len(found) > 0


def _depths_of_ends(values: Iterable[HeldValue]) -> dict[Op, int]:
    """Return the most loops around an op with a name that ends so: ``mlp/dot``, ``dot``."""
    ends: dict[Op, int] = {}
    for value in values:
        names, depth = _op(value), _depth(value)
        for start in range(len(names)):
            ends[names[start:]] = max(ends.get(names[start:], 0), depth)
    return ends


def _moved(
    depths_a: Mapping[_Key, set[int]], depths_b: Mapping[_Key, set[int]]
) -> dict[_Key, tuple[int, int]]:
    """Return the most loops around what one program computes in more loops, in both."""
    return {
        key: (max(depths_a[key]), max(depths_b[key]))
        for key in depths_a.keys() & depths_b.keys()
        if _are_deeper(depths_a[key], depths_b[key]) or _are_deeper(depths_b[key], depths_a[key])
    }


def _counts_of_lines(values: Iterable[HeldValue]) -> dict[OpOfLine, Counter[int]]:
    """Return how many values of each line are in how many loops."""
    counts: defaultdict[OpOfLine, Counter[int]] = defaultdict(Counter)
    for value in values:
        if value.is_computed and (op := _op_of_line(value)):
            counts[op][_depth(value)] += 1
    return counts


def _without_rare(counts: Counter[int]) -> set[int]:
    """Return the numbers of loops without rare ones.

    What does not change in a loop is computed outside of it, though its line is inside.
    """
    return {depth for depth, count in counts.items() if count >= _LEAST_SHARE * counts.total()}


def _op_of_line(value: HeldValue) -> OpOfLine | None:
    op = primitive(value.op_name)
    return (value.user_line, value.source_line, op) if value.user_line and op else None


def _are_deeper(depths: set[int], others: set[int]) -> bool:
    """Return True if an op is in more loops in the other program, wherever it is computed."""
    return max(depths) < min(others) or {depth + 1 for depth in depths} == others


def _lines_inside(values: Iterable[HeldValue]) -> set[Line]:
    """Return the lines that the program computes in loops, with primitives and numbers of loops."""
    return {line for value in values if _depth(value) and (line := _line(value))}


def _line(value: HeldValue) -> Line | None:
    op = primitive(value.op_name)
    return (value.user_line, op, _depth(value)) if value.user_line and op else None


def _depth(value: HeldValue) -> int:
    return loop_depth(value.op_name)


def _ops(values: Iterable[HeldValue]) -> tuple[dict[Op, set[int]], set[Op]]:
    """Return the numbers of loops around each op, and the loops that stack no values."""
    depths: dict[Op, set[int]] = {}
    loops: set[Op] = set()
    stacks: set[Op] = set()
    for value in values:
        if value.is_computed and (op := _op(value)):
            depths.setdefault(op, set()).add(_depth(value))
        if _depth(value):
            loops.add(_loop(value))
        if value.is_stack:
            stacks.add(_loop(value))
    return depths, loops - stacks


def _op(value: HeldValue) -> Op:
    if ";" in (value.op_name or ""):  # a joined name, `a/mul;b/add`, is of no one op
        return ()
    return tuple(name for name in stem(value.op_name) if name not in OF_ANY_LOOP)


def _loop(value: HeldValue) -> Op:
    names = stem(value.op_name)
    ends = [place for place, name in enumerate(names) if name == "while"]
    return names[: ends[-1]] if ends else ()
