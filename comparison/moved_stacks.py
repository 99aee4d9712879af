"""Match stacks of loops, and sums, whose bytes another value holds at the peak of one program.

wide.arg  f32[4096,64,64]   64 MiB   of one program, at whose peak a loop fills the stack
wide.arg  f32[4096,64,64]    0 MiB   of the other one, where it still waits for the loop
zeros     f32[4096,64,64]   64 MiB

So does the sum of a scatter-add, which starts as zeros of the same line.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from xlagraph.comparison.held_values import HeldValue, SourceLine
from xlagraph.hlo.op_names import primitive, stem

Pairs = list[tuple[HeldValue, HeldValue]]
_Key = tuple[str | None, str, SourceLine | int | None]
_ZEROS = "broadcast_in_dim"
"""Primitive of an array of zeros, to which a scatter adds."""


def pair_holders(
    pairs: Iterable[tuple[HeldValue, HeldValue]], only: Sequence[HeldValue]
) -> tuple[Pairs, list[HeldValue]]:
    """Return pairs and values without a partner after values of the second program are swapped.

    A value without a partner takes the place of one of the same op and shape that holds no bytes,
    if that one's partner holds some: both programs have the stack, or the sum.
    """
    holders: defaultdict[_Key, list[HeldValue]] = defaultdict(list)
    for value in only:
        if value.held_bytes and (value.is_stack or primitive(value.op_name) == _ZEROS):
            holders[_key(value)].append(value)
    found: Pairs = []
    swapped: dict[HeldValue, HeldValue] = {}
    for a, b in pairs:
        is_moved = a.is_stack is b.is_stack and a.held_bytes and not b.held_bytes
        if is_moved and a.shape == b.shape and (of_value := holders[_key(b)]):
            holder = of_value.pop()
            swapped[holder] = b
            found.append((a, holder))
        else:
            found.append((a, b))
    return found, [swapped.get(value, value) for value in only]


def _key(value: HeldValue) -> _Key:
    if value.is_stack:
        return value.op_name, value.shape, value.stack_turns
    # a broadcast and a scatter of one line and scope
    return "/".join(stem(value.op_name)[:-1]), value.shape, value.user_line
