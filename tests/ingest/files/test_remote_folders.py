"""Dumps at an address are ingested like those of a folder, complete or not at all."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from tests.ingest.files.web_store import WebStore, web_store
from tests.ingest.one_value_dumps import compilations, dump_text, messages, name
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import IngestOptions, Shard, ingest
from xlagraph.ingest.files import store

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry without delay."""
    monkeypatch.setattr(store, "_FIRST_WAIT_SECONDS", 0.001)


@pytest.fixture
def graph(embedded_graph: Graph) -> Graph:
    return embedded_graph


@pytest.fixture
def web(runs: Path) -> Iterator[WebStore]:
    with web_store(runs) as store:
        yield store


@pytest.fixture
def memory() -> Iterator[str]:
    """An address in memory, empty again afterwards."""
    yield "memory://bucket"
    fsspec.filesystem("memory").rm("/bucket", recursive=True)


def put(address: str, text: str) -> None:
    with fsspec.open(address, "w") as file:
        file.write(text)


def test_a_remote_folder_gives_the_graph_of_the_local_folder(graph, corpus, tmp_path):
    runs = tmp_path / "folder" / "runs"
    shutil.copytree(corpus / "runs" / "baseline", runs / "baseline")
    with open_graph(tmp_path / "local.lbug", create=True) as local:
        ingest(local, runs, jobs=1)
        expected = compilations(local)
    with web_store(runs.parent) as store:
        summary = ingest(graph, f"{store.address}/runs/", jobs=2)
    assert summary.ok
    assert compilations(graph) == expected
    assert 1 <= store.most_at_once <= 16
    assert graph.stored_runs({"baseline"})["baseline"].path == f"{store.address}/runs/baseline"


def test_the_second_ingest_changes_nothing(graph, memory):
    put(f"{memory}/runs/a/{name(1)}-buffer-assignment.txt", dump_text())
    assert ingest(graph, f"{memory}/runs", jobs=1).added == (f"a/{name(1)}",)
    assert ingest(graph, f"{memory}/runs", jobs=1).unchanged == (f"a/{name(1)}",)


def test_dropped_connections_are_retried(graph, web, write):
    for number in range(5):
        write("run", number)
    web.drops_each = 3
    assert len(ingest(graph, f"{web.address}/", jobs=1).added) == 5
    assert set(web.gets.values()) == {4}


def test_a_file_that_is_always_incomplete_skips_only_its_compilation(graph, web, write):
    write("run", 1)
    write("run", 2).with_name(f"{name(2)}.txt").write_text("HloModule f\n")
    web.dropped = {f"{name(2)}.txt"}
    summary = ingest(graph, f"{web.address}/", jobs=1)
    assert summary.added == (f"run/{name(1)}",)
    (message,) = messages(summary)
    assert message.startswith(f"{web.address}/run/{name(2)}.txt: cannot be read after 6 tries: ")
    assert compilations(graph) == [(f"run/{name(1)}", 16)]


def test_a_compilation_that_changes_during_download_is_skipped(graph, web, write):
    dump = write("run")
    module = dump.with_name(f"{name(1)}.txt")
    module.write_text("HloModule f\n")
    sizes = iter([160, 16_000])  # lengths differ: server times have no fractions
    web.while_sending = {module.name: lambda: dump.write_text(dump_text(next(sizes)))}
    summary = ingest(graph, f"{web.address}/", jobs=1)
    (message,) = messages(summary)
    assert message.startswith(f"{web.address}/run/{dump.name}: ")
    assert compilations(graph) == []


def test_a_compilation_that_changed_after_listing_is_read_in_its_new_state(graph, web, write):
    dump = write("run")
    module = dump.with_name(f"{name(1)}.txt")
    module.write_text("HloModule f\n")
    web.while_sending = {
        module.name: lambda: (
            web.gets[f"/run/{module.name}"] == 1 and dump.write_text(dump_text(160))
        )
    }
    assert ingest(graph, f"{web.address}/", jobs=1).ok
    assert compilations(graph) == [(f"run/{name(1)}", 160)]


def test_only_files_of_dumps_are_fetched_and_a_shard_fetches_only_its_part(graph, web, write):
    for number in range(6):
        write("run", number).with_name(f"{name(number)}.o").write_bytes(b"object")
    shards = [
        ingest(graph, f"{web.address}/", IngestOptions(shard=Shard(number, 2)), jobs=1).added
        for number in (1, 2)
    ]
    assert sorted(shards[0] + shards[1]) == [f"run/{name(number)}" for number in range(6)]
    assert len(web.gets) == 6
    assert set(web.gets.values()) == {1}


def test_a_single_file_is_loaded_with_its_companions(graph, corpus):
    run = "runs/baseline/module_0006.jit_loss.cpu_after_optimizations-buffer-assignment.txt"
    with web_store(corpus) as store:
        summary = ingest(graph, f"{store.address}/{run}", jobs=1)
    assert summary.added == ("baseline/module_0006.jit_loss.cpu_after_optimizations",)
    assert summary.missing == ingest(None, corpus / run, IngestOptions(dry_run=True)).missing


def test_an_archive_is_unpacked(graph, web, write, runs, tmp_path):
    write("baseline")
    archive = shutil.make_archive(str(tmp_path / "all"), "gztar", runs)
    shutil.move(archive, runs)
    assert ingest(graph, f"{web.address}/all.tar.gz", jobs=1).added == (f"baseline/{name(1)}",)
    assert graph.stored_runs({"baseline"})["baseline"].path == f"{web.address}/all.tar.gz/baseline"


def test_a_text_of_any_name_is_a_dump_if_it_begins_like_one(graph, memory):
    put(f"{memory}/mine/step.txt", dump_text())
    put(f"{memory}/mine/notes.txt", "not a dump")
    assert ingest(graph, f"{memory}/mine", jobs=1).added == ("mine/step",)


def test_a_compilation_removed_from_a_remote_folder_is_reported_and_replaced(graph, memory):
    for number in (1, 2):
        put(f"{memory}/a/{name(number)}-buffer-assignment.txt", dump_text())
    ingest(graph, memory + "/a", jobs=1)
    fsspec.filesystem("memory").rm(f"/bucket/a/{name(2)}-buffer-assignment.txt")
    assert ingest(graph, memory + "/a", jobs=1).gone == (f"a/{name(2)}",)
    dropped = ingest(graph, memory + "/a", IngestOptions(replace=True), jobs=1).dropped
    assert dropped == (f"a/{name(2)}",)


def test_credentials_are_in_no_path_and_no_message(graph, web, write):
    write("run", 1)
    host = web.address.removeprefix("http://")
    summary = ingest(graph, f"http://me:secret@{host}/", jobs=1)
    assert summary.ok
    assert graph.stored_runs({"run"})["run"].path == f"{web.address}/run"
    missing = ingest(
        None, f"http://me:secret@{host}/no.txt?sig=secret", IngestOptions(dry_run=True)
    )
    assert "secret" not in str(missing)
    assert messages(missing) == [f"{web.address}/no.txt: cannot be read: it does not exist"]


def test_an_unknown_protocol_is_named(graph):
    (message,) = messages(ingest(None, "nowhere://x/y", IngestOptions(dry_run=True)))
    assert message.startswith("nowhere://x/y: ")
    assert "pip install 'xlagraph[remote]'" in message


def test_a_defect_is_raised_and_not_reported_as_a_failure_of_the_store(graph, memory, monkeypatch):
    def fetch(*_):
        raise KeyError("defect")

    put(f"{memory}/runs/a/{name(1)}-buffer-assignment.txt", dump_text())
    monkeypatch.setattr(store.Store, "fetch", fetch)
    with pytest.raises(KeyError, match="defect"):
        ingest(graph, f"{memory}/runs", jobs=1)


@pytest.mark.parametrize("defect", [AttributeError, KeyError, TypeError, NameError])
def test_a_defect_is_raised_at_the_first_try(defect):
    tries = []

    def fail():
        tries.append(1)
        raise defect

    with pytest.raises(defect):
        store._repeated(fail, Event())
    assert len(tries) == 1
