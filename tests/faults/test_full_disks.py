"""On a full or read-only disk the graph is unchanged, and the message says so."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.harness.forked_commands import Commands
from tests.faults.harness.graph_states import all_rows
from tests.tiny_dumps import dump, write_dump, write_runs
from xlagraph.graph import GraphUnwritable, open_graph
from xlagraph.ingest import Progress, ingest

pytestmark = pytest.mark.usefixtures("no_connection_named")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A graph of two runs in an otherwise empty folder."""
    path = tmp_path / "graphs" / "g.lbug"
    path.parent.mkdir()
    with open_graph(path, create=True) as graph:
        assert ingest(graph, write_runs(tmp_path / "runs"), jobs=1).ok
    return path


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small separate disk."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None or mount(folder, "size=64m").returncode:
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def mount(folder: Path, options: str) -> "subprocess.CompletedProcess[bytes]":
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False)


def fill(disk: Path) -> None:
    """Fill all but one megabyte."""
    with (disk / "other").open("wb") as other:
        while shutil.disk_usage(disk).free > 2**20:
            other.write(bytes(2**16))
            other.flush()


def change_dumps(runs: Path) -> None:
    write_dump(runs / "before", 1, "jit_f", dump(1024))


@pytest.mark.parametrize("limit", [1, 100_000])
def test_a_file_at_its_size_limit_stays_unchanged(
    file: Path, tmp_path: Path, commands: Commands, limit: int
):
    with open_graph(file) as graph:
        before = all_rows(graph)
    change_dumps(tmp_path / "runs")
    ended = commands.run("ingest", tmp_path / "runs", "--graph", file, file_size_limit=limit)
    assert ended.code == 1
    assert "as before" in ended.err or limit == 1  # what it writes there is a file too
    assert "Traceback" not in ended.err
    with open_graph(file) as graph:
        assert all_rows(graph) == before
    assert {path.name for path in file.parent.iterdir()} <= {"g.lbug", "g.lbug.lock"}
    assert commands.run("ingest", tmp_path / "runs", "--graph", file).code == 0
    with open_graph(file) as graph:
        assert all_rows(graph) != before


def test_a_full_disk_leaves_the_file_unchanged(
    disk: Path, file: Path, tmp_path: Path, commands: Commands
):
    here = disk / "g.lbug"
    shutil.copy(file, here)
    fill(disk)
    with open_graph(here) as graph:
        before = all_rows(graph)
    change_dumps(tmp_path / "runs")
    ended = commands.run("ingest", tmp_path / "runs", "--graph", here)
    assert ended.code == 1
    assert "could not be written, it is as before" in ended.err
    assert {path.name for path in disk.iterdir()} == {"g.lbug", "g.lbug.lock", "other"}
    with open_graph(here) as graph:
        assert all_rows(graph) == before


def test_a_disk_too_small_for_a_first_graph_has_no_graph(
    disk: Path, tmp_path: Path, commands: Commands
):
    fill(disk)
    write_runs(tmp_path / "runs")
    ended = commands.run("ingest", tmp_path / "runs", "--graph", disk / "g.lbug")
    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert {path.name for path in disk.iterdir()} <= {"other", "g.lbug.lock"}


def test_a_disk_that_becomes_read_only_is_named_and_can_be_read(
    disk: Path, file: Path, tmp_path: Path, commands: Commands
):
    here = disk / "g.lbug"
    shutil.copy(file, here)
    assert not mount(disk, "remount,ro").returncode
    change_dumps(tmp_path / "runs")
    ended = commands.run("ingest", tmp_path / "runs", "--graph", here)
    assert ended.code == 1
    assert f"cannot write next to {here}" in ended.err
    assert "Traceback" not in ended.err
    assert here.read_bytes() == file.read_bytes()
    assert commands.run("runs", "--graph", here).code == 0


def test_a_read_only_file_is_replaced_if_its_folder_is_writable(
    file: Path, tmp_path: Path, commands: Commands
):
    """As for any program that writes a new file, the folder decides."""
    file.chmod(0o444)
    change_dumps(tmp_path / "runs")
    assert commands.run("ingest", tmp_path / "runs", "--graph", file).code == 0
    assert commands.run("compilations", "--graph", file).code == 0


def test_a_graph_folder_that_vanishes_meanwhile_is_reported(file: Path, tmp_path: Path):
    change_dumps(tmp_path / "runs")

    def take_away(_: Progress) -> None:
        shutil.rmtree(file.parent, ignore_errors=True)

    with open_graph(file) as graph, pytest.raises(GraphUnwritable, match="could not be written"):
        ingest(graph, tmp_path / "runs", jobs=1, progress=take_away)
    assert not file.exists()


def test_a_missing_folder_of_the_graph_is_reported(tmp_path: Path, commands: Commands):
    write_runs(tmp_path / "runs")
    ended = commands.run("ingest", tmp_path / "runs", "--graph", tmp_path / "no" / "g.lbug")
    assert ended.code in (1, 3)
    assert "Traceback" not in ended.err
    assert str(tmp_path / "no") in ended.err


def test_a_foreign_file_is_never_overwritten(tmp_path: Path, commands: Commands):
    write_runs(tmp_path / "runs")
    for content in (b"", b"my thesis\n", os.urandom(5000)):
        path = tmp_path / "thesis.txt"
        path.write_bytes(content)
        ended = commands.run("ingest", tmp_path / "runs", "--graph", path)
        assert ended.code == 3
        assert "is not a graph" in ended.err
        assert path.read_bytes() == content
