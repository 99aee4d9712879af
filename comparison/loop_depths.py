"""Ops that one program computes in one more loop than the other."""

from collections.abc import Hashable, Iterable, Mapping

from xlagraph.comparison.held_values import HeldValue
from xlagraph.comparison.size_changes import element_factor, is_split
from xlagraph.hlo.op_names import loop_depth, outside_loops


def least_depths(values: Iterable[HeldValue]) -> dict[Hashable, int]:
    """Return the least number of loops around the op of each line that a program computes."""
    depths: dict[Hashable, int] = {}
    for value in values:
        if value.is_computed:
            op, depth = _op_of_line(value), loop_depth(value.op_name)
            depths[op] = min(depth, depths.get(op, depth))
    return depths


def _op_of_line(value: HeldValue) -> Hashable:
    return outside_loops(value.op_name), value.user_line


def are_of_one_loop(
    depths_a: Mapping[Hashable, int], depths_b: Mapping[Hashable, int], a: HeldValue, b: HeldValue
) -> bool:
    """Return True for an op that one program computes in one more loop, and only there."""
    depth_a, depth_b = loop_depth(a.op_name), loop_depth(b.op_name)
    if depth_a == depth_b or not is_split(a, b):
        return False
    is_deeper_a = depth_a > depth_b
    # a loop computes all at once or a part of it, never more
    factor = element_factor(*((b, a) if is_deeper_a else (a, b)))
    looped, depths = (a, depths_a) if is_deeper_a else (b, depths_b)
    least = depths.get(_op_of_line(looped), max(depth_a, depth_b))
    return (factor or 1) <= 1 and least > min(depth_a, depth_b)
