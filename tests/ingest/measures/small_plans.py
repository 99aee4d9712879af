"""Plans small enough to be read at a glance, with a short notation."""

import itertools
from typing import NamedTuple

from hypothesis import strategies as st

from xlagraph.hlo.shapes import parse_shape
from xlagraph.ingest.plan import Allocation, LiveRange, LiveRanges, Plan, Value


class Held(NamedTuple):
    """A value in its slot: offset, size, and the steps in which it is live."""

    name: str
    offset: int
    size: int
    live: tuple[int, int] | None = None
    value_id: int | None = None


class Block(NamedTuple):
    """An allocation and its values."""

    size: int
    values: tuple[Held, ...]
    color: int = 0
    is_thread_local: bool = False


X = parse_shape("x")


def block(size, *values, color=0, is_thread_local=False):
    return Block(size, tuple(Held(*value) for value in values), color, is_thread_local)


def small_plan(*blocks, max_step):
    """Make a plan; values without an id are numbered. Without `max_step` it has no live ranges."""
    ids = itertools.count(1)
    values = []
    ranges = []
    for number, each in enumerate(blocks):
        for held in each.values:
            own_id = held.value_id if held.value_id is not None else next(ids)
            values.append(
                Value(
                    own_id,
                    held.name,
                    None,
                    False,
                    each.color,
                    number,
                    held.offset,
                    held.size,
                    X,
                )
            )
            if held.live is not None:
                ranges.append(LiveRange(held.name, "{}", *held.live))
    schedule = tuple(f"step.{step}" for step in range(max_step or 0))
    return Plan(
        allocations=tuple(
            Allocation(
                number, each.size, memory_space=each.color, is_thread_local=each.is_thread_local
            )
            for number, each in enumerate(blocks)
        ),
        values=tuple(values),
        total_bytes=None,
        used_values=None,
        live_ranges=LiveRanges(max_step, schedule, tuple(ranges), None)
        if max_step is not None
        else None,
    )


@st.composite
def plans(draw, max_step=6, bytes_=6):
    """Draw plans in which anything may overlap, even if XLA would never write them."""
    spans = st.tuples(st.integers(0, max_step), st.integers(0, max_step)).map(sorted).map(tuple)
    slots = st.tuples(st.integers(0, bytes_), st.integers(0, bytes_)).map(sorted)
    held = st.tuples(slots, st.none() | spans)
    contents = draw(
        st.lists(st.tuples(st.integers(0, 2), st.lists(held, max_size=6)), min_size=1, max_size=3)
    )
    ids = iter(draw(st.permutations(range(sum(len(values) for _, values in contents)))))
    names = (f"value.{number}" for number in itertools.count())
    return small_plan(
        *(
            block(
                bytes_,
                *(
                    (next(names), start, end - start, live, next(ids))
                    for (start, end), live in values
                ),
                color=color,
            )
            for color, values in contents
        ),
        max_step=max_step,
    )
