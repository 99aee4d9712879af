"""The embedded graph as a file: how it is opened, locked, changed and found."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter

import ladybug
import pytest

from tests.graph.made_rows import facts, made_rows
from xlagraph.graph import (
    CompilationRows,
    GraphMissing,
    GraphUnreachable,
    GraphUnwritable,
    open_graph,
    remove,
    tag_run,
)
from xlagraph.graph.ladybug import compaction, file_changes
from xlagraph.graph.ladybug import load as ladybug_load
from xlagraph.graph.row_files import RowFiles

pytestmark = pytest.mark.usefixtures("no_connection_named")


def load(path, *compilations):
    with open_graph(path, create=True) as graph, graph.load() as loading:
        for rows in compilations:
            loading.write(rows)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "graph.lbug"
    load(path, made_rows())
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def copies(monkeypatch):
    """Count the COPY statements into each table."""
    counts = Counter[str]()
    execute = ladybug.Connection.execute

    def count(connection, text, *rest, **named):
        if copied := re.match("COPY `(.*?)`", text):
            counts[copied[1]] += 1
        return execute(connection, text, *rest, **named)

    monkeypatch.setattr(ladybug.Connection, "execute", count)
    return counts


def test_tables_of_many_rows_are_copied_in_several_parts(tmp_path, monkeypatch, copies):
    for name in ("MAX_COPIED_NODES", "MAX_COPIED_RELATIONSHIPS"):  # the true ones are millions
        monkeypatch.setattr(file_changes, name, 40)
    monkeypatch.setattr(file_changes, "FEW_NODES", 0)
    compilations = [made_rows(stem=f"module_{number:04}", values=20) for number in range(9)]
    with open_graph(tmp_path / "graph.lbug", create=True) as graph, graph.load() as loading:
        loading.expect_rows()
        assert loading.row_folder is not None
        for rows in compilations:
            loading.write_files(RowFiles.write(loading.row_folder, rows.tables.items()))
    assert copies["Value"] == copies["HOLDS"] == 5  # of two files each, and the last one
    assert copies["Compilation"] == copies["ALLOCATES"] == 1
    with open_graph(tmp_path / "graph.lbug") as graph:
        for rows in compilations:
            assert facts(graph.read(rows.compilation)) == facts(rows)


def test_only_some_new_rows_wait_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(ladybug_load, "MAX_WAITING_ROWS", 1)  # the true number is 100 000
    stored, new = made_rows("stored", sha256="a"), made_rows("new", sha256="b")
    load(tmp_path / "graph.lbug", stored)
    with open_graph(tmp_path / "graph.lbug") as graph, graph.load() as loading:
        assert loading.row_folder is not None
        rows = CompilationRows.joined([stored, new])
        loading.write_files(RowFiles.write(loading.row_folder, rows.tables.items()))
        assert len(list(loading.row_folder.glob("rows-*"))) == 1


def sizes_before_and_after_a_removal(path):
    """Remove one of two runs, check the other, and return the file size before and after."""
    stays, goes = made_rows("stays", values=60), made_rows("goes", values=2_000)
    load(path, stays)
    load(path, goes)
    before = path.stat().st_size
    with open_graph(path) as graph:
        remove(graph, "goes")
        assert facts(graph.read(stays.compilation)) == facts(stays)
    return before, path.stat().st_size


def test_a_file_is_smaller_after_a_removal(tmp_path):
    path = tmp_path / "it's [a] *" / "graph.lbug"  # signs of a text and of a pattern
    path.parent.mkdir()
    before, after = sizes_before_and_after_a_removal(path)
    assert after < before / 2
    assert names(path.parent) == ["graph.lbug", "graph.lbug.lock"]


def test_a_file_of_more_rows_than_one_copy_takes_is_not_compacted(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction, "MAX_COPIED_NODES", 50)  # the true number is millions
    before, after = sizes_before_and_after_a_removal(tmp_path / "graph.lbug")
    assert after >= before


def test_a_file_without_the_last_run_takes_new_ones(tmp_path, file):
    with open_graph(file) as graph:
        remove(graph, "baseline")
        assert graph.query("MATCH (r:Run) RETURN r.key AS key").rows == ()
    load(file, made_rows())
    with open_graph(file) as graph:
        assert facts(graph.read(made_rows().compilation)) == facts(made_rows())


def test_reading_never_makes_a_file(tmp_path):
    with pytest.raises(GraphMissing, match="no graph at"):
        open_graph(tmp_path / "none.lbug")
    assert names(tmp_path) == []


def test_opening_to_load_makes_no_file_either(tmp_path):
    with open_graph(tmp_path / "none.lbug", create=True) as graph:
        assert graph.query("MATCH (c:Compilation) RETURN c.key AS key").rows == ()
    assert names(tmp_path) == []


def test_after_a_load_only_the_file_and_its_lock_are_there(file):
    assert names(file.parent) == ["graph.lbug", "graph.lbug.lock"]


def test_an_empty_load_does_not_change_the_file(file):
    before = file.stat()
    with open_graph(file, create=True) as graph, graph.load():
        pass
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_unchanged_tags_do_not_change_the_file(file):
    before = file.stat()
    with open_graph(file) as graph:
        tag_run(graph, "baseline", {"commit": "abc", "job": None})
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_that_is_not_a_graph_is_neither_read_nor_overwritten(tmp_path):
    text = tmp_path / "README.md"
    text.write_text("# hello\n")
    empty = tmp_path / "empty.lbug"
    empty.touch()
    for path in (text, empty, tmp_path):
        for create in (False, True):
            with pytest.raises(GraphMissing, match="is not a graph"):
                open_graph(path, create=create)
    assert text.read_text() == "# hello\n"


def test_a_database_of_another_program_is_not_a_graph(tmp_path):
    path = tmp_path / "theirs.lbug"
    with ladybug.Database(path) as database, ladybug.Connection(database) as connection:
        connection.execute("CREATE NODE TABLE Person(name STRING, PRIMARY KEY(name))")
    with pytest.raises(GraphMissing, match="without an xlagraph graph"):
        open_graph(path, create=True)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_truncated_file_is_reported_as_damaged(file, share):
    load(file, made_rows("second", values=500))
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    with pytest.raises(GraphMissing, match=r"is damaged.*ingest the dumps into a new file"):
        open_graph(file)


def test_a_path_is_not_a_pattern(tmp_path):
    (tmp_path / "ab").mkdir()
    load(tmp_path / "ab" / "g.lbug", made_rows())
    for name in ("run[1]", "a*?{a,b}", "it's"):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "[g]*.lbug"
        load(file, made_rows())
        with open_graph(file) as graph:
            assert facts(graph.read("baseline/module_0001.jit_step")) == facts(made_rows())


def test_a_circular_link_is_not_a_graph(tmp_path):
    link = tmp_path / "loop.lbug"
    link.symlink_to(link)
    with pytest.raises(GraphMissing, match="does not exist"):
        open_graph(link, create=True)


@pytest.mark.skipif(sys.platform != "linux", reason="others do not limit addresses so")
def test_an_engine_without_address_space_names_the_limit(file):
    script = (
        "import resource, sys; from xlagraph.graph import *\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "try: open_graph(sys.argv[1])\n"
        "except GraphMissing as error: print(error)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, file], capture_output=True, text=True, check=False
    )
    assert "see `ulimit -v`" in ended.stdout, ended.stderr


def test_a_damaged_load_leaves_the_graph_as_it_was(file):
    rows = made_rows("second")
    twice = {**rows.nodes, "Value": rows.nodes["Value"].take([0, 0, 1, 2, 3])}
    with pytest.raises(GraphUnwritable, match="as before"):
        load(file, type(rows)(twice, rows.relationships))
    assert names(file.parent) == ["graph.lbug", "graph.lbug.lock"]
    with open_graph(file) as graph:
        assert facts(graph.read("baseline/module_0001.jit_step")) == facts(made_rows())


def test_a_file_keeps_its_permissions_and_a_link_stays_a_link(file, tmp_path):
    file.chmod(0o640)
    link = tmp_path / "link.lbug"
    link.symlink_to(file)
    load(link, made_rows("second"))
    assert file.stat().st_mode & 0o777 == 0o640
    with open_graph(link) as graph:
        remove(graph, "second")
    assert file.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()


@pytest.mark.parametrize("most_bytes", [0, 1 << 40], ids=["added", "all rewritten"])
def test_rows_are_added_to_a_file_or_all_written_into_a_new_one(file, monkeypatch, most_bytes):
    monkeypatch.setattr(ladybug_load, "_SMALL_FILE_BYTES", most_bytes)
    later = [made_rows("second"), made_rows("third", values=40)]
    for rows in later:
        load(file, rows)
    with open_graph(file) as graph:
        for rows in (made_rows(), *later):
            assert facts(graph.read(rows.compilation)) == facts(rows)


def test_a_small_file_that_gets_a_little_stays_small(file):
    before = file.stat().st_size
    for name in ("second", "third"):
        load(file, made_rows(name))
    assert file.stat().st_size < 2 * before


def test_the_second_writer_waits_and_nothing_is_lost(file):
    told = threading.Event()
    finished = threading.Event()

    def second():
        with open_graph(file, notify=lambda _: told.set()) as graph, graph.load() as loading:
            loading.write(made_rows("second"))
        finished.set()

    with open_graph(file) as graph, graph.load() as loading:
        thread = threading.Thread(target=second)
        thread.start()
        assert told.wait(180)
        loading.write(made_rows("first"))
    thread.join()
    assert finished.is_set()
    with open_graph(file) as graph:
        runs = graph.query("MATCH (r:Run) RETURN r.key AS run ORDER BY run").rows
    assert runs == (("baseline",), ("first",), ("second",))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_reported(file):
    file.parent.chmod(0o500)
    try:
        with pytest.raises(GraphUnwritable, match="cannot write"):
            load(file, made_rows("second"))
    finally:
        file.parent.chmod(0o700)


def test_the_graph_is_found_by_flag_then_variable_then_folder(file, monkeypatch):
    other = shutil.copy(file, file.parent / "other.lbug")
    default = shutil.copy(file, file.parent / "xlagraph.lbug")
    monkeypatch.chdir(file.parent)
    assert open_graph().location == str(default)
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    with pytest.raises(GraphUnreachable, match=r"127\.0\.0\.1:1"):
        open_graph()
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(other))
    assert open_graph().location == str(other)
    assert open_graph(file).location == str(file)


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("http://localhost:7474", "not a scheme of a graph"),
        ("neo4j:/localhost", "names no host"),
        ("neo4j://", "names no host"),
        ("neo4j//localhost", "has no colon"),
        ("neo4j://localhost/?s3cret=1", "NEO4J_PASSWORD"),
        ("neo4j://localhost/#s3cret", "NEO4J_PASSWORD"),
        ("neo4j://localhost:99999", "cannot be read"),
        ("neo4j://neo4j:s3cret@localhost", "NEO4J_PASSWORD"),
        ("bolt://:s3cret@localhost:7687", "NEO4J_PASSWORD"),
    ],
)
def test_a_wrong_uri_is_reported_without_its_secret(uri, says):
    with pytest.raises(GraphUnreachable, match=says) as told:
        open_graph(uri)
    assert "s3cret" not in str(told.value)
