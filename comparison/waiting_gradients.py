"""Name gradients that stay live until a number is known that all of them give, as their norm."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from math import prod
from operator import or_
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.comparison.reasons import CONSEQUENCES, Reason, ReasonKind, Subject
from xlagraph.graph.engine import Graph
from xlagraph.hlo.walks import depth_first
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.queries.errors import NotStored

_FOLLOWING: Final = {
    ReasonKind.COPIES,
    ReasonKind.IDLE,
    ReasonKind.ORDER,
    ReasonKind.PEAK,
    ReasonKind.PLACED,
}
"""Kinds that may only say where the gradients are, and what is live at the same time."""
_LEAST_SHARE: Final = 0.5
"""Minimum share of the growth that following reasons have, and that the gradients have."""
_LEAST_SHARE_OF_OTHERS: Final = 0.1
"""Share of the growth with which a reason of another kind explains it, too."""
_LEAST_COUNT: Final = 2


class _Waiting(NamedTuple):
    gradients: Sequence[StoredValue] = ()
    place: str | None = None
    """Line of the number that they wait for; None if it is unknown, or if none waits."""
    all_gradients: int = 0
    """Number of gradients that wait, at the peak or elsewhere."""

    @property
    def sum_bytes(self) -> int:
        """Size of those at the peak."""
        return sum(value.size_bytes for value in self.gradients)


def join_waiting(graph: Graph, reasons: list[Reason], keys: tuple[str, str]) -> list[Reason]:
    """Join what follows if gradients of one program wait for a number that they all give.

    An update reads each of them together with this number, so no gradient can be freed before the
    last one is computed. In the other program, no gradient waits.
    """
    growth = sum(reason.growth_bytes for reason in reasons)
    following = [reason for reason in reasons if reason.subject.kind in _FOLLOWING]
    others = [each.growth_bytes for each in reasons if each.subject.kind not in CONSEQUENCES]
    moved = sum(reason.growth_bytes for reason in following)
    is_other = any(abs(each) >= _LEAST_SHARE_OF_OTHERS * abs(growth) for each in others)
    if not growth or is_other or moved / growth < _LEAST_SHARE:
        return reasons
    try:
        a, b = (_waiting(PeakProgram(StoredCompilation(graph, key), 0)) for key in keys)
    except NotStored:
        return reasons
    less, more = (a, b) if growth > 0 else (b, a)
    if less.all_gradients or more.sum_bytes < _LEAST_SHARE * abs(growth):
        return reasons
    joined = next((each for each in following if each.subject.kind is ReasonKind.PEAK), None)
    joined = joined or Reason(Subject(ReasonKind.PEAK))
    for reason in following:
        if reason is not joined:
            joined.absorb(reason)
    at = f" ({more.place})" if more.place else ""
    joined.cause = (
        f"{len(more.gradients):,} gradients stay live until a number that depends on all of them,"
        f" such as their norm, is known{at}"
    )
    return [joined, *(each for each in reasons if each not in following)]


def _waiting(program: PeakProgram) -> _Waiting:
    """Return the gradients at the peak that are read with a number that depends on all of them."""
    reads = {value.value_id: value.reads for value in program.program.values}
    copies = {value.value_id for value in program.program.values if value.is_copy}
    inputs = {each.dimensions for each in program.compilation.array_parameters} - {()}
    gradients = [
        value
        for value_id in reads
        if (value := program.values[value_id]).is_backward
        and value.dimensions in inputs
        and value_id not in copies
    ]
    # sets of gradients, as bits: what a value depends on, and what it is or copies
    same = {value.value_id: 1 << place for place, value in enumerate(gradients)}
    every: defaultdict[int, int] = defaultdict(int, same)
    # gradients that an instruction reads together with numbers, by these numbers; a fusion may
    # make the numbers of several gradients
    read_with: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for value_id in depth_first(reads, lambda each: reads.get(each, ())):
        operands = reads.get(value_id, ())
        every[value_id] |= _union(every[each] for each in operands)
        read = _union(same.get(each, 0) for each in operands)
        if value_id in copies:
            same[value_id] = read
        numbers = tuple(each for each in operands if _is_number(program.values[each]))
        if both := read & _union(every[each] for each in numbers):
            read_with[numbers].append(both)
    waiting = {
        numbers: _union(found)
        for numbers, found in read_with.items()
        if len(found) > 1 or len(numbers) == 1
    }
    numbers = max(waiting, key=lambda each: waiting[each].bit_count(), default=())
    found = waiting.get(numbers, 0)
    if found.bit_count() < _LEAST_COUNT:
        return _Waiting()
    live = {value.buffer_set for value in program.at_peak}
    line = program.values[numbers[-1]]
    return _Waiting(
        [
            each
            for each in gradients
            if found & same[each.value_id]
            and each.buffer_set in live
            # the zeros from which a loop adds it up do not wait
            and (each.live_from or 0) <= (program.peak_step or 0)
        ],
        file_and_line(line.user_file, line.user_line),
        found.bit_count(),
    )


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _is_number(value: StoredValue) -> bool:
    return value.is_array and prod(value.dimensions) == 1
