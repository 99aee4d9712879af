"""Find loops whose body one program computes several times in each iteration, or without a loop."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from xlagraph.comparison.held_values import HeldValue, Reserved, SourceLine
from xlagraph.hlo.op_names import primitive, stem

__all__ = ["UnrolledLoop", "unrolled_loops"]

_LEAST_LINES: Final = 2
"""Minimum number of ops of the body that both programs have."""
_Key = tuple[SourceLine, tuple[str, ...]]
"""Source line and scopes of a loop."""
_Op = tuple[SourceLine, str]


class UnrolledLoop(NamedTuple):
    """A loop that runs less often in one program, because that program computes several steps."""

    line: SourceLine
    turns: tuple[int, int]
    """Iterations in both programs; 0 in one that has no loop."""
    steps: int
    """Steps of the one loop in an iteration of the other one."""
    lines: frozenset[SourceLine]
    """Lines of the loop and of its body."""

    @property
    def place(self) -> str:
        """File and line of the loop."""
        file, line = self.line
        return f"{PurePath(file).name}:{line}"


class _Loop(NamedTuple):
    turns: frozenset[int]
    ops: Counter[_Op]


def unrolled_loops(a: Reserved, b: Reserved) -> list[UnrolledLoop]:
    """Return the loops of which one program computes several steps at once.

    A loop is the same in both programs if it has the same line and scopes. The program that runs
    it less often must have the ops of its body so much more often, or stacks with a dimension for
    the steps of an iteration: ``f32[255,8]`` is then ``f32[63,4,8]``.
    """
    loops_a, loops_b = _loops(a), _loops(b)
    found = []
    for key in sorted(loops_a.keys() | loops_b.keys()):
        before, after = loops_a.get(key), loops_b.get(key)
        of_more, of_less, more, less = a, b, before, after
        if _turns(after) > _turns(before):
            of_more, of_less, more, less = b, a, after, before
        turns, fewer = _turns(more), _turns(less)
        if more is None or (less is not None and not fewer):  # XLA does not know how often it runs
            continue
        steps = turns // (fewer or 1)
        if steps < 2 or (fewer and turns // steps != fewer):
            continue
        ops = less.ops if less else _ops_outside(of_less)
        if _are_repeated(more.ops, ops, steps) or (
            fewer and _have_steps(of_more, of_less, (turns, fewer, steps))
        ):
            lines = frozenset({key[0], *(line for line, _ in more.ops)})
            found.append(UnrolledLoop(key[0], (_turns(before), _turns(after)), steps, lines))
    return found


def _turns(loop: _Loop | None) -> int:
    """Return how often a loop runs; 0 if it is missing or runs differently in several places."""
    return next(iter(loop.turns)) if loop and len(loop.turns) == 1 else 0


def _are_repeated(once: Counter[_Op], repeated: Counter[_Op], steps: int) -> bool:
    common = once.keys() & repeated.keys()
    times = sum(repeated[op] for op in common) / (sum(once[op] for op in common) or 1)
    # fusions join ops of several steps
    return len(common) >= _LEAST_LINES and times >= (1 + steps) / 2


def _have_steps(more: Reserved, less: Reserved, counts: tuple[int, int, int]) -> bool:
    """Return True if a stack of one program has a dimension for the steps in the other one."""
    turns, fewer, steps = counts
    stacks = {value.shape for value in more.values if value.stack_turns == turns}
    split = {value.shape for value in less.values if value.stack_turns == fewer}
    return any(
        shape.replace(f"[{fewer},{steps}", f"[{turns}", 1) in stacks
        for shape in split
        if re.search(rf"\[{fewer},{steps}\b", shape)
    )


def _loops(side: Reserved) -> dict[_Key, _Loop]:
    keys: dict[str, _Key] = {}
    for value in side.values:
        if value.opcode == "while" and value.name in side.turns and value.line:
            keys.setdefault(value.name, (value.line, stem(value.op_name)))
    turns: dict[_Key, set[int]] = {}
    for name, key in keys.items():
        turns.setdefault(key, set()).add(side.turns[name])
    ops: dict[_Key, Counter[_Op]] = {key: Counter() for key in turns}
    for value in {value.name: value for value in side.values}.values():
        if (loop := value.loop) in keys:
            ops[keys[loop]].update(_op(value))
    return {key: _Loop(frozenset(turns[key]), ops[key]) for key in turns}


def _ops_outside(side: Reserved) -> Counter[_Op]:
    values = {value.name: value for value in side.values}.values()
    return Counter(op for value in values if value.loop not in side.turns for op in _op(value))


def _op(value: HeldValue) -> Iterator[_Op]:
    op = primitive(value.op_name)
    if value.is_computed and value.line and op and value.opcode != "while":
        yield value.line, op
