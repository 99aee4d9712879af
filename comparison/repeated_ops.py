"""Find ops that one program computes several times as often, wherever it computes them."""

from collections import Counter, defaultdict
from fractions import Fraction
from math import prod
from typing import Final, NamedTuple

from xlagraph.comparison.held_values import HeldValue, Reserved, SourceLine, place
from xlagraph.comparison.reasons import FoundReasons, ReasonKind
from xlagraph.hlo.op_names import (
    OF_ANY_LOOP,
    has_all_transformations,
    is_backward,
    is_recomputed,
    stem,
)
from xlagraph.hlo.shapes import dimensions

__all__ = ["OF_GRADIENTS", "WITHOUT_VMAP", "name_repeated_ops"]

OF_GRADIENTS: Final = "gradients"
"""Only ops of the forward and backward pass of gradients are repeated."""
WITHOUT_VMAP: Final = "vmap"
"""Repeated ops are in one `jax.vmap` less."""
_LEAST_OPS: Final = 5
_LEAST_SHARE: Final = 0.6
"""Minimum number and share of the ops of both programs that one repeats equally often."""
_TOLERANCE: Final = 0.05
_MOVING: Final = frozenset(("bitcast", "broadcast", "copy", "iota", "tuple", "while"))


class _Op(NamedTuple):
    line: SourceLine
    names: tuple[str, ...]
    is_backward: bool
    is_of_gradient: bool


class _Count(NamedTuple):
    times: int
    elements: int
    vmaps: int
    """Number of `jax.vmap` around the op; the least, if they differ."""
    line: SourceLine | None
    """The user's line, else that of a library."""


def name_repeated_ops(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> None:
    """Name the ops of both programs of which one computes most several times as often.

    These are ops of gradients if one program takes a gradient twice, and all ops if it computes
    parts of a batch one by one.
    """
    a, b = map(_counts, sides)
    if not all(has_all_transformations(value.op_name for value in side.values) for side in sides):
        return
    common = a.keys() & b.keys()
    of_gradients = {op for op in common if op.is_of_gradient}
    times = {op: Fraction(b[op].times, a[op].times) for op in common}
    for ops in (of_gradients, common):
        ((factor, count),) = Counter(times[op] for op in ops).most_common(1) or [(Fraction(1), 0)]
        is_frequent = count >= max(_LEAST_OPS, _LEAST_SHARE * len(ops))
        if factor == 1 or 1 not in (factor.numerator, factor.denominator) or not is_frequent:
            continue
        repeated = [op for op in ops if times[op] == factor]
        others = [times[op] == factor for op in common - ops]
        if sum(others) * 2 > len(others):
            continue  # other ops are repeated, too
        reason = reasons.of(ReasonKind.AGAIN, after="new" if factor > 1 else "gone")
        reason.count_a = reason.count_b = count
        reason.of = len(ops), len(ops)
        reason.turns = {(factor.denominator, factor.numerator)}
        parts = [abs(b[op].elements / a[op].elements - 1) <= _TOLERANCE for op in repeated]
        if sum(parts) >= _LEAST_SHARE * count:
            reason.factors = {1 / factor}
        reason.scopes = {OF_GRADIENTS} if ops is of_gradients else set()
        once, often = (a, b) if factor > 1 else (b, a)
        if all(often[op].vmaps < once[op].vmaps for op in repeated):
            reason.scopes.add(WITHOUT_VMAP)
        lines = Counter(line for op in repeated if (line := b[op].line))
        reason.inputs = {place(line) for line, _ in lines.most_common(1)}
        return


def _counts(side: Reserved) -> dict[_Op, _Count]:
    found: defaultdict[_Op, list[HeldValue]] = defaultdict(list)
    for value in {value.name: value for value in side.values}.values():
        if op := _op(value):
            found[op].append(value)
    return {
        op: _Count(
            len(values),
            sum(prod(dimensions(value.shape) or ()) for value in values) or 1,
            min((value.op_name or "").count("vmap(") for value in values),
            values[0].line,
        )
        for op, values in found.items()
    }


def _op(value: HeldValue) -> _Op | None:
    """Return the line and name of an op; None for what only moves data, or is recomputed."""
    line, name = value.source_line or value.line, value.op_name or ""
    names = tuple(each for each in stem(name) if each not in OF_ANY_LOOP)
    if not value.is_computed or value.opcode in _MOVING or line is None or not names:
        return None
    if ";" in name or is_recomputed(name):
        return None
    return _Op(line, names, is_backward(name), "jvp(" in name or is_backward(name))
