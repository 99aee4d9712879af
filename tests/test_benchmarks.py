"""Generated dumps follow the rules of XLA, and the verdicts detect bad growth."""

import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path

import pytest

from benchmarks import fleet, inputs, known_misses, measure, run, settings, table
from tests.tiny_dumps import write_runs
from xlagraph.ingest import DumpPart, parse_plan, render_plan


def texts_of(folder):
    return [
        DumpPart(path.name, path.read_text("utf-8")) for path in sorted(folder.rglob("*-*.txt"))
    ]


@pytest.fixture(params=["training step", "wide loop"])
def parts(request, tmp_path):
    if request.param == "training step":
        inputs.write_training_step(tmp_path, layers=3)
    else:
        inputs.write_wide_loop(tmp_path, megabytes=0.1)
    return texts_of(tmp_path)


@pytest.fixture
def plan(parts):
    return parse_plan(parts)


@pytest.fixture
def ranges(plan):
    range_by_key = {
        (live_range.name, live_range.shape_index): live_range
        for live_range in plan.live_ranges.ranges
    }
    return {
        value.value_id: range_by_key.get((value.name, value.shape_index or "{}"))
        for value in plan.values
    }


def test_a_generated_dump_renders_back_byte_for_byte(parts):
    assert list(render_plan(parse_plan(parts))) == [part.text for part in parts]


def test_a_fleet_has_each_compilation_once_and_shares_the_nodes_of_programs(tmp_path, monkeypatch):
    monkeypatch.setattr(fleet, "COMMITS_OF_A_PROGRAM", 1)
    counts = fleet.write_fleet(write_runs(tmp_path / "runs"), tmp_path / "export", 7)
    assert (counts["Compilation"], counts["MemorySpace"]) == (7, 7)
    assert counts["LIVE_AT_PEAK"] == counts["Value"] == 7 * 3
    assert counts["Run"] == 4  # `before` and `after`, twice
    assert counts["Module"] == 3 + 2  # the eighth compilation would be jit_g of another program
    assert counts["SourceLine"] == 2
    keys = [line.split(",")[0] for line in (tmp_path / "export/Value.csv").read_text().split("\n")]
    assert len(set(filter(None, keys))) == 7 * 3


def test_the_same_arguments_give_the_same_bytes(tmp_path):
    for name in ("once", "twice"):
        inputs.write_training_step(tmp_path / name, layers=2)
        inputs.write_wide_loop(tmp_path / name, megabytes=0.05, module_id=2)
    once, twice = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("once", "twice")
    )
    assert once == twice


def test_allocations_add_up_to_the_printed_total(plan):
    assert plan.total_bytes == sum(allocation.size_bytes for allocation in plan.allocations)


def test_an_allocation_ends_at_the_end_of_its_last_value(plan):
    ends: dict[object, int] = defaultdict(int)
    for value in plan.values:
        ends[value.allocation] = max(ends[value.allocation], value.offset_bytes + value.size_bytes)
    assert {allocation.number: allocation.size_bytes for allocation in plan.allocations} == ends


def test_only_temporaries_have_an_offset(plan):
    temporary = {
        allocation.number for allocation in plan.allocations if allocation.is_preallocated_temp
    }
    assert temporary
    assert all(
        value.offset_bytes == 0 for value in plan.values if value.allocation not in temporary
    )


def test_constants_and_thread_local_allocations_have_one_value(plan):
    held: dict[object, int] = defaultdict(int)
    for value in plan.values:
        held[value.allocation] += 1
    alone = [
        allocation
        for allocation in plan.allocations
        if allocation.is_constant or allocation.is_thread_local
    ]
    assert alone
    assert {held[allocation.number] for allocation in alone} == {1}


def test_numbers_are_dense_and_ids_ascend_in_each_allocation(plan):
    assert [allocation.number for allocation in plan.allocations] == list(
        range(len(plan.allocations))
    )
    ids = [value.value_id for value in plan.values]
    assert len(set(ids)) == len(ids)
    by_allocation = defaultdict(list)
    for value in plan.values:
        by_allocation[value.allocation].append(value.value_id)
    assert all(listed == sorted(listed) for listed in by_allocation.values())
    assert [used.value_id for used in plan.used_values] == sorted(ids)


def test_ranges_lie_within_the_schedule_and_only_thread_local_values_have_none(plan, ranges):
    end = plan.live_ranges.max_step
    assert end == len(plan.live_ranges.schedule)
    thread_local = {
        allocation.number for allocation in plan.allocations if allocation.is_thread_local
    }
    for value in plan.values:
        found = ranges[value.value_id]
        assert (found is None) == (value.allocation in thread_local)
        assert found is None or 0 <= found.live_from <= found.live_until <= end


def test_values_that_share_bytes_overlap_in_one_step_at_most(plan, ranges):
    by_allocation = defaultdict(list)
    for value in plan.values:
        by_allocation[value.allocation].append(value)
    touching = 0
    for values in by_allocation.values():
        for one, other in combinations(values, 2):
            shared = min(
                one.offset_bytes + one.size_bytes, other.offset_bytes + other.size_bytes
            ) - max(one.offset_bytes, other.offset_bytes)
            if shared > 0:
                first, second = ranges[one.value_id], ranges[other.value_id]
                common = min(first.live_until, second.live_until) - max(
                    first.live_from, second.live_from
                )
                assert common <= 0, (one, other)
                touching += common == 0
    assert touching


def test_slots_are_reused_and_a_use_is_within_the_range(plan, ranges):
    block = max(plan.allocations, key=lambda allocation: allocation.is_preallocated_temp)
    inside = [value for value in plan.values if value.allocation == block.number]
    assert block.size_bytes < sum(value.size_bytes for value in inside)
    step = {name: place for place, name in enumerate(plan.live_ranges.schedule)}
    for used in plan.used_values:
        found = ranges[used.value_id]
        if found is not None:
            # a loop reads its operands when their successors in the loop are already live
            steps = [step[use.instruction] for use in used.uses if "while" not in use.instruction]
            assert all(found.live_from <= at <= found.live_until for at in steps)


def test_the_printed_peak_lists_all_values_live_at_the_largest_step(plan, ranges):
    def live_at(step):
        return [
            value
            for value in plan.values
            if (found := ranges[value.value_id]) and found.live_from <= step <= found.live_until
        ]

    peak = plan.live_ranges.peak
    sums = [sum(v.size_bytes for v in live_at(step)) for step in range(plan.live_ranges.max_step)]
    assert sums[peak.step] == max(sums)
    listed = [(entry.name, entry.shape_index, entry.bytes) for entry in peak.entries]
    assert sorted(listed) == sorted(
        (value.name, value.shape_index or "{}", value.size_bytes) for value in live_at(peak.step)
    )
    assert peak.entries[-1].cumulative_bytes == max(sums)


def test_every_scheduled_instruction_of_a_training_step_is_in_its_module_text(tmp_path):
    path = inputs.write_training_step(tmp_path, layers=2)
    plan = parse_plan(texts_of(tmp_path))
    assert plan.live_ranges is not None
    module = path.with_name(path.name.replace("-buffer-assignment", "")).read_text("utf-8")
    lines = {line.strip().removeprefix("ROOT ").partition(" = ")[0] for line in module.splitlines()}
    assert all(
        f"%{name}" in lines or name.startswith("get-tuple-element")
        for name in plan.live_ranges.schedule
    )


def test_a_folder_has_about_the_requested_number_of_values(tmp_path):
    assert inputs.write_training_folder(tmp_path, values=3000, values_each=600) == 6
    texts = "".join([part.text for part in texts_of(tmp_path)])
    assert 2500 < texts.count(" value: <") < 3500
    assert 400 < len(texts) / texts.count(" value: <") < 700


def test_a_wide_loop_has_about_the_requested_size(tmp_path):
    path = inputs.write_wide_loop(tmp_path, megabytes=3)
    assert 2.5e6 < path.stat().st_size < 3.5e6


def test_linear_growth_meets_its_goal_and_quadratic_growth_misses_it():
    sizes = [1000, 2000, 4000]
    linear = table.growth_row("parse", sizes, [0.1, 0.21, 0.4])
    quadratic = table.growth_row("parse", sizes, [0.1, 0.4, 1.6])
    assert (linear.verdict, quadratic.verdict) == (table.Verdict.MET, table.Verdict.MISSED)
    assert table.failed([linear, quadratic]) == [quadratic]


def test_the_exponent_is_that_of_the_fitted_power():
    sizes = [1, 2, 4, 8]
    assert measure.growth_exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)


def test_an_exponent_needs_two_sizes():
    with pytest.raises(ValueError, match="two different sizes"):
        measure.growth_exponent([5, 5], [1, 2])


def test_a_ratio_above_its_goal_is_a_miss():
    met = table.ratio_row("load", 1.9, "COPY", 1.0, 2)
    missed = table.ratio_row("load", 2.1, "COPY", 1.0, 2)
    assert (met.verdict, missed.verdict) == (table.Verdict.MET, table.Verdict.MISSED)


def test_a_ratio_without_a_goal_is_shown():
    row = table.ratio_row("the engine alone", 4, "copying the file", 1, None)
    assert (row.verdict, row.ratio, row.goal) == (table.Verdict.SHOWN, 4, "")


def test_a_missing_tool_is_not_a_failure_but_an_error_is():
    skipped, broken = table.skipped_row("Neo4j", "no Java"), table.broken_row("Neo4j", "no disk")
    assert table.failed([skipped, broken]) == [broken]


def test_a_known_miss_fails_only_if_it_is_worse():
    what, known = next(iter(known_misses.KNOWN_MISSES.items()))
    as_known, by_more = (
        known_misses.mark_known_miss(table.ratio_row(what, ratio, "COPY", 1, 1))
        for ratio in (known.bound, known.bound + 0.1)
    )
    assert (as_known.verdict, by_more.verdict) == (table.Verdict.KNOWN, table.Verdict.MISSED)
    assert table.failed([as_known, by_more]) == [by_more]


def test_the_run_of_median_time_represents_the_others():
    runs = [measure.Measured(seconds, {}) for seconds in (3, 1, 2)]
    assert measure.median_run(runs).seconds == 2


def test_a_failing_child_reports_its_exit_code_and_its_last_line():
    with pytest.raises(measure.TaskFailed, match=r"count_lines, exit code 1: .*nowhere\.txt"):
        measure.in_child("count_lines", "nowhere.txt")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc")
def test_the_memory_of_a_process_that_a_thread_started_is_counted():
    command = [
        sys.executable,
        "-c",
        "import sys; print('has started', flush=True); sys.stdin.read()",
    ]
    pipe = subprocess.PIPE
    with (
        ThreadPoolExecutor(1) as threads,
        threads.submit(subprocess.Popen, command, stdin=pipe, stdout=pipe).result() as p,
    ):
        assert p.stdout is not None
        assert p.stdout.readline() == b"has started\n"
        assert p.pid in measure.process_tree(os.getpid())
        assert measure.resident_bytes(p.pid) > 1e6


@pytest.fixture
def benchmark(tmp_path):
    """Return the exit code of a run of made-up sections."""

    def exit_code(**sections):
        return run.main(["--work", str(tmp_path)], sections)

    return exit_code


def good(settings):
    yield table.shown_row("good", "1 s")


def breaking(settings):
    yield table.shown_row("begun", "1 s")
    raise measure.TaskFailed("ingest, exit code 1: disk full")


def lacking(settings):
    yield table.skipped_row("lacking", "no Java")


def test_a_broken_section_sets_the_exit_code_and_affects_no_other_row(benchmark, capsys):
    assert benchmark(first=breaking, second=good) == 1
    printed = capsys.readouterr()
    assert "| section first |  |  |  |  | BROKEN | TaskFailed: ingest, exit code 1" in printed.out
    assert "| begun |" in printed.out
    assert "| good |" in printed.out
    assert "3 rows" in printed.out
    assert "0 missed, 1 broken" in printed.out
    assert "Traceback" in printed.err


def test_a_section_without_its_tools_does_not_set_the_exit_code(benchmark):
    assert benchmark(first=lacking, second=good) == 0


def test_the_path_of_a_fresh_graph_is_empty(tmp_path):
    sizes = settings.Settings(full=False, work=tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    for name in ("folder", "folder/file", "new"):
        assert not sizes.fresh(name).exists()


def test_an_input_is_written_once_and_only_a_complete_one_counts(tmp_path):
    sizes = settings.Settings(full=False, work=tmp_path)
    (tmp_path / "loop-0.1.new").mkdir()
    (tmp_path / "loop-0.1.new" / "of an interrupted run").touch()
    folder = sizes.wide_loop(0.1)
    (dump,) = settings.dump_parts(folder)
    assert {path.name for path in folder.iterdir()} > {dump.name}
    dump.write_text("kept")
    assert settings.dump_parts(sizes.wide_loop(0.1)) == [dump]
    assert dump.read_text() == "kept"
