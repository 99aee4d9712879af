"""XLA's plan is replayed exactly, and replanned after a change."""

from tests.planner.small_programs import program, value
from xlagraph.planner.combining import HEAP, BlockPart, combined_bytes
from xlagraph.planner.memory_plan import plan_memory
from xlagraph.planner.packing import STRATEGIES
from xlagraph.planner.planned_program import PlannedAllocation
from xlagraph.planner.replay import replay


def temp(size):
    return PlannedAllocation(1, size, "temp", 0)


def test_parts_are_combined_at_aligned_offsets_and_the_last_is_not_padded():
    parts = [BlockPart(HEAP, 40), BlockPart(7, 8)]
    assert combined_bytes(parts, (7, HEAP), 16) == 16 + 40
    assert combined_bytes(parts, (HEAP, 7), 16) == 48 + 8


def test_a_block_whose_layout_is_xlas_replays():
    values = (value(1, 0, 3, 64, allocation=1), value(2, 1, 2, 16, allocation=1, offset_bytes=64))
    (found,) = replay(program(*values, allocations=(temp(80),)))
    assert found.is_exact
    assert found.strategy == STRATEGIES[0]


def test_a_block_with_another_layout_does_not_replay():
    values = (value(1, 0, 3, 64, allocation=1, offset_bytes=16), value(2, 1, 2, 16, allocation=1))
    (found,) = replay(program(*values, allocations=(temp(80),)))
    assert found.size_bytes == 80
    assert not found.offsets_equal
    assert not found.is_exact


def test_a_producer_that_places_by_start_is_recognized_by_its_layout():
    values = (value(1, 0, 3, 16, allocation=1), value(2, 1, 2, 64, allocation=1, offset_bytes=16))
    (found,) = replay(program(*values, allocations=(temp(80),)))
    assert found.is_exact
    assert found.strategy == STRATEGIES[1]


def test_a_heap_between_tables_begins_where_its_first_value_does():
    values = (
        value(1, 0, 3, 8, allocation=1, is_table=True),
        value(2, 0, 3, 64, allocation=1, offset_bytes=16),
        value(3, 0, 3, 8, allocation=1, offset_bytes=80, is_table=True),
    )
    (found,) = replay(program(*values, allocations=(temp(88),)))
    assert found.is_exact
    assert found.part_order == (1, HEAP, 3)


def test_replanning_without_a_change_reproduces_the_plan():
    values = (
        value(1, 0, 10, 64, allocation=0, is_stored=True),
        value(2, 1, 3, 32, allocation=1),
        value(3, 2, 4, 16, allocation=1, offset_bytes=32),
    )
    given = PlannedAllocation(0, 64, "parameter", 0, parameter_number=0)
    made = program(*values, allocations=(given, temp(48)))
    plan = plan_memory(made, replay(made))
    assert plan.temp_bytes() == 48
    assert plan.reserved_bytes() == 112
    heap = plan.heap()
    assert heap is not None
    assert heap.peak_step == 2
    assert heap.lower_bound_bytes == 48


def test_allocations_without_a_live_range_count_and_thread_local_ones_do_not():
    others = (PlannedAllocation(2, 40, "constant", 0), PlannedAllocation(3, 1000, "threadLocal", 0))
    made = program(value(1, 0, 3, allocation=1), allocations=(temp(16), *others), given={0: 40})
    assert plan_memory(made, replay(made)).reserved_bytes() == 56
