"""Find ops that one program computes several times as often, wherever it computes them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Set
from fractions import Fraction
from math import prod
from typing import Final, NamedTuple

from xlagraph.comparison.held_values import HeldValue, Reserved, SourceLine, place
from xlagraph.comparison.mentions import Mentions
from xlagraph.comparison.reasons import FoundReasons, ReasonKind
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.op_names import (
    OF_ANY_LOOP,
    has_all_transformations,
    is_backward,
    is_recomputed,
    loop_depth,
    stem,
)
from xlagraph.hlo.shapes import dimensions

OF_GRADIENTS: Final = "gradients"
"""Only ops of the forward and backward pass of gradients are repeated."""
WITHOUT_VMAP: Final = "vmap"
"""Repeated ops are in one `jax.vmap` less."""
PRODUCTS: Final = "products"
"""Only matrix products are repeated, other ops less or more often."""
_LEAST_OPS: Final = 5
_LEAST_SHARE: Final = 0.6
"""Minimum number and share of the ops of both programs that one repeats equally often."""
_TOLERANCE: Final = 0.05
_MOST_PASSES: Final = 3
"""Maximum of the smaller term of a ratio: 3/2 if a network is applied once more than twice."""
_PRODUCTS: Final = frozenset(("dot_general", "conv_general_dilated"))
_LEAST_FACTOR: Final = 4 / 3
"""Minimum number of products of one program, divided by that of the other."""
_MOVING: Final = frozenset(("bitcast", "broadcast", "copy", "iota", "tuple", "while"))


class _Name(NamedTuple):
    parts: tuple[str, ...]
    is_backward: bool
    is_of_gradient: bool
    loops: int
    """Number of loops around the op: a loop computes it more often than it is in the program."""


class _Op(NamedTuple):
    line: SourceLine
    name: _Name


class _Count(NamedTuple):
    times: int
    elements: int
    vmaps: int
    """Number of `jax.vmap` around the op; the least, if they differ."""
    line: SourceLine | None
    """The user's line, else that of a library."""


def name_repeated_ops(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> None:
    """Name the ops of both programs of which one computes most several times as often.

    These are ops of gradients if one program takes a gradient twice, all ops if it computes parts
    of a batch one by one, or else those of lines that it computes again.
    """
    a, b = map(_counts, sides)
    if not all(has_all_transformations(value.op_name for value in side.values) for side in sides):
        return
    names_a, names_b = (_names(side.mentions) for side in sides)
    times = {op: Fraction(b[op].times, a[op].times) for op in sorted(a.keys() & b.keys())}
    for op, factor in times.items():  # fusions hide some of them
        all_times = Fraction(names_b[op.name], names_a[op.name] or 1)
        if abs(all_times / factor - 1) > _TOLERANCE:
            times[op] = Fraction(1)
    of_gradients = {op for op in times if op.name.is_of_gradient}
    found = _of_most(times, of_gradients) or _of_most(times, times.keys()) or _of_lines(times)
    if not found:
        _name_products((a, b), (names_a, names_b), reasons)
        return
    factor, of = times[found[0]], len(of_gradients if of_gradients.issuperset(found) else times)
    reason = reasons.of(ReasonKind.AGAIN, after="new" if factor > 1 else "gone")
    reason.count_a = reason.count_b = len(found)
    reason.of = of, of
    reason.turns = {(factor.denominator, factor.numerator)}
    parts = [abs(b[op].elements / a[op].elements - 1) <= _TOLERANCE for op in found]
    if sum(parts) >= _LEAST_SHARE * len(found):
        reason.factors = {1 / factor}
    reason.scopes = {OF_GRADIENTS} if of_gradients.issuperset(found) else set()
    once, often = (a, b) if factor > 1 else (b, a)
    if all(often[op].vmaps < once[op].vmaps for op in found):
        reason.scopes.add(WITHOUT_VMAP)
    lines = Counter(line for op in found if (line := b[op].line))
    reason.inputs = {place(line) for line, _ in lines.most_common(1)}


def _name_products(
    counts: tuple[Mapping[_Op, _Count], ...],
    names: tuple[Counter[_Name], ...],
    reasons: FoundReasons,
) -> None:
    """Name the matrix products of both programs if one has many more, and of no op fewer."""
    a, b = counts
    products = [op for op in a.keys() & b.keys() if op.name.parts[-1] in _PRODUCTS]
    growths = [b[op].times - a[op].times for op in products]
    before, after = (sum(side[op].times for op in products) for side in counts)
    is_one_way = min(growths, default=0) >= 0 or max(growths) <= 0
    # fusions hide some of them
    all_before, all_after = (sum(side[op.name] for op in products) for side in names)
    is_more = all(
        y >= _LEAST_FACTOR * x if after > before else x >= _LEAST_FACTOR * y
        for x, y in ((before, after), (all_before, all_after))
    )
    if not is_one_way or abs(after - before) < _LEAST_OPS or not is_more:
        return
    word = "new" if after > before else "gone"
    reason = reasons.of(ReasonKind.AGAIN, before=PRODUCTS, after=word)
    reason.count_a, reason.count_b = before, after
    line = b[max(products, key=lambda op: (abs(b[op].times - a[op].times), op))].line
    reason.inputs = {place(line)} if line else set()


def _of_most(times: Mapping[_Op, Fraction], ops: Set[_Op]) -> list[_Op]:
    """Return the repeated ops among some; none if most of the others are repeated, too."""
    of_ops = Counter(factor for op, factor in times.items() if op in ops)
    ((factor, count),) = of_ops.most_common(1) or [(Fraction(1), 0)]
    others = [times[op] == factor for op in times.keys() - ops]
    is_frequent = count >= max(_LEAST_OPS, _LEAST_SHARE * len(ops))
    if not _is_repetition(factor) or not is_frequent or sum(others) * 2 > len(others):
        return []
    return [op for op in times if op in ops and times[op] == factor]


def _of_lines(times: Mapping[_Op, Fraction]) -> list[_Op]:
    """Return the ops of lines of which all are repeated equally often in a pass."""
    by_pass = grouped(((op.line, op.name.is_of_gradient, op.name.is_backward), op) for op in times)
    found: defaultdict[Fraction, list[_Op]] = defaultdict(list)
    for ops in by_pass.values():
        factors = {times[op] for op in ops}
        if len(factors) == 1 and _is_repetition(factor := factors.pop()):
            found[factor] += ops
    most = max(found.values(), key=len, default=[])
    return most if len(most) >= _LEAST_OPS else []


def _is_repetition(factor: Fraction) -> bool:
    return factor != 1 and min(factor.numerator, factor.denominator) <= _MOST_PASSES


def _counts(side: Reserved) -> dict[_Op, _Count]:
    once = {value.name: value for value in side.values}.values()
    found = grouped((op, value) for value in once if (op := _op(value)))
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
    line, name = value.source_line or value.line, _name(value.op_name)
    is_op = value.is_computed and value.opcode not in _MOVING
    return _Op(line, name) if is_op and line and name else None


def _name(op_name: str | None) -> _Name | None:
    parts = tuple(each for each in stem(op_name) if each not in OF_ANY_LOOP)
    if op_name is None or not parts or ";" in op_name or is_recomputed(op_name):
        return None
    backward = is_backward(op_name)
    of_gradient = backward or "jvp(" in op_name
    return _Name(parts, backward, of_gradient, loop_depth(op_name))


def _names(mentions: Mentions) -> Counter[_Name]:
    """Return how many instructions have each name, also those inside of fusions."""
    found: Counter[_Name] = Counter()
    for op_name, count in mentions.op_names.items():
        if name := _name(op_name):
            found[name] += count
    return found
