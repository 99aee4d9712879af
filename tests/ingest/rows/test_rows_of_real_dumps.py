"""Rules that the rows of every real dump follow, from all producers."""

from collections import Counter
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pytest

from xlagraph.graph import SCHEMA, CompilationRows
from xlagraph.ingest import DumpFiles, DumpPart, Plan, find_dumps, parse_plan
from xlagraph.ingest.loading.job import PreparationJob
from xlagraph.ingest.loading.worker_pool import prepare_all

# Only one of this many dumps is read if one producer made many runs.
EVERY = 12
MANY = 300
OF_EACH_RUN = 3


@pytest.fixture(scope="module")
def compilations(
    real_dumps: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[str, Plan, CompilationRows]]:
    """Return key, plan and rows of dumps of all producers."""
    chosen: list[DumpFiles] = []
    folder = tmp_path_factory.mktemp("rows")
    for dumps in real_dumps:
        found = find_dumps(dumps).dumps
        if len(found) > MANY:
            found = found[::EVERY]
        for _, of_run in groupby(found, key=lambda dump: dump.run):
            chosen += islice(of_run, OF_EACH_RUN)
    compilations: list[tuple[str, Plan, CompilationRows]] = []
    for dump in chosen:
        (prepared,) = prepare_all(
            [PreparationJob(dump, "2026-11-21T07:00:00+00:00", ())], 1, folder
        )
        assert prepared.files is not None
        rows = prepared.files.read()
        paths = [dump.path, dump.file("values"), dump.file("live range")]
        parts = [DumpPart(path.name, path.read_bytes().decode()) for path in paths if path]
        compilations.append((dump.key, parse_plan(parts), rows))
    return compilations


def column(rows: CompilationRows, table: str, name: str) -> list[Any]:
    """Return a column's cells; for an end, the row numbers of its nodes."""
    if table in rows.relationships and name in ("source", "target"):
        return dict(zip(("source", "target"), rows.ends(table), strict=True))[name].to_pylist()
    return rows.tables[table].column(name).to_pylist()


def test_there_are_as_many_rows_as_the_plan_has_parts(compilations):
    for key, plan, rows in compilations:
        used = plan.used_values or ()
        schedule = plan.live_ranges.schedule if plan.live_ranges else ()
        expected = {
            "Allocation": len(plan.allocations),
            "Value": len(plan.values),
            "HOLDS": len(plan.values),
            "DEFINES": len(plan.values),
            "USED_BY": sum(len(used_value.uses) for used_value in used),
            "APPEARS_AT": sum(len(used_value.positions) for used_value in used),
            "SCHEDULES": len(schedule),
            "NEXT": max(len(schedule) - 1, 0),
            "LIVE_FROM": len(plan.live_ranges.ranges) if plan.live_ranges else 0,
        }
        tables = {**rows.nodes, **rows.relationships}
        assert {name: tables[name].num_rows for name in expected} == expected, key


def test_every_line_of_the_printed_peak_is_one_value(compilations):
    for key, plan, rows in compilations:
        entries = (
            plan.live_ranges.peak.entries if plan.live_ranges and plan.live_ranges.peak else ()
        )
        assert column(rows, "IN_PRINTED_PEAK", "rank") == list(range(len(entries))), key
        values = column(rows, "IN_PRINTED_PEAK", "source")
        assert len(set(values)) == len(values), key
        names = column(rows, "Value", "name")
        assert [names[value] for value in values] == [entry.name for entry in entries], key


def test_keys_are_unique_and_begin_with_that_of_the_compilation(compilations):
    for key, _, rows in compilations:
        assert rows.compilation == key
        for label, table in rows.nodes.items():
            keys = table.column("key").to_pylist()
            assert None not in keys, (key, label)
            assert len(set(keys)) == len(keys), (key, label)
            if "compilation" in table.column_names:
                assert all(part.startswith(f"{key}#") for part in keys), (key, label)
                assert set(table.column("compilation").to_pylist()) <= {key}


def test_relationships_join_rows_that_exist(compilations):
    for key, _, rows in compilations:
        for kind in SCHEMA.relationships:
            for end, label in (("source", kind.source), ("target", kind.target)):
                ends = column(rows, kind.name, end)
                assert None not in ends, (key, kind.name)
                assert all(0 <= row < rows.nodes[label].num_rows for row in ends), (key, kind.name)


def test_missing_facts_are_null_and_never_an_empty_text(compilations):
    for key, _, rows in compilations:
        for label, table in rows.nodes.items():
            for name in table.column_names:
                assert "" not in table.column(name).to_pylist(), (key, label, name)


def test_allocations_add_up_to_what_xla_prints(compilations):
    for key, plan, rows in compilations:
        (total,) = column(rows, "Compilation", "totalBytes")
        (allocated,) = column(rows, "Compilation", "allocationBytes")
        assert total is None or total == allocated, key
        assert (total is None) == (plan.total_bytes is None)
        assert sum(column(rows, "MemorySpace", "allocationBytes")) == allocated, key


def test_shares_add_up_to_the_physical_peak(compilations):
    for key, _, rows in compilations:
        shares: Counter[int] = Counter()
        for space, share in zip(
            column(rows, "LIVE_AT_PEAK", "target"),
            column(rows, "LIVE_AT_PEAK", "physicalBytes"),
            strict=True,
        ):
            shares[space] += share
        peaks = column(rows, "MemorySpace", "physicalPeakBytes")
        assert [shares[space] for space in range(len(peaks))] == [peak or 0 for peak in peaks], key


def test_bytes_at_each_step_reach_the_peaks_of_memory_space_0(compilations):
    for key, plan, rows in compilations:
        if plan.live_ranges is None:
            continue
        for measure in ("logical", "physical"):
            steps = column(rows, "Instruction", "step")
            by_step = dict(zip(steps, column(rows, "Instruction", f"{measure}Bytes"), strict=True))
            (peak,) = column(rows, "Compilation", f"{measure}PeakBytes")
            (step,) = column(rows, "Compilation", f"{measure}PeakStep")
            if step < len(plan.live_ranges.schedule):
                assert by_step[step] == peak, key
            assert all(found <= peak for found in by_step.values() if found is not None), key


def test_a_value_has_at_most_one_neighbour_of_each_byte_that_it_takes_over(compilations):
    for key, _, rows in compilations:
        sizes = column(rows, "Value", "sizeBytes")
        taken: Counter[int] = Counter()
        for name in ("UPDATES_IN_PLACE", "REUSES"):
            for later, shared in zip(
                column(rows, name, "source"), column(rows, name, "sharedBytes"), strict=True
            ):
                assert shared > 0, key
                taken[later] += shared
        assert all(shared <= sizes[later] for later, shared in taken.items()), key
