"""Join reasons that follow from one change of a program, and name what changed."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from xlagraph.comparison.argument_names import (
    INDEX,
    are_repeated,
    branches,
    name_steps,
    pattern,
    stacked,
)
from xlagraph.comparison.changed_loops import is_now_looped
from xlagraph.comparison.held_values import HeldValue, Reserved, place_of_most
from xlagraph.comparison.independent_sizes import join_moved
from xlagraph.comparison.library_calls import library
from xlagraph.comparison.reasons import FoundReasons, Reason, ReasonKind, Subject
from xlagraph.comparison.size_changes import (
    are_of_all,
    changed_dimensions,
    element_factor,
    runs_for_parts,
)
from xlagraph.comparison.value_matching import Matching
from xlagraph.hlo.op_names import own_op_name
from xlagraph.hlo.shapes import dimensions

_NEW_VALUES: Final = (ReasonKind.REPLACED, ReasonKind.STACKED)
_LEAST_FUSIONS: Final = 5
"""Minimum number of fusions that a program has, if the other has none."""
_LEAST_SHARE: Final = 0.05
_OTHERS: Final = 10
"""Least number of values of a repeated part for each that it replaces."""
_LEAST_VALUES: Final = 3
"""Minimum share and number of the computed values that make an element type a change.

The share is that of the floats if the type comes with casts."""


class Sides(NamedTuple):
    """Two compilations, and the values that they have in common."""

    a: Reserved
    b: Reserved
    matching: Matching


def looped(reasons: FoundReasons, depth_a: int, depth_b: int) -> Reason:
    """Return the reason of what is computed in more loops on one side, of how many on each."""
    before = "loop" if depth_a and depth_b else ""
    return reasons.of(ReasonKind.LOOPED, before=before, after=_word(depth_b > depth_a))


def name_inputs(sides: Sides, reasons: FoundReasons) -> None:
    """Name the inputs that only one side has; new ones of a known pattern are repetitions."""
    for reason in reasons.found.values():
        if reason.subject.kind is ReasonKind.DTYPE:
            before = reason.subject.before
            changed = [
                b
                for a, b in sides.matching.pairs
                if b.is_input and a.dtype == before and b.dtype == reason.subject.after
            ]
            reason.input_count = len(changed)
            reason.inputs = branches_of(sides, changed)
    inputs = reasons.found.get(Subject(ReasonKind.INPUTS))
    if inputs is None:
        return
    only_a, only_b = (
        [value for value in side if value.is_input]
        for side in (sides.matching.only_a, sides.matching.only_b)
    )
    names_a, names_b = input_names(sides.a.values), input_names(sides.b.values)
    only, others = (only_b, names_a) if only_b else (only_a, names_b)
    if only_a and only_b:
        inputs.is_of_all_inputs = bool(names_a and names_b) and names_a.isdisjoint(names_b)
        gone, new = names_a - names_b, names_b - names_a
        if gone and new:  # some have the shapes of others
            inputs.count_a, inputs.count_b = len(gone), len(new)
            inputs.inputs = set(branches(sorted(new), names_a))
            inputs.scopes = set(branches(sorted(gone), names_b))
            join_moved(sides.matching, inputs, (only_a, only_b), reasons)
        else:  # in a list, what follows a new part has the name of another one
            inputs.inputs = input_names(only) - others
            inputs.scopes = input_names(only_a) - names_b if inputs.inputs else new
        return
    own = names_b if only_b else names_a
    # names are better known than which of several values of one shape is new
    is_known = len(own - others) == len(only)
    names = (set() if is_known else input_names(only) - others) or own - others
    inputs.inputs = set(branches(sorted(names), others))
    inputs.input_count = len(only)
    covered = sum(name.startswith(tuple(inputs.inputs)) for name in own)
    if covered > len(only):  # some of these are paired with inputs of other names
        inputs.scopes = set(branches(sorted(others - own), own))
    own_side, other_side = (sides.b, sides.a) if only_b else (sides.a, sides.b)
    if not are_repeated(names, others) or not _kinds(own_side, names) <= _kinds(other_side, others):
        return
    computed = [
        each
        for each in reasons.found.values()
        if each.subject.kind in (*_NEW_VALUES, ReasonKind.SCOPE_NEW, ReasonKind.SCOPE_GONE)
        # XLA may fuse a few values of the other program in another way
        and _OTHERS * (each.count_a if only_b else each.count_b) < max(each.count_a, each.count_b)
    ]
    # single inputs of a flat list, such as all states of an optimizer, are no part
    is_flat = all(INDEX.fullmatch(name_steps(each)[-1]) for each in inputs.inputs)
    is_flat &= len(inputs.inputs) >= len(only)
    if is_flat and not (computed and _are_layers(names, only, other_side)):
        return
    del reasons.found[inputs.subject]
    repeated = reasons.of(ReasonKind.REPEATED)
    repeated.inputs, repeated.input_count = inputs.inputs, inputs.input_count
    repeated.absorb(inputs)
    for reason in computed:
        repeated.join(reasons.found.pop(reason.subject))
    # a place in the list has another part: both programs have the values of both sizes
    sizes = reasons.found.get(Subject(ReasonKind.SIZE))
    if sizes and sizes.input_example is None and _has_shapes_of_both(sides, sizes.example):
        repeated.join(reasons.found.pop(sizes.subject))


def _has_shapes_of_both(sides: Sides, pair: Sequence[HeldValue | None]) -> bool:
    shapes = {value.shape for value in pair if value}
    return all(shapes <= {value.shape for value in side.values} for side in (sides.a, sides.b))


def _are_layers(names: Collection[str], values: Collection[HeldValue], others: Reserved) -> bool:
    """Return True if arrays of a list may be layers: they have the shapes of a part of the others.

    An optimizer has a state for all of them. The numbers of a generator are no weights, nor are
    the arrays of a batch, some of which are integers.
    """
    patterns = {pattern(name) for name in names}
    known = [
        value
        for value in others.values
        if value.is_input and pattern(value.op_name or "") in patterns and dimensions(value.shape)
    ]
    if not all(value.is_float for value in (*values, *known)):
        return False
    shapes = {value.shape for value in values}
    alike = {value.shape for value in known}
    is_part = shapes != alike and not are_of_all(values, others.values)
    return shapes <= alike and (len(shapes) == 1 or is_part)


def _kinds(side: Reserved, names: Collection[str]) -> set[tuple[str, str | None, int]]:
    """Return the patterns of the names of inputs with their types and numbers of dimensions."""
    return {
        (pattern(value.op_name), value.dtype, len(dimensions(value.shape) or ()))
        for value in side.values
        if value.is_input and value.op_name in names and value.op_name
    }


def name_first(sides: Sides, reasons: FoundReasons) -> None:
    """Name the value of another size that is computed first: it depends on none of the others."""
    sizes = reasons.found.get(Subject(ReasonKind.SIZE))
    if sizes is None or sizes.input_example is not None:
        return
    resized = [
        b
        for a, b in sides.matching.pairs
        if b.is_computed and b.line and element_factor(a, b) in sizes.factors - {Fraction(1)}
    ]
    sizes.first = min(resized, key=lambda value: (value.live_from, value.name), default=None)
    changed = changed_dimensions(sides.matching.pairs)
    if any(runs_for_parts(each, changed) for each in sizes.turns):
        sizes.turns = set()
    if len(sizes.turns) != 1:  # of several loops, the dimension says which
        sizes.dimensions = changed
        before, after = (side.mentions.loop_limits for side in (sides.a, sides.b))
        limits = {
            (before[name], after[name])
            for name in before.keys() & after.keys()
            if before[name] != after[name]
        } - {*sizes.dimensions}
        sizes.limits = limits.pop() if len(limits) == 1 else None


def join_loops(sides: Sides, reasons: FoundReasons) -> None:
    """Join a loop that only one side has with the repeated scopes and inputs it replaces."""
    for is_new, kind, replaced in (
        (True, ReasonKind.SCOPE_NEW, ReasonKind.SCOPE_GONE),
        (False, ReasonKind.SCOPE_GONE, ReasonKind.SCOPE_NEW),
    ):
        loop = reasons.found.get(Subject(kind, after="while"))
        has_ops = Subject(ReasonKind.LOOPED, after=_word(is_new)) in reasons.found
        if not loop and not has_ops:
            continue
        one_by_one, looping = (sides.a, sides.b) if is_new else (sides.b, sides.a)
        repeated = [
            each
            for each in reasons.found.values()
            if each.subject.kind is replaced
            and is_now_looped(each.subject.after, one_by_one.values, looping.values)
        ]
        stacks = _stacked_inputs(sides, is_new=is_new)
        if not (has_ops or repeated or stacks):  # another loop, which replaces nothing
            continue
        reason = reasons.of(ReasonKind.LOOPED, after=_word(is_new))
        for other in repeated:
            reason.scopes |= other.scopes
            reason.join(reasons.found.pop(other.subject))
        if loop:
            reason.join(reasons.found.pop(loop.subject))
        if stacks and (of_inputs := reasons.found.pop(Subject(ReasonKind.INPUTS), None)):
            reason.inputs = stacks
            reason.absorb(of_inputs)


def _stacked_inputs(sides: Sides, *, is_new: bool) -> set[str] | None:
    inputs = [
        {value.op_name or "": value.shape for value in side if value.is_input}
        for side in (sides.matching.only_a, sides.matching.only_b)
    ]
    one_by_one, stacks = inputs if is_new else inputs[::-1]
    return stacked(one_by_one, stacks)


def join_element_type(sides: Sides, reasons: FoundReasons) -> None:
    """Join what follows from an element type that only one side computes with."""
    of_type, counts, casts = zip(*map(_counts_of_types, (sides.a, sides.b)), strict=True)
    joined: tuple[ReasonKind, ...] = (ReasonKind.DTYPE, ReasonKind.CASTS, *_NEW_VALUES)
    of_one = [
        dtype
        for dtype in of_type[0].keys() | of_type[1].keys()
        if 0 in (of_type[0][dtype], of_type[1][dtype])
    ]
    only = [
        dtype
        for dtype in of_one
        if any(
            # an element type that a compiler chooses has no casts
            side[dtype] >= max(_LEAST_VALUES, _LEAST_SHARE * (side.total() if cast > other else of))
            for side, of, cast, other in zip(of_type, counts, casts, casts[::-1], strict=True)
        )
    ]
    typed = [each for each in reasons.found.values() if each.subject.kind is ReasonKind.DTYPE]
    if any(each.input_count for each in typed):
        return
    is_cast = any(each.kind is ReasonKind.CASTS for each in reasons.found)
    if not only and len(of_one) == 1 and is_cast:
        # of few values: the others that differ may have other reasons
        only, joined = of_one, (ReasonKind.DTYPE, ReasonKind.CASTS)
    if len(only) != 1:
        return
    (dtype,) = only
    is_new = bool(of_type[1][dtype])
    reason = reasons.of(ReasonKind.NARROWED, **{"after" if is_new else "before": dtype})
    reasons.absorb(joined, reason)
    reason.count_a, reason.count_b = of_type[0][dtype], of_type[1][dtype]
    reason.of = counts[0], counts[1]
    reason.labels = place_of_most((sides.a, sides.b)[is_new].values, dtype)


def _counts_of_types(side: Reserved) -> tuple[Counter[str], int, int]:
    """Return how many computed floats have each type, the number of values, and that of casts."""
    computed = [value for value in side.values if value.is_computed]
    floats = Counter(value.dtype or "" for value in computed if value.is_float)
    return floats, len(computed), side.mentions.count("convert_element_type")


def join_fusions(sides: Sides, reasons: FoundReasons) -> None:
    """Join values without a partner if one program has no fusion of several instructions."""
    before, after = (_fusions(side.values) for side in (sides.a, sides.b))
    if before is None or after is None or min(before, after) or before + after < _LEAST_FUSIONS:
        return
    reason = reasons.of(ReasonKind.FUSED, after=_word(after > 0))
    reason.count_a, reason.count_b = before, after
    reasons.absorb((ReasonKind.REPLACED,), reason)


def _fusions(values: Sequence[HeldValue]) -> int | None:
    """Return how many fusions XLA made of several instructions; None if that is not known."""
    if not all(value.opcode for value in values):
        return None
    names = {value.name for value in values if value.opcode == "fusion" and not library(value)}
    # a CPU wraps single instructions, too
    return sum(not name.startswith("wrapped_") for name in names)


def join_split(reasons: FoundReasons) -> None:
    """Join values without a partner if the program is split over another number of devices."""
    for split in [each for each in reasons.found.values() if each.subject.kind is ReasonKind.SPLIT]:
        reasons.absorb(_NEW_VALUES, split)


def join_placed(reasons: FoundReasons) -> None:
    """Join temporary values that leave their bytes to others, if these take almost as many."""
    placed, live = (
        reasons.found.get(Subject(kind)) for kind in (ReasonKind.PLACED, ReasonKind.PEAK)
    )
    if placed is None or live is None:
        return
    less, more = sorted((placed, live), key=lambda reason: abs(reason.growth_bytes))
    if more.cancels(less):
        more.absorb(reasons.found.pop(less.subject))


def join_order(sides: Sides, reasons: FoundReasons) -> None:
    """Join what follows from the order if both sides have the same values in another one."""
    orders = [_order(side.values) for side in (sides.a, sides.b)]
    joined = (ReasonKind.PEAK, ReasonKind.PLACED, ReasonKind.IDLE)
    is_joined = any(each.kind in (*joined, ReasonKind.FRAGMENTATION) for each in reasons.found)
    if orders[0] == orders[1] or Counter(orders[0]) != Counter(orders[1]) or not is_joined:
        return
    growth = sum(
        each.growth_bytes for each in reasons.found.values() if each.subject.kind in joined
    )
    gaps = reasons.found.get(Subject(ReasonKind.FRAGMENTATION))
    is_most = gaps is not None and abs(gaps.growth_bytes) > abs(growth)
    reason = reasons.of(ReasonKind.ORDER, after="fragmentation" if is_most else "")
    reason.count_a = reason.count_b = len(orders[0])
    reasons.absorb((*joined, ReasonKind.FRAGMENTATION) if is_most else joined, reason)


def branches_of(sides: Sides, values: Sequence[HeldValue]) -> set[str]:
    """Return the branches of inputs among values that no other input has."""
    names = input_names(values)
    return set(branches(names, input_names(sides.b.values) - names))


def input_names(values: Iterable[HeldValue]) -> set[str]:
    """Return the names of the inputs among values."""
    return {value.op_name for value in values if value.is_input and value.op_name}


def _word(is_new: bool) -> str:
    return "new" if is_new else "gone"


def _order(values: Iterable[HeldValue]) -> list[tuple[str | None, ...]]:
    """Return what the program computes in the schedule's order, without names."""
    computed = [value for value in values if value.is_computed]
    return [
        (own_op_name(value.op_name), value.opcode, value.shape_index, value.shape)
        for value in sorted(computed, key=lambda value: (value.live_from, value.name))
    ]
