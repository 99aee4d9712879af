"""Completion in real shells: commands, queries, options and runs that Tab offers."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

TIMEOUT_SECONDS = 60


@pytest.fixture
def environment(graph, monkeypatch, tmp_path):
    """Put `xlagraph` on PATH as installed, without the user's start files."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "dumb")
    if shutil.which("xlagraph") is None:
        pytest.skip("the command is not installed next to the tests")


def output(*command: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    return done.stdout


def needs(shell: str):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"there is no {shell}")


@needs("bash")
def test_bash_offers_commands_and_the_names_of_runs(environment):
    script = """
        eval "$(_XLAGRAPH_COMPLETE=source_bash xlagraph)"
        offered() {
            COMP_WORDS=($@) COMP_CWORD=$(($# - 1))
            _xlagraph_completion xlagraph
            echo "${COMPREPLY[@]}"
        }
        offered xlagraph compi
        offered xlagraph compilations bef
    """
    assert output("bash", "--norc", "-c", script) == "compilations\nbefore\n"


@needs("fish")
def test_fish_offers_queries_with_their_titles(environment):
    script = (
        "_XLAGRAPH_COMPLETE=source_fish xlagraph | source\n"
        "complete -C 'xlagraph query peak/by-dt'; complete -C 'xlagraph compilations bef'"
    )
    offered = output("fish", "--no-config", "-c", script).splitlines()
    assert [line.split("\t")[0] for line in offered] == ["peak/by-dtype", "before"]
    assert "\tElement types" in offered[0]


@needs("zsh")
def test_zsh_completes_the_typed_word(environment):
    process, terminal = pty.fork()
    if process == 0:
        os.execvp("zsh", ["zsh", "-f", "-i"])
    try:
        start = (
            'autoload -U compinit; compinit -u -D; eval "$(_XLAGRAPH_COMPLETE=source_zsh xlagraph)"'
        )
        os.write(terminal, f"{start}; echo rea''dy\n".encode())
        read_until(terminal, b"ready\r\n")
        os.write(terminal, b"xlagraph query peak/by-dt\t")
        read_until(terminal, b"peak/by-dtype")
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)


def read_until(terminal: int, text: bytes) -> None:
    """Read the output of a terminal until it contains a text."""
    shown = b""
    end = time.monotonic() + TIMEOUT_SECONDS
    while text not in shown:
        assert time.monotonic() < end, shown
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 4096)
