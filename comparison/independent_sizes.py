"""Name inputs of another size: a second one, and those that have another name, too.

A second one does not follow from that of the first one:

tokens s32[8,64] → s32[16,64], of which activations follow
params['table'] f32[5000,32] → f32[60000,32], which someone edits, too
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod
from typing import Final

from xlagraph.comparison.held_values import HeldValue
from xlagraph.comparison.reasons import FoundReasons, Reason, ReasonKind, Subject
from xlagraph.comparison.size_changes import changed, element_factor
from xlagraph.comparison.value_matching import Matching
from xlagraph.hlo.grouping import grouped

_TOLERANCE: Final = 0.05
_MOST_PARTS: Final = 4
"""Maximum number of times that a dimension is joined with others, or multiplied with itself."""


def name_second_input(matching: Matching, reasons: FoundReasons) -> None:
    """Name the input with the largest change of those whose dimensions the named one has not.

    A dimension follows from one that is as many times as large, or as much larger.
    """
    sizes = reasons.found.get(Subject(ReasonKind.SIZE))
    if sizes is None or sizes.input_example is None or sizes.is_resharded:
        return
    known = changed(*(each.shape for each in sizes.input_example))
    others = [
        (b.held_bytes - a.held_bytes, b, a)
        for a, b in matching.pairs
        if a.is_input and b.is_input and a.op_name and a.dtype == b.dtype and a.dtype != "u32"
        if _are_independent(changed(a.shape, b.shape), known)
    ]
    if known and others:
        growth, b, a = max(others, key=lambda each: (abs(each[0]), -len(_name(each[1]))))
        sizes.inputs = {f"{_name(b)} {a.shape} → {b.shape}"} if growth else set()


def join_moved(
    matching: Matching,
    inputs: Reason,
    of_one: tuple[Sequence[HeldValue], Sequence[HeldValue]],
    reasons: FoundReasons,
) -> None:
    """Count inputs that moved to another branch, in another size, with other ones of that size.

    ``state[0].mu['w'] f32[8]`` is ``state[1][0].mu['w'] f32[16]`` if ``params['w']`` changed so.
    ``of_one`` are the inputs that only one program has.
    """
    sizes = reasons.found.get(Subject(ReasonKind.SIZE))
    if sizes is None or len(inputs.scopes) != 1 or len(inputs.inputs) != 1:
        return
    both = {(a.shape, b.shape) for a, b in matching.pairs if a.is_input and b.is_input}
    tails = [
        [(_name(value).removeprefix(branch), value) for value in side if value.op_name]
        for side, (branch,) in zip(of_one, (inputs.scopes, inputs.inputs), strict=True)
    ]
    by_end = grouped((_last_part(tail), (tail, b)) for tail, b in tails[1])
    for tail, a in tails[0]:
        others = by_end.get(_last_part(tail), ())
        found = [b for of_b, b in others if of_b.endswith(tail) or tail.endswith(of_b)]
        factors = {element_factor(a, b) for b in found if (a.shape, b.shape) in both}
        if len(found) == 1 and tail and (factor := factors and factors.pop()):
            sizes.count(a, found[0])
            sizes.factors.add(factor)
            inputs.growth_bytes -= found[0].held_bytes - a.held_bytes


def _name(value: HeldValue) -> str:
    return value.op_name or ""


def _last_part(name: str) -> str:
    """Return a name's last key or attribute: both have it if one name ends with the other."""
    return name[max(name.rfind("["), name.rfind(".")) + 1 :]


def _are_independent(others: Iterable[tuple[int, int]], known: set[tuple[int, int]]) -> bool:
    """Return True if there are others, none of which follows from known ones."""
    return bool(others) and not any(_follows(each, known) for each in others)


def _follows(other: tuple[int, int], known: set[tuple[int, int]]) -> bool:
    before, after = other
    factors = {Fraction(y, x or 1) for x, y in known}
    both = factors | {1 / factor for factor in factors if factor}
    products = {
        Fraction(prod(each))
        for count in range(1, _MOST_PARTS + 1)
        for each in combinations_with_replacement(both, count)
    }
    is_multiple = any(
        abs(Fraction(after, before or 1) / each - 1) <= _TOLERANCE for each in products if each
    )
    growths = {times * (y - x) for x, y in known for times in range(1, _MOST_PARTS + 1)}
    return is_multiple or after - before in growths
