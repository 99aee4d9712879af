"""The loops of a program, and the ops of their bodies."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Final, NamedTuple

from xlagraph.comparison.held_values import HeldValue, Reserved, SourceLine
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.op_names import OF_ANY_LOOP, stem
from xlagraph.hlo.shapes import dimensions

BODY: Final = "body"
"""Scope of the ops in the body of a loop, after those of the loop."""
Op = tuple[SourceLine, tuple[str, ...]]
"""Innermost line, and the scopes and primitive without names of loops."""


class Largest(NamedTuple):
    """The largest value of an op: its number of elements, and of `jax.vmap` around it."""

    elements: int
    vmaps: int


class Ops:
    """The ops of a program, counted once for all of its loops."""

    def __init__(self, side: Reserved) -> None:
        self._side = side

    @cached_property
    def all(self) -> Counter[Op]:
        """Number of instructions with each op."""
        return _all_ops(self._side.values)

    @cached_property
    def outside(self) -> Counter[Op]:
        """Number of those outside of loops whose iterations are known."""
        return _all_ops(value for value in self._side.values if value.loop not in self._side.turns)

    @cached_property
    def largest(self) -> dict[Op, Largest]:
        """The largest value of each op."""
        return largest_of(self._side.values)

    def in_body(self, loop: "Loop") -> list[HeldValue]:
        """Return the values in the body of a loop, and of loops in it.

        Those of another line with the same scopes are of another loop.
        """
        values = self._by_body.get((*loop.scopes, BODY), ())
        return [value for value in values if self._line_of(value, loop.scopes) in (None, loop.line)]

    def _line_of(self, value: HeldValue, scopes: tuple[str, ...]) -> SourceLine | None:
        """Return the line of the loop with these scopes around a value; None if it is unknown."""
        around = self._loops.get(value.loop or "")
        while around and stem(around.op_name) != scopes:
            around = self._loops.get(around.loop or "")
        return around.line if around else None

    @cached_property
    def _loops(self) -> dict[str, HeldValue]:
        return {value.name: value for value in self._side.values if value.opcode == "while"}

    @cached_property
    def _by_body(self) -> Mapping[tuple[str, ...], Sequence[HeldValue]]:
        return grouped(
            (scopes[: place + 1], value)
            for value in self._side.values
            for scopes in (stem(value.op_name),)
            for place, name in enumerate(scopes)
            if name == BODY
        )


class Loop(NamedTuple):
    """The loops of a program with one line and scopes."""

    line: SourceLine
    scopes: tuple[str, ...]
    turns: set[int]
    ops: Counter[Op]
    """Ops in the bodies of all loops with this line and these scopes, by count."""
    names: set[str]
    """Names of these loops."""

    @property
    def iterations(self) -> int:
        """How often the loop runs; 0 if it runs differently in several places."""
        return next(iter(self.turns)) if len(self.turns) == 1 else 0


def loops_of(side: Reserved) -> list[Loop]:
    """Return the loops of a program whose iterations are known, with the ops of their bodies."""
    by_name: dict[str, Loop] = {}
    loops: dict[tuple[SourceLine, tuple[str, ...]], Loop] = {}
    for value in side.values:
        # stacks of a loop have the lines of its body
        is_loop = value.opcode == "while" and value.shape_index in (None, "{}")
        if is_loop and value.name in side.turns and value.line:
            key = value.line, stem(value.op_name)
            loop = loops.setdefault(key, Loop(*key, set(), Counter(), set()))
            loop.turns.add(side.turns[value.name])
            loop.names.add(value.name)
            by_name[value.name] = loop
    for value in {value.name: value for value in side.values}.values():
        if value.loop in by_name:
            by_name[value.loop].ops.update(_ops(value))
    return list(loops.values())


def largest_of(values: Iterable[HeldValue]) -> dict[Op, Largest]:
    """Return the numbers of elements and of `jax.vmap` of the largest value of each op."""
    found: dict[Op, Largest] = {}
    for value in values:
        size = prod(dimensions(value.shape) or ())
        largest = Largest(size, (value.op_name or "").count("vmap("))
        for op in _ops(value):
            found[op] = max(largest, found.get(op, largest))
    return found


def _all_ops(values: Iterable[HeldValue]) -> Counter[Op]:
    return Counter(
        op for value in {each.name: each for each in values}.values() for op in _ops(value)
    )


def _ops(value: HeldValue) -> Iterator[Op]:
    line = value.source_line or value.line
    op = tuple(name for name in stem(value.op_name) if name not in OF_ANY_LOOP)
    is_counter = value.shape.endswith("[]")  # or its comparison; without the loop, there is none
    if value.is_computed and line and op and value.opcode != "while" and not is_counter:
        yield line, op
