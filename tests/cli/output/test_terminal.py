"""Behaviour on a terminal: questions, tables that fit, a progress bar, colours."""

import os
import select
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command_line import COMMAND
from tests.tiny_dumps import dump, write_dump

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")


class Terminal:
    """A process with a terminal as its three streams."""

    def __init__(self, arguments: list[str], **environment: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "COLUMNS": "100", "TERM": "xterm-256color", **environment},
            start_new_session=True,
        )
        os.close(slave)
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Read until a text is shown."""
        deadline = time.monotonic() + 180
        while text not in self.shown:
            if not self._read(deadline):
                raise AssertionError(f"{text!r} is not in {self.shown!r}")

    def type(self, text: str) -> None:
        """Type some keys."""
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Read the rest, and return the exit code."""
        deadline = time.monotonic() + 180
        while self._read(deadline):
            pass
        return self.process.wait(60)

    def interrupt(self) -> int:
        """Press Ctrl-C until the process ends, and return the exit code.

        Python misses a signal that arrives just before it waits for a key.
        """
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            deadline = time.monotonic() + 2
            while self._read(deadline):
                pass
        return self.process.wait()

    def close(self) -> None:
        """End the process, and close the terminal."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0, deadline - time.monotonic()))
        try:
            chunk = os.read(self._master, 65536) if ready else b""
        except OSError:  # the other end is closed
            chunk = b""
        self.shown += chunk.decode()
        return bool(chunk)


@contextmanager
def terminal(*arguments: str, **environment: str):
    opened = Terminal([*arguments], **environment)
    try:
        yield opened
    finally:
        opened.close()


def test_remove_asks_and_no_changes_nothing(own_graph):
    with terminal("remove", "before") as asked:
        asked.wait_for("remove run before (2 compilations)? [y/N] ")
        asked.type("n\n")
        assert asked.end() == 1
    with terminal("remove", "before") as asked:
        asked.wait_for("[y/N] ")
        asked.type("y\n")
        assert asked.end() == 0
        assert "removed run before" in asked.shown


def test_ctrl_c_is_exit_130_with_one_word(own_graph):
    with terminal("remove", "before") as asked:
        asked.wait_for("[y/N] ")
        assert asked.interrupt() == 130
        assert asked.shown.splitlines()[-1] == "interrupted"
        assert "Traceback" not in asked.shown


def test_a_table_shows_the_columns_that_fit_and_names_the_others(graph):
    asked = ("query", "peak/contributors", "after/module_0001", "--graph", str(graph))
    with terminal(*asked, COLUMNS="80") as shown:
        assert shown.end() == 0
    lines = shown.shown.splitlines()
    (heading,) = [line.split() for line in lines if line.startswith("value")]
    assert heading[:3] == ["value", "sizeBytes", "physicalBytes"]
    assert heading[-2:] == ["userFile", "userLine"]
    assert "liveFrom" not in heading
    text = " ".join(shown.shown.split())
    assert "liveFrom" in text[text.index("hidden columns: ") : text.index("; --wide shows all")]


def test_a_wide_table_is_split_into_bands_that_fit_the_terminal(graph):
    asked = ("query", "peak/contributors", "--compilation", "after/module_0001", "-q", "--wide")
    with terminal(*asked, COLUMNS="80") as shown:
        assert shown.end() == 0
    lines = shown.shown.splitlines()
    assert max(map(len, lines)) <= 80
    for heading in ("value", "physicalBytes", "opName", "sourceFile", "liveUntil"):
        assert any(heading in line.split() for line in lines)


def test_bars_are_beside_the_bytes_of_groups_if_there_is_room(graph):
    asked = ("query", "peak/by-op", "--compilation", "after/module_0001", "-q")
    with terminal(*asked, COLUMNS="120") as shown:
        assert shown.end() == 0
    assert "\x1b[34m█" in shown.shown
    with terminal(*asked, COLUMNS="120", NO_COLOR="1") as plain:
        assert plain.end() == 0
    (dot,) = [line for line in plain.shown.splitlines() if line.startswith("jit(f)/layer_0/dot")]
    assert dot.split()[2:4] == ["512", "B"]
    assert dot.count("█") == 30
    with terminal(*asked, COLUMNS="60") as narrow:
        assert narrow.end() == 0
    assert "█" not in narrow.shown


def test_growth_is_red_and_shrinking_green(graph):
    asked = ("query", "compare/ops", "--run-a", "before", "--run-b", "after", "-q")
    with terminal(*asked) as shown:
        assert shown.end() == 0
    assert "\x1b[31m" in shown.shown


def test_no_color_is_respected_and_data_cannot_set_colours(run, tmp_path):
    write_dump(tmp_path / "runs", 1, "jit_f", dump(256, op="jit(f)/\\033[31mred"))
    graph = str(tmp_path / "g.lbug")
    run("ingest", tmp_path / "runs", "--graph", graph)
    with terminal("query", "peak/by-op", "--graph", graph, NO_COLOR="1") as shown:
        assert shown.end() == 0
    assert "\x1b[31m" not in shown.shown
    assert "\x1b[3" not in shown.shown


def test_a_progress_bar_is_shown_on_a_terminal_and_removed_at_the_end(run, tmp_path):
    write_dump(tmp_path / "runs", 1, "jit_f", dump(256))
    with terminal("ingest", str(tmp_path / "runs"), "--graph", str(tmp_path / "g.lbug")) as shown:
        assert shown.end() == 0
    assert " of " in shown.shown
    assert "reading dumps" in shown.shown
    assert "1 of 1 agree" in shown.shown
    assert "\x1b[" not in run("runs", "--graph", tmp_path / "g.lbug").out
    assert Path(tmp_path / "g.lbug").exists()
    page = str(tmp_path / "page.html")
    with terminal("report", "-o", page, "--graph", str(tmp_path / "g.lbug")) as shown:
        assert shown.end() == 0
    assert "50%" in shown.shown
