"""Match the values of two compilations by op, shape and role, not by instruction name."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Final, NamedTuple

from xlagraph.comparison.held_values import HeldValue
from xlagraph.comparison.size_changes import InputSizes, is_split
from xlagraph.hlo.op_names import in_loop, outside_loops, own_op_name, primitive, stem
from xlagraph.hlo.shapes import dimensions

__all__ = ["Matching", "match_values"]


class Matching(NamedTuple):
    """Pairs of matching values, and the values without a partner."""

    pairs: tuple[tuple[HeldValue, HeldValue], ...]
    only_a: tuple[HeldValue, ...]
    only_b: tuple[HeldValue, ...]


_Key = Callable[[HeldValue], tuple[Hashable, ...] | None]

_SAME_INPUT: Final[Sequence[_Key]] = (
    lambda value: (value.op_name, value.shape_index) if _is_named_input(value) else None,
)
# From exact to loose. Each step matches values with equal keys that earlier steps did not
# match. A key that is None matches nothing.
_SAME_SHAPE: Final[Sequence[_Key]] = (
    # the same op, shape and role
    lambda value: (*_op(value), value.shape, value.part),
    # the same op and shape, in an allocation of another role
    lambda value: (*_op(value), value.shape),
    # made by an instruction of another kind
    lambda value: _of_op(value, own_op_name(value.op_name), value.shape),
    # the same op, once inside a checkpoint or transformation and once outside
    lambda value: _of_op(value, stem(value.op_name), value.shape),
)
_OTHER_TYPE: Final[Sequence[_Key]] = (
    lambda value: _of_op(value, *_op(value), dimensions(value.shape)),
    lambda value: _of_op(value, stem(value.op_name), dimensions(value.shape)),
)
_OTHER_SIZE: Final[Sequence[_Key]] = (
    lambda value: _of_op(value, *_op(value), value.dtype, _rank(value)),
)
_OTHER_LOOP: Final[Sequence[_Key]] = (
    # the same op, once in a loop and once not
    lambda value: _of_op(value, outside_loops(value.op_name), value.dtype, _rank(value)),
)
_OTHER_NAME: Final[Sequence[_Key]] = (
    # the same operation in a scope of another name
    lambda value: (value.opcode, value.shape_index, _operation(value), value.shape),
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
    for key in _SAME_INPUT:
        found, left_a, left_b = _match_by(key, left_a, left_b, sizes.are_related)
        pairs += found
    holding_a, idle_a = _partition(left_a)
    holding_b, idle_b = _partition(left_b)
    for key in (*_SAME_SHAPE, *_OTHER_TYPE):
        found, holding_a, holding_b = _match_by(key, holding_a, holding_b)
        pairs += found
    left_a = sorted((*holding_a, *idle_a), key=_place)
    left_b = sorted((*holding_b, *idle_b), key=_place)
    for key in (*_SAME_SHAPE, *_OTHER_TYPE):
        found, left_a, left_b = _match_by(key, left_a, left_b)
        pairs += found
    for key in _OTHER_SIZE:
        found, left_a, left_b = _match_by(key, left_a, left_b, sizes.are_related)
        pairs += found
    for key in _OTHER_LOOP:
        found, left_a, left_b = _match_by(key, left_a, left_b, _are_of_one_loop)
        pairs += found
    for key in _OTHER_NAME:
        found, left_a, left_b = _match_by(key, left_a, left_b)
        pairs += found
    return Matching(tuple(pairs), tuple(left_a), tuple(left_b))


def _partition(values: Sequence[HeldValue]) -> tuple[list[HeldValue], list[HeldValue]]:
    holding = [value for value in values if value.held_bytes]
    return holding, [value for value in values if not value.held_bytes]


def _match_by(
    key: _Key,
    a: Sequence[HeldValue],
    b: Sequence[HeldValue],
    are_related: Callable[[HeldValue, HeldValue], bool] = lambda _a, _b: True,
) -> tuple[list[tuple[HeldValue, HeldValue]], list[HeldValue], list[HeldValue]]:
    waiting: defaultdict[Hashable, list[HeldValue]] = defaultdict(list)
    for value in reversed(b):
        if (known := key(value)) is not None:
            waiting[known].append(value)
    pairs, left_a = [], []
    for value in a:
        known = key(value)
        if known is not None and waiting.get(known) and are_related(value, waiting[known][-1]):
            pairs.append((value, waiting[known].pop()))
        else:
            left_a.append(value)
    taken = {id(partner) for _, partner in pairs}
    return pairs, left_a, [value for value in b if id(value) not in taken]


def _place(value: HeldValue) -> tuple[int, str, str]:
    return value.live_from, value.name, value.shape_index or ""


def _are_of_one_loop(a: HeldValue, b: HeldValue) -> bool:
    return in_loop(a.op_name) is not in_loop(b.op_name) and is_split(a, b)


def _of_op(value: HeldValue, *key: Hashable) -> tuple[Hashable, ...] | None:
    # a conversion of an input has the input's op name
    return (value.opcode == "parameter", *key) if value.op_name else None


def _is_named_input(value: HeldValue) -> bool:
    return value.opcode == "parameter" and bool(value.op_name)


def _op(value: HeldValue) -> tuple[str | None, str | None, str | None]:
    return own_op_name(value.op_name), value.opcode, value.shape_index


def _operation(value: HeldValue) -> str | None:
    # the op name of a parameter is an argument's name
    return value.opcode if value.opcode == "parameter" else primitive(value.op_name)


def _rank(value: HeldValue) -> int | None:
    found = dimensions(value.shape)
    return None if found is None else len(found)
