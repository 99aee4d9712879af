"""Match the values of two compilations by op, shape and role, not by instruction name."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Final, NamedTuple

from xlagraph.comparison.argument_names import name_steps, pattern
from xlagraph.comparison.held_values import HeldValue
from xlagraph.comparison.loop_depths import are_of_one_loop, least_depths
from xlagraph.comparison.moved_stacks import pair_holders
from xlagraph.comparison.renumbered_scopes import key_of_lines, key_of_renumbered
from xlagraph.comparison.size_changes import (
    InputSizes,
    differ_in_one_factor,
    element_factor,
    is_identifying,
    without_ones,
)
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.op_names import (
    is_backward,
    outside_loops,
    own_op_name,
    primitive,
    stem,
)
from xlagraph.hlo.shapes import dimensions


class Matching(NamedTuple):
    """Pairs of matching values, and the values without a partner."""

    pairs: tuple[tuple[HeldValue, HeldValue], ...]
    only_a: tuple[HeldValue, ...]
    only_b: tuple[HeldValue, ...]


def _name_without_step(value: HeldValue, at: int) -> tuple[Hashable, ...] | None:
    steps = name_steps(value.op_name or "") if _is_named_input(value) else []
    if len(steps) < -at:
        return None
    steps[at] = "*"
    return *steps, value.shape


def _end_of_name(value: HeldValue, steps: int) -> tuple[Hashable, ...] | None:
    known = name_steps(value.op_name or "") if _is_named_input(value) else []
    return (*known[-steps:], value.shape) if len(known) >= steps else None


_Key = Callable[[HeldValue], tuple[Hashable, ...] | None]

_MOST_TRIED: Final = 8
"""Maximum number of values with an equal key that are tried, so that the search is linear."""

_RARE_FACTOR: Final = 4
"""If a factor occurs this many times less often than another one, it pairs other ops."""

_SAME_INPUT: Final[Sequence[_Key]] = (
    lambda value: (value.op_name, value.shape_index) if _is_named_input(value) else None,
    # the only trees of unnamed arguments whose sizes may differ have as many of them
    lambda value: (value.name,) if value.is_input and not value.op_name else None,
)
# From exact to loose. Each step matches values with equal keys that earlier steps did not
# match. A key that is None matches nothing.
_SAME_SHAPE: Final[Sequence[_Key]] = (
    # the same op, shape and role, first of one line
    lambda value: (*_op(value), value.shape, value.part, value.user_line),
    lambda value: (*_op(value), value.shape, value.part),
    # the same op and shape, in an allocation of another role
    lambda value: (*_op(value), value.shape),
    # made by an instruction of another kind
    lambda value: _of_op(value, own_op_name(value.op_name), value.shape),
    # the same op, once inside a checkpoint or transformation and once outside
    lambda value: _of_op(value, stem(value.op_name), value.shape),
    # the same op, once for each of several parts, with a dimension of one element
    lambda value: _of_op(value, stem(value.op_name), value.dtype, without_ones(value)),
)
_OTHER_TYPE: Final[Sequence[_Key]] = (
    lambda value: _of_op(value, *_op(value), value.is_float, dimensions(value.shape)),
    lambda value: _of_op(value, stem(value.op_name), value.is_float, dimensions(value.shape)),
)
_OTHER_SIZE: Final[Sequence[_Key]] = (
    lambda value: _of_op(value, *_op(value), value.dtype, _rank(value)),
)
_OTHER_SIZE_RECOMPUTED: Final[Sequence[_Key]] = (
    # the same op, once inside a checkpoint and once outside
    lambda value: _of_op(value, stem(value.op_name), value.opcode, value.dtype, _rank(value)),
)
_UNNAMED_OTHER_SIZE: Final[Sequence[_Key]] = (
    # what the compiler makes of ops without a name
    lambda value: (
        None
        if value.op_name or value.opcode == "parameter"
        else (value.opcode, value.shape_index, value.dtype, _rank(value), value.part)
    ),
)
_SCOPE_OTHER_SIZE: Final[Sequence[_Key]] = (
    # a fusion that ends with another op of the same scope
    lambda value: _of_op(
        value, *stem(value.op_name)[:-1], value.opcode, value.dtype, _rank(value), value.part
    ),
)
_OTHER_RANK: Final[Sequence[_Key]] = (
    # XLA leaves out dimensions of one element
    lambda value: _of_op(value, *_op(value), value.dtype),
)
_OF_MANY: Final[Sequence[_Key]] = (
    # the same op of many examples at once, as with `jax.vmap`
    lambda value: _of_op(value, stem(value.op_name), value.dtype),
)
_OTHER_LOOP: Final[Sequence[_Key]] = (
    # the same op, once in more loops than the other
    lambda value: _of_op(value, outside_loops(value.op_name), value.dtype, _rank(value)),
)
_RENAMED_INPUT: Final[Sequence[_Key]] = (
    # an argument whose name differs in one step, the last ones first
    *(partial(_name_without_step, at=-step) for step in range(1, 9)),
    # an argument in a deeper or flatter tree
    *(partial(_end_of_name, steps=steps) for steps in range(8, 0, -1)),
)
_OF_PERMUTED: Final[Sequence[_Key]] = (
    # an argument that is known by its place alone
    lambda value: (value.op_name, value.shape) if _is_counted_input(value) else None,
    lambda value: (pattern(value.op_name or ""), value.shape) if _is_counted_input(value) else None,
)
_MOVED_INPUT: Final[Sequence[_Key]] = (
    # the last part of a list that has other parts before it
    lambda value: (
        (pattern(value.op_name or ""), value.shape) if _is_identified_input(value) else None
    ),
)
_INPUT_OF_OTHER_SIZE: Final[Sequence[_Key]] = (
    # an argument of a tree that has other parts too
    lambda value: (value.op_name, value.dtype) if _is_identified_input(value) else None,
)
_RENAMED_INPUT_OF_OTHER_SIZE: Final[Sequence[_Key]] = (
    lambda value: (value.dtype, _rank(value)) if _is_named_input(value) else None,
)
_OTHER_NAME: Final[Sequence[_Key]] = (
    # the same operation in a scope of another name
    lambda value: (value.opcode, value.shape_index, *_operation(value), value.shape),
)


def match_values(a: Sequence[HeldValue], b: Sequence[HeldValue]) -> Matching:
    """Match the values of two compilations.

    Values with equal keys are paired in the order in which the schedule writes them. Values that
    hold bytes on both sides are matched first: a program in f32 keeps the f32 value, and one in
    bf16 keeps its narrow copy. Linear in the number of values, except for sorting.
    """
    pairs: list[tuple[HeldValue, HeldValue]] = []
    left_a, left_b = sorted(a, key=_place), sorted(b, key=_place)
    sizes = InputSizes(a, b)
    # another order of the same arguments, as the names that sort them are not in it
    counts = [Counter(filter(None, map(_OF_PERMUTED[-1], values))) for values in (a, b)]
    for key in _OF_PERMUTED if counts[0] == counts[1] else ():
        found, left_a, left_b = _match_by(key, left_a, left_b)
        pairs += found
    for key in _SAME_INPUT:
        found, left_a, left_b = _match_by(key, left_a, left_b, sizes.are_related)
        pairs += found
    found, left_a, left_b = _match_by(key_of_lines(a, b), left_a, left_b)
    pairs += found
    holding_a, idle_a = _partition(left_a)
    holding_b, idle_b = _partition(left_b)
    of_same_shape = (*_SAME_SHAPE, *_OTHER_TYPE, key_of_renumbered(a, b))
    for key in of_same_shape:
        found, holding_a, holding_b = _match_by(key, holding_a, holding_b)
        pairs += found
    left_a = sorted((*holding_a, *idle_a), key=_place)
    left_b = sorted((*holding_b, *idle_b), key=_place)
    for key in of_same_shape:
        found, left_a, left_b = _match_by(key, left_a, left_b)
        pairs += found
    sizes.learn_most_frequent(_pairs_in_order(left_a, left_b))
    of_sizes = ((key, sizes.are_alike) for key in (*_OTHER_SIZE, *_OTHER_SIZE))
    known_sizes = (*_OTHER_SIZE_RECOMPUTED, *_UNNAMED_OTHER_SIZE)
    of_recomputed = ((key, sizes.are_known_alike) for key in known_sizes)
    of_products = ((key, sizes.are_related) for key in (*_OTHER_SIZE, *_OTHER_RANK))
    of_many = ((key, sizes.are_of_many) for key in _OF_MANY)
    for key, are_related in (*of_sizes, *of_recomputed, *of_products, *of_many):
        found, left_a, left_b = _match_by(key, left_a, left_b, are_related)
        sizes.learn(found)
        pairs += found
    for key in _SCOPE_OTHER_SIZE:
        holding_a, idle_a = _partition(left_a)
        holding_b, idle_b = _partition(left_b)
        found, holding_a, holding_b = _match_by(key, holding_a, holding_b, sizes.are_other_sizes)
        pairs += found
        left_a, left_b = [*holding_a, *idle_a], [*holding_b, *idle_b]
    depths_a, depths_b = least_depths(a), least_depths(b)
    for key in _OTHER_LOOP:
        found, left_a, left_b = _match_by(
            key, left_a, left_b, partial(are_of_one_loop, depths_a, depths_b)
        )
        factors = Counter(element_factor(*pair) for pair in found)
        most = max((count for factor, count in factors.items() if factor != 1), default=0)
        for a_value, b_value in found:
            factor = element_factor(a_value, b_value)
            lines = [(each.user_line, each.source_line) for each in (a_value, b_value)]
            is_same_line = lines[0][0] and lines[0] == lines[1]
            is_frequent = factors[factor] * _RARE_FACTOR >= most
            if factor == 1 or (is_frequent and (factors[factor] > 1 or is_same_line)):
                pairs.append((a_value, b_value))
            else:  # a few values alone may be of another op of the same name
                left_a.append(a_value)
                left_b.append(b_value)
    for key in _MOVED_INPUT:
        found, left_a, left_b = _match_by(key, left_a, left_b)
        pairs += found
    for key in _INPUT_OF_OTHER_SIZE:
        found, left_a, left_b = _match_by(key, left_a, left_b, differ_in_one_factor)
        pairs += found
    for key in _RENAMED_INPUT_OF_OTHER_SIZE:
        found, left_a, left_b = _match_by(key, left_a, left_b, sizes.are_renamed)
        pairs += found
    left_a.sort(key=_steps_of_name)  # a parameter before the state of an optimizer for it
    for key in (*_RENAMED_INPUT, *_OTHER_NAME):
        found, left_a, left_b = _match_by(key, left_a, left_b)
        pairs += found
    pairs, left_b = pair_holders(pairs, left_b)
    swapped, left_a = pair_holders([(b, a) for a, b in pairs], left_a)
    return Matching(tuple((a, b) for b, a in swapped), tuple(left_a), tuple(left_b))


def _pairs_in_order(
    a: Iterable[HeldValue], b: Iterable[HeldValue]
) -> list[tuple[HeldValue, HeldValue]]:
    """Return the values of ops that both programs have equally often, in the schedule's order."""
    of_op: defaultdict[Hashable, tuple[list[HeldValue], list[HeldValue]]]
    of_op = defaultdict(lambda: ([], []))
    for side, values in enumerate((a, b)):
        for value in values:
            of_op[_OTHER_SIZE[0](value)][side].append(value)
    return [
        pair
        for op, (of_a, of_b) in of_op.items()
        if op is not None and len(of_a) == len(of_b)
        for pair in zip(of_a, of_b, strict=True)
    ]


def _partition(values: Sequence[HeldValue]) -> tuple[list[HeldValue], list[HeldValue]]:
    holding = [value for value in values if value.held_bytes]
    return holding, [value for value in values if not value.held_bytes]


def _match_by(
    key: _Key,
    a: Sequence[HeldValue],
    b: Sequence[HeldValue],
    are_related: Callable[[HeldValue, HeldValue], bool] = lambda _a, _b: True,
) -> tuple[list[tuple[HeldValue, HeldValue]], list[HeldValue], list[HeldValue]]:
    waiting = grouped((known, value) for value in reversed(b) if (known := key(value)) is not None)
    pairs, left_a = [], []
    for value in a:
        known = key(value)
        candidates = waiting.get(known, []) if known is not None else []
        places = range(len(candidates) - 1, max(len(candidates) - _MOST_TRIED, 0) - 1, -1)
        related = [each for each in places if are_related(value, candidates[each])]
        place = min(related, key=partial(_difference, value, candidates), default=None)
        if place is None:
            left_a.append(value)
        else:
            pairs.append((value, candidates.pop(place)))
    taken = {id(partner) for _, partner in pairs}
    return pairs, left_a, [value for value in b if id(value) not in taken]


def _difference(
    value: HeldValue, candidates: Sequence[HeldValue], place: int
) -> tuple[int, int, int]:
    """Return how many dimensions of a candidate differ, and by how many steps an input's name.

    Of equal ones, the shortest name is a parameter rather than the state of an optimizer for it.
    """
    other = candidates[place]
    a, b = dimensions(value.shape) or (), dimensions(other.shape) or ()
    steps = [_steps_of_name(each) for each in (value, other)]
    return sum(x != y for x, y in zip_longest(a, b)), abs(steps[0] - steps[1]), steps[1]


def _steps_of_name(value: HeldValue) -> int:
    return len(name_steps(value.op_name or "")) if value.is_input else 0


def _place(value: HeldValue) -> tuple[int, str, str]:
    return value.live_from, value.name, value.shape_index or ""


def _of_op(value: HeldValue, *key: Hashable) -> tuple[Hashable, ...] | None:
    # a conversion of an input has the input's op name
    return (value.opcode == "parameter", *key) if value.op_name else None


def _is_named_input(value: HeldValue) -> bool:
    return value.is_input and bool(value.op_name)


def _is_identified_input(value: HeldValue) -> bool:
    return _is_named_input(value) and is_identifying(value.op_name or "")


def _is_counted_input(value: HeldValue) -> bool:
    return _is_named_input(value) and not is_identifying(value.op_name or "")


def _op(value: HeldValue) -> tuple[str | None, str | None, str | None]:
    return own_op_name(value.op_name), value.opcode, value.shape_index


def _operation(value: HeldValue) -> tuple[str | None, bool]:
    # the op name of a parameter is an argument's name
    is_parameter = value.opcode == "parameter"
    return "" if is_parameter else primitive(value.op_name), is_backward(value.op_name)


def _rank(value: HeldValue) -> int | None:
    found = dimensions(value.shape)
    return None if found is None else len(found)
