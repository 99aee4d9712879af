"""Dumps that change or vanish during an ingest are named, and the others are loaded."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.harness.changing_dumps import wide_dump
from tests.faults.harness.graph_states import CleanGraphs, all_rows, complete_digests, key_of
from tests.tiny_dumps import dump, write_dump
from xlagraph.graph import Graph
from xlagraph.ingest import Progress, ingest


def test_a_folder_that_vanishes_meanwhile_skips_only_the_unread_files(graph: Graph, tmp_path: Path):
    runs = tmp_path / "runs"
    write_dump(runs / "mine", 1, "jit_large", wide_dump(20))
    for number in (2, 3):
        write_dump(runs / "mine", number, "jit_small", dump(64))

    def take_away(progress: Progress) -> None:
        if progress.compilations_done:
            shutil.rmtree(runs, ignore_errors=True)

    summary = ingest(graph, runs, jobs=1, progress=take_away)
    # small files are read together
    assert set(complete_digests(graph)) == set(summary.added) >= {key_of("mine", 1, "jit_large")}
    assert len(summary.added) + len(summary.problems) == 3
    assert all("No such file" in problem.message for problem in summary.problems)


def test_a_vanished_dump_stays_in_the_graph_and_is_reported(graph: Graph, tmp_path: Path):
    runs = tmp_path / "runs"
    gone = write_dump(runs / "mine", 1, "jit_f", dump(64))
    write_dump(runs / "mine", 2, "jit_g", dump(64))
    assert ingest(graph, runs, jobs=1).ok
    gone.unlink()
    summary = ingest(graph, runs, jobs=1)
    assert summary.gone == (key_of("mine", 1, "jit_f"),)
    assert len(complete_digests(graph)) == 2


@contextmanager
def growing(path: Path) -> Iterator[None]:
    """Write a dump repeatedly, line by line, like a compiler."""
    lines = wide_dump(60).splitlines(keepends=True)
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            with path.open("w") as file:
                for line in lines:
                    file.write(line)
                    file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        is_over.set()
        writer.join()


def test_a_file_that_grows_while_it_is_read_is_complete_or_skipped(graph: Graph, tmp_path: Path):
    runs = tmp_path / "runs"
    write_dump(runs / "mine", 2, "jit_g", dump(64))
    path = write_dump(runs / "mine", 1, "jit_f", "")
    key = key_of("mine", 1, "jit_f")
    with growing(path):
        for _ in range(3):
            summary = ingest(graph, runs, jobs=1)
            assert key_of("mine", 2, "jit_g") in complete_digests(graph)
            for problem in summary.problems:
                assert problem.file == str(path)
    assert ingest(graph, runs, jobs=1).ok
    with CleanGraphs(tmp_path / "clean").of(
        {key: wide_dump(60), key_of("mine", 2, "jit_g"): dump(64)}
    ) as clean:
        assert all_rows(graph) == all_rows(clean)


def test_every_beginning_of_a_dump_is_skipped_or_lacks_only_the_missing_part(
    graph: Graph, tmp_path: Path
):
    """A slow or killed writer leaves a dump that ends anywhere."""
    text = dump(64)
    for length in range(0, len(text), 97):
        write_dump(tmp_path / "runs" / "mine", length, "jit_f", text[:length])
    summary = ingest(graph, tmp_path / "runs", jobs=1)
    assert set(summary.added) == set(complete_digests(graph))
    left_out = {problem.file for problem in summary.problems if problem.left_out}
    assert len(summary.added) + len(left_out) == len(range(0, len(text), 97))


@pytest.mark.parametrize("number", [2**63, 2**64, 10**30])
def test_numbers_beyond_64_bits_are_an_error_of_that_file(
    graph: Graph, tmp_path: Path, number: int
):
    runs = tmp_path / "runs"
    bad = write_dump(runs / "mine", 1, "jit_f", dump(64).replace("size 64", f"size {number}", 1))
    write_dump(runs / "mine", 2, "jit_g", dump(64))
    summary = ingest(graph, runs, jobs=1)
    assert [(problem.file, problem.line) for problem in summary.problems] == [(str(bad), 2)]
    assert set(complete_digests(graph)) == {key_of("mine", 2, "jit_g")}


@pytest.mark.parametrize("number", ["18446744073709551616", "<=99999999999999999999", "1" * 5000])
def test_dimensions_beyond_64_bits_are_an_error_of_that_file(
    graph: Graph, tmp_path: Path, number: str
):
    runs = tmp_path / "runs"
    text = dump(64).replace(": f32[16]{0}", f": f32[{number}]{{0}}")
    bad = write_dump(runs / "mine", 1, "jit_f", text)
    (problem,) = ingest(graph, runs, jobs=1).problems
    assert (problem.file, problem.line, problem.left_out) == (str(bad), 3, True)
