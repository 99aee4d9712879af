"""Rules that every dump of XLA follows; a failure means that the format is misread."""

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heappop, heappush

import pytest

from xlagraph.ingest.files.contents import read_compilation, read_dump
from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.ingest.measures.live_ranges import Span, residents_of_allocations, value_spans
from xlagraph.ingest.measures.peaks import Peak, Peaks, peaks
from xlagraph.ingest.measures.succession import alias_positions, succession, takeovers
from xlagraph.ingest.plan import Plan, Value


@pytest.fixture(scope="module")
def dumps(real_dumps):
    """Return the path, plan, live ranges and program of every real dump."""
    found = []
    for files in (files for folder in real_dumps for files in find_dumps(folder).dumps):
        contents = read_dump(files)
        plan, program = read_compilation(contents)
        assert not contents.problems
        found.append((files.key, plan, value_spans(plan), program))
    return found


@pytest.fixture(scope="module")
def live_dumps(dumps):
    return [(key, plan, spans) for key, plan, spans, _ in dumps if plan.live_ranges is not None]


def test_allocations_add_up_to_the_total(dumps):
    for key, plan, _, _ in dumps:
        if plan.total_bytes is not None:
            assert sum(each.size_bytes for each in plan.allocations) == plan.total_bytes, key


def test_every_range_is_that_of_a_value(live_dumps):
    for key, plan, spans in live_dumps:
        with_range = sum(span is not None for span in spans)
        assert with_range == len(plan.live_ranges.ranges), key


def test_only_thread_local_and_constant_values_have_no_range(live_dumps):
    for key, plan, spans in live_dumps:
        allocation = {each.number: each for each in plan.allocations}
        for value, span in zip(plan.values, spans, strict=True):
            holder = allocation[value.allocation]
            if span is None:
                assert holder.is_thread_local or holder.is_constant, f"{key}: {value}"
            else:
                assert not holder.is_thread_local, f"{key}: {value}"


def test_values_that_share_bytes_touch_in_one_step_at_most(live_dumps):
    for key, plan, spans in live_dumps:
        held: dict[int, Slots] = {}
        for span, value in in_order(plan, spans):
            slots = held.setdefault(value.allocation, Slots())
            slots.release(span.first)
            start, end = value.offset_bytes, value.offset_bytes + value.size_bytes
            assert slots.take(start, end, span.last), f"{key}: {value}"


def in_order(plan: Plan, spans: Sequence[Span | None]) -> list[tuple[Span, Value]]:
    """Return the live ranges and values that have bytes, sorted by first and last step."""
    found = [
        (span, value)
        for value, span in zip(plan.values, spans, strict=True)
        if span is not None and value.size_bytes > 0
    ]
    return sorted(found, key=lambda each: each[0])


class Slots:
    """An allocation's bytes in use at a step, as disjoint slots."""

    def __init__(self) -> None:
        self._slots: list[tuple[int, int]] = []
        self._ends: list[tuple[int, tuple[int, int]]] = []

    def release(self, step: int) -> None:
        """Release the bytes that are in use until this step or an earlier one."""
        while self._ends and self._ends[0][0] <= step:
            _, slot = heappop(self._ends)
            del self._slots[bisect_left(self._slots, slot)]

    def take(self, start: int, end: int, last: int) -> bool:
        """Use bytes until a step; return True if none of them is in use already."""
        place = bisect_left(self._slots, (start, end))
        is_free = all(
            start >= held_end or end <= held_start
            for held_start, held_end in self._slots[max(place - 1, 0) : place + 1]
        )
        self._slots.insert(place, (start, end))
        heappush(self._ends, (last, (start, end)))
        return is_free


def test_bytes_are_in_use_until_the_earlier_value_ends(live_dumps):
    for key, plan, spans in live_dumps:
        for taken in takeovers(residents_of_allocations(plan, spans)):
            assert taken.held_until == spans[taken.earlier].last, f"{key}: {taken}"


def peaks_of(plan: Plan, spans: Sequence[Span | None]) -> Peaks:
    residents = residents_of_allocations(plan, spans)
    return peaks(plan, spans, residents, takeovers(residents))


def known(peak: Peak) -> tuple[int, int]:
    """Return the bytes and the step of a peak; a dump with live ranges always has both."""
    assert peak.bytes is not None
    assert peak.step is not None
    return peak.bytes, peak.step


def test_physical_bytes_fit_into_the_allocations_and_their_shares_add_up(live_dumps):
    for key, plan, spans in live_dumps:
        found = peaks_of(plan, spans)
        for space in found.spaces:
            physical_bytes, _ = known(space.physical)
            assert physical_bytes <= known(space.logical)[0], key
            assert physical_bytes <= space.reserved_bytes <= space.allocation_bytes, key
            assert sum(own for _, own in space.shares) == physical_bytes, key
            assert all(own >= 0 for _, own in space.shares), key
        for allocation, (peak, hole) in zip(plan.allocations, found.allocations, strict=True):
            assert hole is not None
            assert known(peak)[0] + hole <= allocation.size_bytes, key
        for by_step, peak in (
            (found.logical_by_step, found.spaces[0].logical),
            (found.physical_by_step, found.spaces[0].physical),
        ):
            assert by_step is not None
            if found.spaces[0].memory_space == 0 and known(peak)[1] < len(by_step):
                assert Peak(max(by_step), by_step.index(max(by_step))) == peak, key


def test_the_sum_that_xla_prints_for_its_peak_is_the_logical_one(live_dumps):
    checked = 0
    for key, plan, spans in live_dumps:
        peak = plan.live_ranges.peak
        # XLA counts other sizes on TPUs, and before jaxlib 0.6, which introduced indexes.
        if "cpu_after" in key and peak and peak.entries and peak.entries[0].shape_index:
            printed = sum(entry.bytes for entry in peak.entries)
            logical_by_step = peaks_of(plan, spans).logical_by_step
            assert logical_by_step is not None
            assert logical_by_step[peak.step] == printed, key
            checked += 1
    assert checked > 50


def test_an_alias_set_is_the_same_for_all_its_values(live_dumps):
    for key, plan, spans in live_dumps:
        found = succession(spans, takeovers(residents_of_allocations(plan, spans)))
        places = alias_positions(plan, spans, found)
        for pair in found:
            assert pair.shared_bytes > 0, key
            if pair.in_place:
                assert places[pair.later].alias_set == places[pair.earlier].alias_set, key
        assert len(set(places)) == len(places), key


def test_module_texts_tell_computation_root_and_place_of_every_instruction(dumps):
    for key, plan, _, program in dumps:
        if not program.has_computations:
            continue
        assert program.entry_name, key
        for name in {value.name for value in plan.values}:
            instruction = program.instructions[name]
            assert instruction.opcode, f"{key}: {name}"
            if instruction.computation is None:
                continue  # the module text omits this element
            is_fusion = instruction.opcode == "fusion"
            assert (program.root_opcode(instruction) is not None) == is_fusion, f"{key}: {name}"
            if instruction.attributes.stack_frame is not None:
                file, line = program.source_location(instruction.attributes)
                assert file, f"{key}: {name}"
                assert line, f"{key}: {name}"
