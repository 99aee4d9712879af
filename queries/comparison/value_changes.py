"""Match the values of two sides: which one is new, gone, grown, shrunk or reshaped.

Values are matched by what they are, never by name, for compilers number anew: first with
everything equal, then by op name, opcode, tuple index, element type and rank, then both
again with the counters in the op name left out. Of those that match alike, the largest
goes with the largest. So a change of shape is a change, not one gone and one new.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, NamedTuple

Group = tuple[str | int | float | bool | None, ...]
"""The cells that name a group; None where the dump does not tell."""


RESHAPED: Final = "reshaped"
"""A change of shape that leaves the bytes as they were."""
SAME: Final = "same"
"""No change."""


class ValueTraits(NamedTuple):
    """A value, as far as it can be known again in another compilation."""

    op_name: str | None
    opcode: str | None
    shape_index: str | None
    shape: str | None
    dtype: str | None
    size_bytes: int
    """Assigned."""


# a counter at the end of a part: dense_1/MatMul_3, fusion.12
_COUNTER: Final = re.compile(r"[._]\d+(?=/|$)")


def match_values(
    a: Mapping[ValueTraits, int], b: Mapping[ValueTraits, int]
) -> list[tuple[Group, int, int]]:
    """Match the values of two sides, each given with how many there are.

    Gives (change, op name, opcode, shape index, shape before, shape after) with the bytes
    before and after, in no order. The change is new, gone, grown, shrunk, reshaped or same.
    """
    same = Counter(a) & Counter(b)
    bytes_a: Counter[Group] = Counter()
    for value, count in same.items():
        bytes_a[_change(value, value)] += count * value.size_bytes
    bytes_b = bytes_a.copy()
    left_a, left_b = (
        sorted((Counter(side) - same).elements(), key=_largest_first) for side in (a, b)
    )
    pairs: list[tuple[ValueTraits | None, ValueTraits | None]] = []
    for alike in (_kind, _uncounted, _kind_uncounted):
        matched, left_a, left_b = _match(left_a, left_b, alike)
        pairs += matched
    pairs += [(value, None) for value in left_a]
    pairs += [(None, value) for value in left_b]
    for before, after in pairs:
        group = _change(before, after)
        bytes_a[group] += before.size_bytes if before else 0
        bytes_b[group] += after.size_bytes if after else 0
    return [(group, bytes_a[group], bytes_b[group]) for group in bytes_a]


def _largest_first(value: ValueTraits) -> tuple[int, str]:
    return -value.size_bytes, str(value)


def _match(
    a: Sequence[ValueTraits], b: Sequence[ValueTraits], alike: Callable[[ValueTraits], Hashable]
) -> tuple[list[tuple[ValueTraits, ValueTraits]], list[ValueTraits], list[ValueTraits]]:
    """Pair what is alike in the order given; what is left over keeps that order."""
    places: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for place, value in enumerate(b):
        places[alike(value)].append(place)
    matched: list[tuple[ValueTraits, ValueTraits]] = []
    left_a: list[ValueTraits] = []
    taken: set[int] = set()
    for value in a:
        if waiting := places[alike(value)]:
            taken.add(waiting[0])
            matched.append((value, b[waiting.popleft()]))
        else:
            left_a.append(value)
    return matched, left_a, [value for place, value in enumerate(b) if place not in taken]


def _kind(value: ValueTraits) -> Hashable:
    return (*value[:3], value.dtype, _rank(value.shape))


def _kind_uncounted(value: ValueTraits) -> Hashable:
    return _kind(_uncounted(value))


def _uncounted(value: ValueTraits) -> ValueTraits:
    name = value.op_name
    return value if name is None else value._replace(op_name=_COUNTER.sub("", name))


def _rank(shape: str | None) -> int | None:
    # f32[2,3] has two; a tuple or a token has none
    if shape is None or shape.startswith("(") or "[" not in shape:
        return None
    bounds = shape[shape.index("[") + 1 : shape.index("]")]
    return bounds.count(",") + 1 if bounds else 0


def _change(before: ValueTraits | None, after: ValueTraits | None) -> Group:
    match before, after:
        case None, ValueTraits():
            change = "new"
        case ValueTraits(), None:
            change = "gone"
        case ValueTraits(), ValueTraits() if after.size_bytes != before.size_bytes:
            change = "grown" if after.size_bytes > before.size_bytes else "shrunk"
        case ValueTraits(), ValueTraits() if after.shape != before.shape:
            change = RESHAPED
        case _:
            change = SAME
    known = after or before
    assert known is not None  # noqa: S101 - a pair has at least one side
    shapes = (before.shape if before else None, after.shape if after else None)
    return (change, known.op_name, known.opcode, known.shape_index, *shapes)
