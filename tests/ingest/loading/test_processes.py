"""An ingest with one process or several: the same graph, progress, and Ctrl-C."""

import os
from pathlib import Path

import pytest

from tests.ingest.one_value_dumps import BLANK_LINES, compilations, dump_text, name
from xlagraph.graph import open_graph
from xlagraph.ingest import Progress, ingest


def test_progress_is_in_bytes_and_covers_reading_and_storing(graph, runs, write):
    sizes = [
        write("baseline", number, dump_text() + "\n" * blank_lines).stat().st_size
        for number, blank_lines in ((1, 1000), (2, 100), (3, 10))
    ]
    reported: list[Progress] = []
    ingest(graph, runs, jobs=1, progress=reported.append)
    done = [progress.bytes_done for progress in reported]
    assert done == sorted(done)
    read = next(progress for progress in reported if progress.compilations_done == 3)
    assert done[0] == 0
    assert sizes[0] / 2 < done[1] < read.bytes_done < done[-1] <= sum(sizes)
    assert {(progress.bytes_total, progress.compilations_total) for progress in reported} == {
        (sum(sizes), 3)
    }


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


def test_compilations_finished_before_an_interrupt_stay(graph, runs, write, monkeypatch):
    write("baseline", 1, dump_text() + BLANK_LINES)
    second = write("baseline", 2)
    real_stat = Path.stat

    def stat(path: Path, **options: bool) -> os.stat_result:
        if path == second and armed:
            raise KeyboardInterrupt
        return real_stat(path, **options)

    armed: list[bool] = []

    def arm(progress: Progress) -> None:
        if progress.compilations_done:
            armed.append(True)

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(KeyboardInterrupt):
        ingest(graph, runs, jobs=1, progress=arm)
    assert compilations(graph) == [(f"baseline/{name(1)}", 16)]
