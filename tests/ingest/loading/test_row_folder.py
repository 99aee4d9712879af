"""Folders of rows on the way to a server; those of killed processes are removed."""

import subprocess
import sys
import tempfile

import pytest

from xlagraph.ingest.loading.row_folder import temporary_row_folder

HOLDER = """
import sys, tempfile
from xlagraph.ingest.loading.row_folder import temporary_row_folder
tempfile.tempdir = sys.argv[1]
with temporary_row_folder() as folder:
    (folder / "rows.parquet").touch()
    print(folder.name, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The system's temporary folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def names(folder):
    return {path.name for path in folder.iterdir()}


def started_folder(process):
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_the_folder_is_removed_after_use(temporary):
    with temporary_row_folder() as folder:
        (folder / "rows.parquet").touch()
        assert folder.parent == temporary
    assert names(temporary) == set()


def test_the_next_use_removes_folders_of_killed_processes_and_keeps_those_in_use(temporary):
    (temporary / "xlagraph-rows-link").symlink_to(temporary / "elsewhere")
    (temporary / "elsewhere").mkdir()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER, temporary],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    killed, lives = (started_folder(process) for process in processes)
    processes[0].kill()
    processes[0].communicate()
    assert killed in names(temporary)
    with temporary_row_folder():
        assert killed not in names(temporary)
        assert {lives, "xlagraph-rows-link", "elsewhere"} < names(temporary)
    processes[1].communicate("")
    assert names(temporary) == {"xlagraph-rows-link", "elsewhere"}
