"""Compare JAX's `memory_analysis` of a compilation with its allocations.

The rules are those of `CompiledMemoryStats::PopulateBufferStatsFromAllocations` in
xla/pjrt/pjrt_executable.cc. A donated input that a result overwrites counts as argument, as
output and as alias.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from xlagraph.ingest.measures.memory_spaces import HOST, shown_platform
from xlagraph.ingest.plan import Allocation, Plan

_COUNTED: Final[Mapping[str, Callable[[Allocation], bool]]] = {
    "argument_size_in_bytes": lambda each: each.parameter is not None,
    "output_size_in_bytes": lambda each: each.maybe_live_out,
    "alias_size_in_bytes": lambda each: each.parameter is not None and each.maybe_live_out,
    "temp_size_in_bytes": lambda each: each.is_preallocated_temp,
}


class ComparedStatistic(NamedTuple):
    """A number of JAX's memory analysis, and the same sum of the allocations."""

    field: str
    stated_bytes: int
    allocation_bytes: int | None
    """Sum of the allocations that XLA counts; None if it is not a sum of allocations."""

    @property
    def agrees(self) -> bool | None:
        """True if both are equal; None without a sum."""
        return None if self.allocation_bytes is None else self.stated_bytes == self.allocation_bytes


def compared_statistics(plan: Plan) -> tuple[ComparedStatistic, ...]:
    """Return each statistic of a plan next to the sum of its allocations, in the same order."""
    # libtpu adds the unused part of the temporary block to its size, which contains it already
    unsure = {"temp_size_in_bytes"} if shown_platform(plan) == "tpu" else set()
    return tuple(
        ComparedStatistic(name, size, None if name in unsure else _summed(plan, name))
        for name, size in plan.statistics
    )


def _summed(plan: Plan, field: str) -> int | None:
    name = field.removeprefix("host_")
    if name not in _COUNTED:
        return None
    return sum(
        each.size_bytes
        for each in plan.allocations
        if (each.memory_space == HOST) == (name != field) and _COUNTED[name](each)
    )
