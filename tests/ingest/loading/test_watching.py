"""A watched folder: a compilation is loaded once its files are complete."""

import threading
from pathlib import Path

import pytest

from tests.ingest.one_value_dumps import compilations, dump_text, name
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import IngestOptions, watch
from xlagraph.ingest.loading.watching import WatchedFolders


@pytest.fixture
def graph(embedded_graph: Graph) -> Graph:
    return embedded_graph


@pytest.fixture
def watched(graph: Graph, runs: Path) -> WatchedFolders:
    """The folder of runs, scanned when a test asks for it."""
    return WatchedFolders(graph, [runs], IngestOptions(), jobs=1)


def keys(graph: Graph) -> list[object]:
    return [key for key, _ in compilations(graph)]


def test_a_compilation_is_loaded_when_two_scans_see_the_same_files(graph, watched, write):
    write("run", 1)
    watched.look()
    assert keys(graph) == []
    watched.look()
    assert keys(graph) == [f"run/{name(1)}"]


def test_a_file_that_grows_in_pieces_is_loaded_when_it_is_complete(graph, watched, write):
    text = dump_text(160)
    seen = []
    for end in range(40, len(text), 40):
        write("run", 1, text[:end])
        watched.look()
        seen += keys(graph)
    assert seen == []
    write("run", 1, text)
    watched.look()
    watched.look()
    assert compilations(graph) == [(f"run/{name(1)}", 160)]


def test_files_of_a_dead_writer_are_never_loaded_and_are_named(graph, watched, write):
    text = dump_text()
    write("run", 1)
    write("run", 2, text[: text.index("Total bytes used")])
    for _ in range(4):
        watched.look()
    assert keys(graph) == [f"run/{name(1)}"]
    (held,) = watched.summary.held_back
    assert held.compilation == f"run/{name(2)}"
    assert "its allocations do not add up to its total" in held.reason


def test_a_compilation_waits_for_a_file_that_others_have(graph, watched, write):
    write("run", 1).with_name(f"{name(1)}.txt").write_text("HloModule f\n")
    late = write("run", 2).with_name(f"{name(2)}.txt")
    for _ in range(3):
        watched.look()
    assert keys(graph) == [f"run/{name(1)}"]
    assert watched.summary.held_back == [
        (f"run/{name(2)}", "it has no module text, which others of its folder have")
    ]
    late.write_text("HloModule f\n")
    watched.look()
    watched.look()
    assert len(keys(graph)) == 2
    assert watched.summary.held_back == []


def test_changed_content_replaces_a_compilation_and_unchanged_content_is_skipped(
    graph, watched, write
):
    write("run", 1)
    for _ in range(2):
        watched.look()
    write("run", 1, dump_text(160))
    for _ in range(4):
        watched.look()
    assert compilations(graph) == [(f"run/{name(1)}", 160)]
    summary = watched.summary
    assert (summary.added, summary.updated, summary.unchanged) == (1, 1, 0)


def test_a_second_process_of_the_same_module_adds_no_duplicate(graph, watched, runs):
    def write(process: str) -> None:
        folder = runs / "f" / process
        folder.mkdir(parents=True)
        (folder / f"{name(1)}-buffer-assignment.txt").write_text(dump_text())

    write("vm_1")
    for _ in range(2):
        watched.look()
    assert keys(graph) == [f"runs/{name(1)}"]
    write("vm_2")
    for _ in range(2):
        watched.look()
    assert keys(graph) == [f"runs/f/vm_1/{name(1)}", f"runs/f/vm_2/{name(1)}"]


def test_readers_see_each_state_during_a_watch(graph, watched, write, tmp_path):
    for number in (1, 2):
        write("run", number)
        watched.look()
        watched.look()
        with open_graph(graph.location) as reader:
            assert len(keys(reader)) == number
        assert not Path(f"{graph.location}.loading").exists()


def test_a_remote_folder_is_watched_too(graph):
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    path = f"/watched/run/{name(1)}-buffer-assignment.txt"
    watched = WatchedFolders(graph, ["memory://watched"], IngestOptions(), jobs=1)
    text = dump_text()
    for end in (60, len(text), len(text)):
        files.pipe_file(path, text[:end].encode())
        watched.look()
        assert keys(graph) == []
    watched.look()
    files.rm("/watched", recursive=True)
    assert keys(graph) == [f"run/{name(1)}"]


def test_it_scans_until_it_is_stopped(graph, runs, write):
    write("run", 1)
    stop = threading.Event()
    watching = threading.Thread(
        target=watch,
        args=(graph, [runs]),
        kwargs={"stop": stop, "jobs": 1, "look_seconds": 0.01, "on_ingest": lambda _: stop.set()},
    )
    watching.start()
    watching.join(60)
    assert keys(graph) == [f"run/{name(1)}"]
