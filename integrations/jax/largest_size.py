"""The largest batch or length whose plan fits, found by bisection over compilations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from xlagraph.jax.function_plan import FunctionPlan, size_of
from xlagraph.jax.planning import memory_plan
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable


class TriedSize(NamedTuple):
    """A size that was compiled."""

    size: int
    reserved_bytes: int
    fits: bool


@dataclass(frozen=True, slots=True, repr=False)
class LargestSize(Outlined):
    """The largest size that fits, and all sizes that were compiled."""

    size: int | None
    """Largest size that fits; None if not even the smallest fits."""
    plan: FunctionPlan
    """Plan of that size; of the smallest size if that does not fit."""
    capacity_bytes: int | None
    """Capacity in bytes; None if only the compiler decided."""
    tried: tuple[TriedSize, ...]
    """Sizes that were compiled, in ascending order."""

    @property
    def _title(self) -> str:
        room = "the device" if self.capacity_bytes is None else human_bytes(self.capacity_bytes)
        if self.size is None:
            return f"{self.tried[0].size} does not fit into {room}"
        return f"{self.size} is the largest that fits into {room}"

    def outline(self) -> Outline:
        """Return the sizes that were compiled."""
        return Outline(self._title, [OutlineTable(("size", "reservedBytes", "fits"), self.tried)])


def largest(
    function: Callable[..., Any],
    arguments_of: Callable[[int], Sequence[Any]],
    capacity: str | int | None = None,
    *,
    least: int = 1,
    most: int = 2**20,
    multiple_of: int = 1,
    topology: str | Path | None = None,
    **jit_options: Any,  # noqa: ANN401 - those of `jax.jit`
) -> LargestSize:
    """Return the largest size from ``least`` to ``most`` with which a function fits.

    ``arguments_of`` returns the arguments for a size; shapes are enough. The size is doubled until
    it does not fit, then the range is halved. Only multiples of ``multiple_of`` are tried. A size
    fits if its plan reserves no more than the capacity, such as ``16GiB``, and the compiler
    for the topology accepts it; at least one of the two is required. The search assumes that a
    larger size never reserves less.

    Raises ValueError for an empty range, or without both capacity and topology, and the errors of
    `memory_plan`.
    """
    if capacity is None and topology is None:
        raise ValueError("expected a capacity such as '16GiB', or a topology; found neither")
    low, high = -(-least // multiple_of), most // multiple_of
    if not 0 < low <= high:
        raise ValueError(f"no positive multiple of {multiple_of} from {least} to {most}")
    capacity_bytes = None if capacity is None else size_of(capacity)
    tried: dict[int, TriedSize] = {}
    best: FunctionPlan | None = None
    least_plan: FunctionPlan | None = None

    def fits(count: int) -> bool:
        nonlocal best, least_plan
        size = count * multiple_of
        plan = memory_plan(function, *arguments_of(size), topology=topology, **jit_options)
        tried[size] = TriedSize(size, plan.reserved, plan.fits(capacity_bytes))
        least_plan = least_plan or plan
        if tried[size].fits:
            best = plan
        return tried[size].fits

    found = _largest_count(fits, low, high)
    plan = best or least_plan
    assert plan is not None  # noqa: S101 - the least was compiled
    return LargestSize(
        None if found is None else found * multiple_of,
        plan,
        capacity_bytes,
        tuple(tried[size] for size in sorted(tried)),
    )


def _largest_count(fits: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the largest count that fits; None if ``low`` does not."""
    if not fits(low):
        return None
    beyond = high + 1
    while low < high:
        next_count = min(2 * low, high)
        if not fits(next_count):
            beyond = next_count
            break
        low = next_count
    while beyond - low > 1:
        middle = (low + beyond) // 2
        if fits(middle):
            low = middle
        else:
            beyond = middle
    return low
