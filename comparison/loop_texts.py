"""Describe loops, ops that are computed more often, and numbers of elements."""

from fractions import Fraction

from xlagraph.comparison.argument_names import folded
from xlagraph.comparison.loop_turns import MAPPED
from xlagraph.comparison.reasons import Reason
from xlagraph.comparison.repeated_ops import OF_GRADIENTS, PRODUCTS, WITHOUT_VMAP
from xlagraph.comparison.replaced_values import largest
from xlagraph.presentation.byte_sizes import counted


def repeated(reason: Reason) -> str:
    """Return how much more often one program computes ops that both have."""
    if reason.subject.before == PRODUCTS:
        products = f"{reason.count_b:,} matrix products or convolutions, {reason.count_a:,} before"
        return f"{products} ({folded(reason.inputs)})"
    ((before, after),) = reason.turns
    is_more = after > before
    often = f"{Fraction(after, before)}{' times' if is_more else ''}"
    of = f" of {OF_GRADIENTS}" if OF_GRADIENTS in reason.scopes else ""
    text = f"{reason.count_b:,} of {counted(reason.of[1], 'op')}{of} computed"
    sizes = f", on {times(reason.factors)} each" if reason.factors else ""
    vmap = "no longer" if is_more else "now"
    vmaps = f", {vmap} in jax.vmap" if WITHOUT_VMAP in reason.scopes else ""
    return f"{text} {often} as often{sizes}{vmaps} ({folded(reason.inputs)})"


def turns(before: int, after: int) -> str:
    """Return how often a loop runs, and ran; 0 times if there is none."""
    if before and after:
        return f"a loop has {counted(after, 'iteration')}, was {before:,}"
    verb = "gone" if before else "new"
    return f"a loop of {counted(before or after, 'iteration')} is {verb}"


def changed_numbers(reason: Reason) -> str:
    """Return which numbers of a program make its values larger; empty if none is known."""
    found = []
    if reason.limits:
        before, after = reason.limits
        found.append(f"a loop ends after {counted(after, 'iteration')} at most, was {before:,}")
    if reason.dimensions:
        (before, after), *others = reason.dimensions
        inverse = "".join(f", and one of {x:,} is {y:,}" for x, y in others)
        found.append(f"a dimension of {before:,} is {after:,} now{inverse}")
    return f"{'; '.join(found)}: " if found else ""


def looped(reason: Reason) -> str:
    """Return what is in more or fewer loops."""
    verb = "now" if reason.subject.after == "new" else "no longer"
    if reason.scopes or reason.inputs:
        what = folded(reason.scopes or reason.inputs)
        stack = (
            f", with {folded(reason.inputs)} in stacks" if reason.scopes and reason.inputs else ""
        )
        return f"{what} {verb} in a loop{stack}"
    values = counted(max(reason.count_a, reason.count_b), "value")
    a, b = reason.example
    is_other = reason.factors and a is not None and b is not None and a.shape != b.shape
    if _is_against(reason):  # most bytes are those of values that the other program has not
        sizes = largest(reason)
    else:
        sizes = f", with {times(reason.factors)}{shapes(reason)}" if is_other else ""
    loops = [f"{turns(*each)} ({', '.join(reason.labels)}); " for each in reason.turns]
    more = "more" if reason.subject.after == "new" else "less"
    where = (
        f"now computed in one loop {more}"
        if reason.subject.before
        else f"{verb} computed in a loop"
    )
    return f"{''.join(loops)}{values} {where}{sizes}"


def _is_against(reason: Reason) -> bool:
    """Return True if values have fewer elements and more bytes, or the reverse."""
    factors = reason.factors - {Fraction(1)}
    is_more = reason.growth_bytes > 0
    return bool(factors) and all((factor > 1) is not is_more for factor in factors)


def unrolled(reason: Reason) -> str:
    """Return how often a loop runs on both sides; 0 times if one computes its steps one by one."""
    checkpoint = f", and its checkpoint {' and '.join(reason.inputs)}" if reason.inputs else ""
    return f"{_steps(reason)}{checkpoint}"


def _steps(reason: Reason) -> str:
    ((before, after),) = reason.turns
    more, fewer = max(before, after), min(before, after)
    place = ", ".join(sorted(reason.scopes))
    _, nested, nests = reason.subject
    if nests == MAPPED:
        return f"jax.vmap over {more:,} elements replaces a loop of as many iterations ({place})"
    if nested == MAPPED:
        return f"a loop of {more:,} iterations replaces jax.vmap over as many elements ({place})"
    if "×" in nests:
        return f"a loop of {more:,} iterations is now nested loops of {nests} ({place})"
    if "×" in nested:
        return f"nested loops of {nested} iterations are now one of {more:,} ({place})"
    verb = "is" if before > after else "is no longer"
    if not fewer:
        return f"a loop of {counted(more, 'iteration')} {verb} unrolled ({place})"
    steps = f"of {more // fewer} steps each"
    if before > after:
        return f"a loop {verb} unrolled ({place}): {fewer:,} iterations {steps}, {more:,} before"
    return f"a loop {verb} unrolled ({place}): {more:,} iterations, {fewer:,} {steps} before"


def times(factors: set[Fraction]) -> str:
    """Return how many elements values have, divided by the number before."""
    if len(factors) != 1:
        if not factors or min(factors) < 1 < max(factors):
            return "other shapes"
        return "more elements" if min(factors) >= 1 else "fewer elements"
    (factor,) = factors
    if factor == 1:
        return "another shape"
    if factor > 1:
        return f"{float(factor):.3g} times as many elements" if factor < 1000 else "more elements"
    is_short = factor.numerator == 1 or factor.denominator < 1000
    share = factor if is_short else f"{float(factor):.3g}"
    return f"{share} of the elements"


def shapes(reason: Reason) -> str:
    """Return the shapes of the value with the largest change."""
    a, b = reason.example
    if a is None or b is None or a.shape.startswith("("):
        return ""
    return f", such as {a.shape} → {b.shape}"
