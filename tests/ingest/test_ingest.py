"""Bringing folders into a graph: again, changed, gone, broken, from elsewhere."""

import gzip
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from xlagraph.graph import CompilationRows, Graph, open_graph
from xlagraph.ingest import IngestSummary, Progress, ingest

Write = Callable[..., Path]

BOOKKEEPING_NODES = 1

BLANK_LINES = "\n" * 2**20
"""Make a dump large enough to be prepared alone."""

CUT_GZIP = gzip.compress(b"BufferAssignment:\n" * 99, mtime=0)[:-9]


def dump_text(size: int = 16, *, total: int | None = None) -> str:
    """Write a whole dump of one value that lives in one step."""
    return (
        "BufferAssignment:\n"
        f"allocation 0: size {size}, output shape is |f32[4]|, maybe-live-out:\n"
        f" value: <0 add @0> (size={size},offset=0): f32[4]{{0}}\n"
        f"\nTotal bytes used: {size if total is None else total} ({size}B)\n\nUsed values:\n"
        "<0 add @0>\n positions:\n  add\n uses:\n"
        " from instruction: %add = f32[4]{0} constant({1, 2, 3, 4})\n"
        "\n\nHloLiveRange (max 1):\n  InstructionSequence:\n    0:add\n"
        "  BufferLiveRange:\n    add{}:0-1\n"
        f"  Live ranges at 0 (peak):\n    add: {size} bytes\n"
    )


def name(number: int, module: str = "f") -> str:
    return f"module_{number:04}.{module}.cpu_after_optimizations"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a dump into a run."""

    def write(run: str, number: int = 1, text: str | None = None) -> Path:
        path = tmp_path / "runs" / run / f"{name(number)}-buffer-assignment.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dump_text() if text is None else text)
        return path

    return write


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """The folder that is ingested."""
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


@pytest.fixture
def graph(embedded_graph: Graph) -> Graph:
    return embedded_graph


def compilations(graph: Graph) -> list[tuple[object, ...]]:
    return list(
        graph.query(
            "MATCH (r:Run)-[:COMPILED]->(c:Compilation) WHERE c.state = 'complete' "
            "RETURN c.key AS compilation, c.allocationBytes AS allocationBytes "
            "ORDER BY compilation"
        ).rows
    )


def tags(graph: Graph) -> list[object]:
    return list(graph.query("MATCH (r:Run) RETURN r.tags AS tags ORDER BY r.key").rows)


def messages(summary: IngestSummary) -> list[str]:
    return [str(problem) for problem in summary.problems]


def test_each_folder_enters_as_a_run(graph, runs, write):
    write("baseline")
    write("donated", 1, dump_text(32))
    summary = ingest(graph, runs)
    assert summary.ok
    assert summary.runs == ("baseline", "donated")
    assert summary.added == (f"baseline/{name(1)}", f"donated/{name(1)}")
    assert compilations(graph) == [(f"baseline/{name(1)}", 16), (f"donated/{name(1)}", 32)]
    assert (summary.agreeing, summary.values) == (2, 2)


def test_the_summary_counts_what_enters_the_graph(graph, runs, write):
    write("baseline")
    summary = ingest(graph, runs)
    (nodes,) = graph.query("MATCH (n) RETURN count(*) AS nodes").rows
    (relationships,) = graph.query("MATCH ()-[r]->() RETURN count(*) AS relationships").rows
    assert (summary.nodes,) == (nodes[0] - BOOKKEEPING_NODES,)
    assert (summary.relationships,) == relationships


def test_the_same_content_again_changes_nothing(graph, runs, write):
    write("baseline")
    ingest(graph, runs)
    before = graph.read(f"baseline/{name(1)}")
    summary = ingest(graph, runs)
    assert summary.ok
    assert (summary.added, summary.updated) == ((), ())
    assert summary.unchanged == (f"baseline/{name(1)}",)
    assert summary.agreeing == 1
    assert graph.read(f"baseline/{name(1)}") == before


def test_the_same_content_packed_is_the_same(graph, runs, write):
    path = write("baseline")
    ingest(graph, runs)
    Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert ingest(graph, runs).unchanged == (f"baseline/{name(1)}",)


def test_changed_content_takes_the_place_of_the_old(graph, runs, write):
    write("baseline")
    ingest(graph, runs)
    write("baseline", 1, dump_text(64))
    summary = ingest(graph, runs)
    assert summary.updated == (f"baseline/{name(1)}",)
    assert compilations(graph) == [(f"baseline/{name(1)}", 64)]


def test_compilations_whose_files_are_gone_stay_and_are_said(graph, runs, write):
    write("baseline", 1)
    write("baseline", 2).unlink()
    write("baseline", 2)
    ingest(graph, runs)
    (runs / "baseline" / f"{name(2)}-buffer-assignment.txt").unlink()
    summary = ingest(graph, runs)
    assert (summary.gone, summary.dropped) == ((f"baseline/{name(2)}",), ())
    assert len(compilations(graph)) == 2


def test_replace_takes_compilations_out_whose_files_are_gone(graph, runs, write):
    write("baseline", 1)
    gone = write("baseline", 2)
    ingest(graph, runs)
    gone.unlink()
    summary = ingest(graph, runs, replace=True)
    assert (summary.gone, summary.dropped) == ((), (f"baseline/{name(2)}",))
    assert compilations(graph) == [(f"baseline/{name(1)}", 16)]


def test_a_compilation_whose_key_moves_is_there_once(graph, runs, write):
    write("baseline/f/vm_1")
    assert ingest(graph, runs).added == (f"baseline/{name(1)}",)
    second = write("baseline/f/vm_2", 1, dump_text(8))
    summary = ingest(graph, runs)
    assert summary.added == (f"baseline/f/vm_1/{name(1)}", f"baseline/f/vm_2/{name(1)}")
    assert (summary.moved, summary.gone) == ((f"baseline/{name(1)}",), ())
    assert compilations(graph) == [
        (f"baseline/f/vm_1/{name(1)}", 16),
        (f"baseline/f/vm_2/{name(1)}", 8),
    ]
    second.unlink()
    summary = ingest(graph, runs)
    assert summary.added == (f"baseline/{name(1)}",)
    assert summary.moved == (f"baseline/f/vm_1/{name(1)}",)
    assert summary.gone == (f"baseline/f/vm_2/{name(1)}",)


def test_a_single_file_says_nothing_of_the_others(graph, runs, write):
    write("baseline", 1)
    two = write("baseline", 2)
    ingest(graph, runs)
    two.write_text(dump_text(8))
    summary = ingest(graph, two, replace=True)
    assert (summary.updated, summary.gone, summary.dropped) == ((f"baseline/{name(2)}",), (), ())


def test_another_folder_of_the_same_name_and_other_content_is_refused(graph, runs, write, tmp_path):
    write("baseline")
    ingest(graph, runs)
    write("../other/baseline", 1, dump_text(8))
    write("../other/baseline", 2)
    write("../other/fresh")
    summary = ingest(graph, tmp_path / "other")
    assert not summary.ok
    (message,) = messages(summary)
    assert message == (
        f"{tmp_path / 'other/baseline'}: the run baseline is there already, from "
        f"{runs / 'baseline'}, with other content of {name(1)}; give this one another name "
        "with --run NAME, or let it take the place with --replace"
    )
    assert compilations(graph) == [(f"baseline/{name(1)}", 16), (f"fresh/{name(1)}", 16)]


def test_another_folder_may_take_the_place_of_a_run(graph, runs, write, tmp_path):
    write("baseline", 1)
    write("baseline", 2)
    ingest(graph, runs)
    write("../other/baseline", 1, dump_text(8))
    summary = ingest(graph, tmp_path / "other", replace=True)
    assert summary.ok
    assert summary.dropped == (f"baseline/{name(2)}",)
    assert compilations(graph) == [(f"baseline/{name(1)}", 8)]
    (row,) = graph.query("MATCH (r:Run) RETURN r.path AS path").rows
    assert row == (str(tmp_path / "other/baseline"),)


def test_another_folder_with_the_same_content_in_common_adds_to_a_run(graph, runs, write, tmp_path):
    write("baseline", 1)
    ingest(graph, runs)
    write("../other/baseline", 1)
    write("../other/baseline", 2, dump_text(8))
    summary = ingest(graph, tmp_path / "other")
    assert summary.ok
    assert (summary.added, summary.unchanged) == (
        (f"baseline/{name(2)}",),
        (f"baseline/{name(1)}",),
    )


def test_two_folders_of_one_name_in_one_ingest_are_not_mixed(graph, runs, write, tmp_path):
    write("baseline")
    write("../other/baseline", 1, dump_text(8))
    summary = ingest(graph, [runs, tmp_path / "other"])
    assert not summary.ok
    assert [problem.file for problem in summary.problems] == [str(tmp_path / "other/baseline")]
    assert compilations(graph) == [(f"baseline/{name(1)}", 16)]


def test_a_folder_given_twice_counts_once(graph, runs, write):
    write("baseline")
    summary = ingest(graph, [runs, runs / "baseline", runs / "../runs"])
    assert (summary.ok, summary.added) == (True, (f"baseline/{name(1)}",))


def test_a_run_can_be_named(graph, runs, write):
    write("baseline")
    assert ingest(graph, runs, run="mine").added == (f"mine/{name(1)}",)


def test_tags_are_kept_and_merged_by_name(graph, runs, write):
    write("baseline")
    ingest(graph, runs, tags=["commit=abc", "device=v5e"])
    assert tags(graph) == [(["commit=abc", "device=v5e"],)]
    ingest(graph, runs, tags=["commit=def"])
    assert tags(graph) == [(["commit=def", "device=v5e"],)]
    write("baseline", 2)
    ingest(graph, runs)
    assert tags(graph) == [(["commit=def", "device=v5e"],)]


def test_a_tag_needs_a_name_and_a_value(graph, runs):
    with pytest.raises(ValueError, match=r"expected a tag `name=value`, found 'commit'"):
        ingest(graph, runs, tags=["commit"])


def test_one_bad_file_never_stops_the_others(graph, runs, write):
    bad = write("baseline", 1, dump_text().replace("offset=0", "offset=?"))
    write("baseline", 2)
    summary = ingest(graph, runs)
    assert not summary.ok
    assert compilations(graph) == [(f"baseline/{name(2)}", 16)]
    (problem,) = summary.problems
    assert (problem.file, problem.line, problem.left_out) == (str(bad), 3, True)


def test_a_run_of_which_nothing_fits_is_none(graph, runs, write):
    write("baseline")
    write("broken", 1, "BufferAssignment:\nallocation")
    assert ingest(graph, runs).runs == ("baseline",)


def test_a_bad_file_leaves_what_the_graph_has(graph, runs, write):
    write("baseline")
    ingest(graph, runs)
    write("baseline", 1, "BufferAssignment:\nallocation")
    summary = ingest(graph, runs, replace=True)
    assert (summary.ok, summary.dropped) == (False, ())
    assert compilations(graph) == [(f"baseline/{name(1)}", 16)]


def test_fail_fast_stops_at_the_first_bad_file(graph, runs, write):
    write("a", 1, dump_text(1000000000))  # the largest file goes first
    write("b", 1, "BufferAssignment:\n" + "x" * (len(dump_text()) + 1))
    write("c", 1)
    summary = ingest(graph, runs, fail_fast=True)
    assert summary.stopped
    assert len(summary.problems) == 1
    assert compilations(graph) == [(f"a/{name(1)}", 1000000000)]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", None, "the file is empty"),
        (b"\r\n\n", None, "the file is empty"),
        (b"BufferAssignment:\n\xff\n", 2, "expected UTF-8, found the byte 0xff"),
        (CUT_GZIP, None, "cannot be unpacked: Compressed "),
        (b"hello\n", 1, "expected "),
    ],
)
def test_what_is_a_dump_by_its_name_but_none_by_content_is_named(
    graph, runs, write, content, line, message
):
    path = write("baseline")
    path.write_bytes(content)
    summary = ingest(graph, runs)
    (problem,) = summary.problems
    assert (problem.file, problem.line, problem.left_out) == (str(path), line, True)
    assert problem.message.startswith(message)
    assert not summary.ok


def test_sizes_beyond_64_bits_in_all_are_named(graph, runs, write):
    sizes = dump_text().replace("(size=16", f"(size={2**62}").replace("size 16", f"size {2**62}")
    values = "".join(f" value: <{i} v{i} @0> (size={2**62},offset=0): u8[]\n" for i in (1, 2, 3))
    write("baseline", 1, sizes.partition("\nTotal")[0] + values)
    (problem,) = ingest(graph, runs).problems
    assert problem.left_out


def test_totals_that_do_not_agree_are_loaded_and_named(graph, runs, write):
    write("baseline", 1, dump_text(16, total=17))
    write("baseline", 2)
    for _ in range(2):
        summary = ingest(graph, runs)
        assert not summary.ok
        assert summary.agreeing == 1
        assert summary.disagreeing == ((f"baseline/{name(1)}", 17, 16),)
    assert len(compilations(graph)) == 2


SPLIT = dump_text().partition("\nTotal")
VALUES, LIVE_RANGE = ("\nTotal" + SPLIT[2]).split("\n\nHloLiveRange")


def test_a_missing_companion_of_a_split_dump_is_named_and_gives_nulls(graph, runs, write):
    path = write("baseline", 1, SPLIT[0])
    companion = runs / "baseline" / f"{name(1)}-buffer-assignment-values.txt"
    companion.write_text(VALUES)
    summary = ingest(graph, runs)
    assert summary.missing == {f"baseline/{name(1)}": ("live ranges", "module text")}
    assert messages(summary) == [
        f"{path}: has no live ranges, nor is {name(1)}-live-range.txt beside it"
    ]
    assert summary.ok
    (compilation,) = graph.read(f"baseline/{name(1)}").nodes["Compilation"].to_pylist()
    assert (compilation["totalBytes"], compilation["physicalPeakBytes"]) == (16, None)


def test_the_files_of_a_split_dump_make_one_compilation(graph, runs, write):
    write("baseline", 1, SPLIT[0])
    folder = runs / "baseline"
    (folder / f"{name(1)}-buffer-assignment-values.txt").write_text(VALUES)
    (folder / f"{name(1)}-live-range.txt").write_text("HloLiveRange" + LIVE_RANGE)
    summary = ingest(graph, runs)
    assert (summary.ok, summary.problems) == (True, ())
    (compilation,) = graph.read(f"baseline/{name(1)}").nodes["Compilation"].to_pylist()
    assert (compilation["totalBytes"], compilation["physicalPeakBytes"]) == (16, 16)


def test_an_empty_companion_is_named(graph, runs, write):
    write("baseline", 1, SPLIT[0])
    (runs / "baseline" / f"{name(1)}-buffer-assignment-values.txt").write_text(VALUES)
    empty = runs / "baseline" / f"{name(1)}-live-range.txt"
    empty.touch()
    summary = ingest(graph, runs)
    assert messages(summary) == [f"{empty}: the file is empty"]
    assert summary.added == (f"baseline/{name(1)}",)


def test_module_text_that_is_no_text_is_named_and_the_dump_loaded(graph, runs, write):
    write("baseline")
    module_text = runs / "baseline" / f"{name(1)}.txt"
    module_text.write_bytes(b"HloModule f\n\xe9\n")
    summary = ingest(graph, runs)
    assert messages(summary) == [f"{module_text}:2: expected UTF-8, found the byte 0xe9"]
    assert (summary.ok, summary.added) == (True, (f"baseline/{name(1)}",))


def test_a_dry_run_tells_all_and_writes_nothing(graph, runs, write):
    write("baseline", 1)
    write("baseline", 2, "BufferAssignment:\nnonsense\n")
    for target in (None, graph):
        summary = ingest(target, runs, dry_run=True)
        assert (summary.dry_run, summary.added) == (True, (f"baseline/{name(1)}",))
        assert len(summary.problems) == 1
    assert not Path(graph.location).exists()


def test_nothing_to_ingest_is_not_ok(graph, runs):
    (runs / "readme.txt").write_text("hello")
    summary = ingest(graph, runs)
    assert (summary.ok, summary.problems) == (False, ())
    assert not ingest(graph, runs / "nowhere").ok
    assert not Path(graph.location).exists()


def test_a_file_that_vanishes_is_named(graph, runs, write):
    first = write("baseline", 1, dump_text() + BLANK_LINES)
    second = write("baseline", 2)

    def lose(progress: Progress) -> None:
        if progress.file == str(first):
            second.unlink()

    summary = ingest(graph, runs, jobs=1, progress=lose)
    assert messages(summary) == [f"{second}: cannot be read: No such file or directory"]
    assert summary.added == (f"baseline/{name(1)}",)


def test_a_pipe_in_the_place_of_a_file_is_named_and_not_waited_for(graph, runs, write):
    first = write("baseline", 1, dump_text() + BLANK_LINES)
    second = write("baseline", 2)

    def swap(progress: Progress) -> None:
        if progress.file == str(first):
            second.unlink()
            os.mkfifo(second)

    summary = ingest(graph, runs, jobs=1, progress=swap)
    assert messages(summary) == [f"{second}: cannot be read: it is no file"]
    assert messages(ingest(graph, runs)) == [f"{second}: it is no file"]


def test_progress_is_told_in_bytes(graph, runs, write):
    sizes = [write("baseline", number).stat().st_size for number in (1, 2, 3)]
    told: list[Progress] = []
    ingest(graph, runs, progress=told.append)
    assert [(item.bytes_done, item.compilations_done) for item in told] == [
        (sum(sizes[:count]), count) for count in (1, 2, 3)
    ]
    assert {(item.bytes_total, item.compilations_total) for item in told} == {(sum(sizes), 3)}


def test_several_processes_give_the_same_graph(corpus, tmp_path):
    folder = corpus / "versions"
    read = []
    for jobs in (1, 3):
        with open_graph(tmp_path / f"{jobs}.lbug", create=True) as graph:
            summary = ingest(graph, folder, jobs=jobs)
            assert summary.ok
            keys = [key for key, _ in compilations(graph)][::20]
            read.append([graph.read(str(key)).nodes["Value"].to_pylist() for key in keys])
    assert read[0] == read[1]


def test_dumps_of_the_same_content_have_the_rows_that_each_has_alone(corpus, tmp_path):
    from xlagraph.ingest.files.discovery import find_dumps
    from xlagraph.ingest.preparation.job import Job
    from xlagraph.ingest.preparation.pool import prepare_all

    jobs = [Job(dump, "", ()) for dump in find_dumps(corpus / "runs").dumps]
    together, alone = (
        [
            prepared.files.read()
            for prepared in prepare_all(jobs, 1, tmp_path, one_by_one=one_by_one)
            if prepared.files is not None
        ]
        for one_by_one in (False, True)
    )
    rows = CompilationRows.joined(together)
    assert len(together) < len(alone) == len(jobs)
    assert len(set(rows.digests.values())) < len(jobs)
    assert list(rows.digests) == [job.files.key for job in jobs]
    assert rows == CompilationRows.joined(alone)
    assert cells_of(rows.of([jobs[-1].files.key])) == cells_of(alone[-1])


def cells_of(rows: CompilationRows) -> dict[str, list[str]]:
    return {name: sorted(map(repr, table.to_pylist())) for name, table in rows.tables.items()}


def test_interrupted_what_was_finished_stays(graph, runs, write, monkeypatch):
    write("baseline", 1, dump_text() + BLANK_LINES)
    second = write("baseline", 2)
    real_stat = Path.stat

    def stat(path: Path, **options: bool) -> os.stat_result:
        if path == second and armed:
            raise KeyboardInterrupt
        return real_stat(path, **options)

    armed: list[bool] = []
    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(KeyboardInterrupt):
        ingest(graph, runs, jobs=1, progress=lambda _: armed.append(True))
    assert compilations(graph) == [(f"baseline/{name(1)}", 16)]


def test_a_process_that_dies_costs_its_file_only(runs, write, tmp_path):
    from xlagraph.ingest.files.discovery import find_dumps
    from xlagraph.ingest.preparation.job import Job
    from xlagraph.ingest.preparation.pool import prepare_all

    for number in range(4):
        write("baseline", number)
    jobs = [Job(dump, "", ()) for dump in find_dumps(runs).dumps]
    deadly: Any = _Deadly()
    poisoned = jobs[1]._replace(files=deadly)
    batches = list(prepare_all([jobs[0], poisoned, *jobs[2:]], 2, tmp_path))
    outcomes = [outcome for prepared in batches for outcome in prepared.outcomes]
    assert [outcome.has_rows for outcome in outcomes] == [True, False, True, True]
    assert sum(len(prepared.files.digests) for prepared in batches if prepared.files) == 3
    assert "has ended" in outcomes[1].problems[0].message


class _Deadly:
    """Ends the process that unpickles it."""

    size_bytes = 0
    allocations = Path("deadly.txt")

    def __reduce__(self):
        return os._exit, (9,)


def test_a_process_that_prepares_does_without_numpy(runs, write, tmp_path):
    from xlagraph.ingest.files.discovery import find_dumps
    from xlagraph.ingest.preparation.job import Job
    from xlagraph.ingest.preparation.pool import prepare_all

    write("baseline", 1)
    jobs = [Job(dump, "", ()) for dump in find_dumps(runs).dumps]
    told = tmp_path / "modules.txt"
    spy: Any = _Spy(told)
    jobs.append(Job(spy, "", ()))
    with closing(prepare_all(jobs, 2, None, one_by_one=True)) as batches:
        assert [prepared.outcomes[0].has_rows for prepared in batches] == [True, False]
    modules = told.read_text().split()
    assert "pyarrow" in modules
    assert "numpy" not in modules


class _Spy:
    """Tells the modules of the process that unpickles it, which that process does not outlive."""

    size_bytes = 0
    allocations = Path("spy.txt")

    def __init__(self, told: Path) -> None:
        self.told = told

    def __reduce__(self):
        text = f"open({str(self.told)!r}, 'w').write(' '.join(__import__('sys').modules))"
        return eval, (text,)
