"""Compute the limit above which XLA rematerializes the values of a GPU program.

`GetSchedulerMemoryLimit` in xla/service/gpu/gpu_hlo_schedule.cc subtracts inputs and outputs from
the memory of the device, a donated input and its output once, and multiplies by a slop factor.
Below the limit XLA turns its rematerialization off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.presentation.byte_sizes import human_bytes

_PROGRAMS: Final = load_statement(__file__, "rescue-limits")
_SLOP_PERCENT: Final = 95
"""Default of the flag ``xla_gpu_memory_limit_slop_factor``."""


@dataclass(frozen=True, slots=True)
class RescueLimit:
    """The limit of a program's temporaries, in bytes of memory space 0."""

    compilation: str
    limit_bytes: int
    temp_bytes: int

    @property
    def sentence(self) -> str:
        """The limit, and how far the program is from it."""
        distance = human_bytes(abs(self.limit_bytes - self.temp_bytes))
        side = "below, so it does not start" if self.temp_bytes <= self.limit_bytes else "above"
        return (
            f"{self.compilation}: XLA rematerializes values if temporaries take more than about"
            f" {human_bytes(self.limit_bytes)} ({_SLOP_PERCENT}% of what inputs and outputs leave);"
            f" they take {human_bytes(self.temp_bytes)}, {distance} {side}."
        )


def rescue_limits(
    graph: Graph, compilations: Sequence[str], capacity_bytes: int
) -> tuple[RescueLimit, ...]:
    """Return the limits of the programs among compilations that were compiled for a GPU."""
    rows = graph.query(_PROGRAMS, {"compilations": list(compilations)}).rows
    return tuple(
        RescueLimit(key, max(0, capacity_bytes - passed) * _SLOP_PERCENT // 100, temp)
        for key, passed, temp in cast("Sequence[tuple[str, int, int]]", rows)
    )
