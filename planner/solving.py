"""Pack a heap with OR-Tools' CP-SAT, to prove how near XLA's packing is to the best one.

Each group of values is a rectangle: the ticks at which it is live, and its bytes. Rectangles must
not overlap; the height of all is minimized. This needs the extra `solver`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from xlagraph.planner.combining import rounded_up
from xlagraph.planner.heap import Group, live_bytes_by_step, merged

_INSTALL: Final = "pip install 'xlagraph[solver]'"
_PROCESSES: Final = 8


class SolverMissing(ModuleNotFoundError):
    """The extra `solver` is not installed; the message says how to install it."""

    def __init__(self) -> None:
        super().__init__(f"OR-Tools is not installed: {_INSTALL}", name="ortools")


@dataclass(frozen=True, slots=True)
class SolvedPacking:
    """The smallest heap that was found."""

    size_bytes: int
    bound_bytes: int
    """No packing of these values in this order is smaller."""
    seconds: float
    """Time that the search took."""

    @property
    def is_optimal(self) -> bool:
        """True if the packing is proved to be the smallest."""
        return self.size_bytes == self.bound_bytes


def solve_packing(
    groups: Sequence[Group], alignment: int, most_bytes: int, seconds: float
) -> SolvedPacking:
    """Search for a heap smaller than `most_bytes`, which a packing is known to reach.

    Offsets are multiples of the alignment. Raises SolverMissing.
    """
    sized = [group for group in groups if group.size_bytes]
    live = max((total for _, total in live_bytes_by_step(sized)), default=0)
    if live >= most_bytes:  # the packing that is known is the best
        return SolvedPacking(most_bytes, most_bytes, 0.0)
    try:
        from ortools.sat.python import (  # type: ignore[import-not-found, unused-ignore]
            cp_model,
        )
    except ModuleNotFoundError as error:
        raise SolverMissing from error
    model = cp_model.CpModel()
    # the last group need not fill its last unit
    most = rounded_up(most_bytes, alignment) // alignment
    height = model.new_int_var(live // alignment, most, "")
    times, places = [], []
    for group in sized:
        size = rounded_up(group.size_bytes, alignment) // alignment
        offset = model.new_int_var(0, most - size, "")
        model.add(offset + size <= height)
        place = model.new_fixed_size_interval_var(offset, size, "")
        for first, last in merged(group.ticks):
            times.append(model.new_fixed_size_interval_var(first, last + 1 - first, ""))
            places.append(place)
    model.add_no_overlap_2d(times, places)
    model.add_cumulative(
        times,
        [rounded_up(g.size_bytes, alignment) // alignment for g in sized for _ in merged(g.ticks)],
        height,
    )
    model.minimize(height)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = _PROCESSES
    status = solver.solve(model)
    found = most_bytes
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found = min(found, round(solver.objective_value) * alignment)
    if status == cp_model.OPTIMAL:
        return SolvedPacking(found, found, solver.wall_time)
    bound = (round(solver.best_objective_bound) - 1) * alignment + 1
    return SolvedPacking(found, min(max(live, bound), found), solver.wall_time)
