"""Unsuitable files are named, and never stop the others."""

import os

import pytest

from tests.ingest.one_value_dumps import (
    BLANK_LINES,
    CUT_GZIP,
    compilations,
    dump_text,
    messages,
    name,
)
from xlagraph.ingest import IngestOptions, Progress, ingest


def test_one_bad_file_never_stops_the_others(graph, runs, write):
    bad = write("baseline", 1, dump_text().replace("offset=0", "offset=?"))
    write("baseline", 2)
    summary = ingest(graph, runs)
    assert not summary.ok
    assert compilations(graph) == [(f"baseline/{name(2)}", 16)]
    (problem,) = summary.problems
    assert (problem.file, problem.line, problem.left_out) == (str(bad), 3, True)


def test_a_run_without_a_valid_file_does_not_exist(graph, runs, write):
    write("baseline")
    write("broken", 1, "BufferAssignment:\nallocation")
    assert ingest(graph, runs).runs == ("baseline",)


def test_a_bad_file_does_not_change_the_graph(graph, runs, write):
    write("baseline")
    ingest(graph, runs)
    write("baseline", 1, "BufferAssignment:\nallocation")
    summary = ingest(graph, runs, IngestOptions(replace=True))
    assert (summary.ok, summary.dropped) == (False, ())
    assert compilations(graph) == [(f"baseline/{name(1)}", 16)]


def test_fail_fast_stops_at_the_first_bad_file(graph, runs, write):
    write("a", 1, dump_text(1000000000))  # the largest file is first
    write("b", 1, "BufferAssignment:\n" + "x" * (len(dump_text()) + 1))
    write("c", 1)
    summary = ingest(graph, runs, IngestOptions(fail_fast=True))
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
def test_a_file_with_the_name_of_a_dump_and_other_content_is_named(
    graph, runs, write, content, line, message
):
    path = write("baseline")
    path.write_bytes(content)
    summary = ingest(graph, runs)
    (problem,) = summary.problems
    assert (problem.file, problem.line, problem.left_out) == (str(path), line, True)
    assert problem.message.startswith(message)
    assert not summary.ok


def test_sizes_whose_sum_exceeds_64_bits_are_named(graph, runs, write):
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
        f"{path}: has no live ranges, nor is {name(1)}-live-range.txt next to it"
    ]
    assert summary.ok
    (compilation,) = graph.read(f"baseline/{name(1)}").nodes["Compilation"].to_pylist()
    assert (compilation["totalBytes"], compilation["physicalPeakBytes"]) == (16, None)


def test_a_module_text_without_enough_facts_for_planning_is_named(graph, runs, write):
    write("baseline", 1)
    text = "ENTRY main {\n  ROOT fused = (f32[4]) fusion(), calls=dynamic-update-slice\n}\n"
    text += "dynamic-update-slice {\n  a = f32[] scatter()\n"
    text += "  ROOT b = (f32[4]) fusion(), calls=dynamic-update-slice\n}\n"
    (runs / "baseline" / f"{name(1)}.txt").write_text(f"HloModule f\n{text}")
    summary = ingest(graph, runs)
    assert summary.ok
    assert summary.missing == {f"baseline/{name(1)}": ("planning facts",)}


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


def test_module_text_that_is_not_text_is_named_and_the_dump_loaded(graph, runs, write):
    write("baseline")
    module_text = runs / "baseline" / f"{name(1)}.txt"
    module_text.write_bytes(b"HloModule f\n\xe9\n")
    summary = ingest(graph, runs)
    assert messages(summary) == [f"{module_text}:2: expected UTF-8, found the byte 0xe9"]
    assert (summary.ok, summary.added) == (True, (f"baseline/{name(1)}",))


def test_a_file_that_vanishes_is_named(graph, runs, write):
    first = write("baseline", 1, dump_text() + BLANK_LINES)
    second = write("baseline", 2)

    def lose(progress: Progress) -> None:
        if progress.file == str(first):
            second.unlink()

    summary = ingest(graph, runs, jobs=1, progress=lose)
    assert messages(summary) == [f"{second}: cannot be read: No such file or directory"]
    assert summary.added == (f"baseline/{name(1)}",)


def test_a_pipe_instead_of_a_file_is_named_and_not_waited_for(graph, runs, write):
    first = write("baseline", 1, dump_text() + BLANK_LINES)
    second = write("baseline", 2)

    def swap(progress: Progress) -> None:
        if progress.file == str(first):
            second.unlink()
            os.mkfifo(second)

    summary = ingest(graph, runs, jobs=1, progress=swap)
    assert messages(summary) == [f"{second}: cannot be read: it is not a file"]
    assert messages(ingest(graph, runs)) == [f"{second}: it is not a file"]
