"""Ctrl-C ends an ingest between two batches of compilations: what was finished stays."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from changing_dumps import KEYS, ChangingDumps
from forked_commands import Commands
from graph_fixtures import Neo4jServer
from graph_states import CleanGraphs, complete, everything

from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import Progress, ingest


@pytest.fixture
def dumps(tmp_path: Path) -> ChangingDumps:
    return ChangingDumps(tmp_path / "runs", random.Random(3), wide=300)


@pytest.fixture
def batches_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlagraph.ingest.preparing._BATCH_DUMPS", 1)


def interrupt_after(compilations: int, times: int = 1) -> Callable[[Progress], None]:
    """Press Ctrl-C when so many compilations are done, and again with each one after that."""

    def press(progress: Progress) -> None:
        if compilations <= progress.compilations_done < compilations + times:
            signal.raise_signal(signal.SIGINT)

    return press


def test_finished_compilations_are_complete_when_ctrl_c_comes(
    graph: Graph, dumps: ChangingDumps, batches_of_one: None
):
    with pytest.raises(KeyboardInterrupt):
        ingest(graph, dumps.folder, jobs=1, progress=interrupt_after(2))
    assert len(complete(graph)) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_with_the_last_compilation_still_ends_as_interrupted(
    graph: Graph, dumps: ChangingDumps
):
    with pytest.raises(KeyboardInterrupt):
        ingest(graph, dumps.folder, jobs=1, progress=interrupt_after(len(KEYS)))
    assert complete(graph).keys() == set(KEYS)


def test_the_next_ingest_brings_the_rest(
    graph: Graph, dumps: ChangingDumps, tmp_path: Path, batches_of_one: None
):
    with pytest.raises(KeyboardInterrupt):
        ingest(graph, dumps.folder, jobs=1, progress=interrupt_after(1))
    assert ingest(graph, dumps.folder, jobs=1).ok
    with CleanGraphs(tmp_path / "clean").of(dumps.texts) as clean:
        assert everything(graph) == everything(clean)


PRESSED_AT_IMPORT = """
import signal, sys

class Press:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Press())
from xlagraph.cli import main
raise SystemExit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("module", ["xlagraph.cli.app", "typer", "ladybug", "pyarrow.parquet"])
def test_command_that_is_interrupted_while_it_starts_says_no_more(
    dumps: ChangingDumps, tmp_path: Path, no_connection_named: None, module: str
):
    command = [sys.executable, "-c", PRESSED_AT_IMPORT, module]
    command += ["ingest", str(dumps.folder), "--graph", str(tmp_path / "g.lbug")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stderr.splitlines()[-1] == "interrupted"
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "g.lbug").exists()


def press_at_random(commands: Commands, location: object, dumps: ChangingDumps, clean: CleanGraphs):
    chance = random.Random(5)
    started = time.monotonic()
    assert commands.run("ingest", dumps.folder, "--graph", location).code == 0
    seconds = time.monotonic() - started
    for _ in range(4):
        dumps.change()
        running = commands.start("ingest", dumps.folder, "--graph", location)
        time.sleep(chance.uniform(0.05, 1) * seconds)
        running.signal(signal.SIGINT)
        ended = running.wait()
        if ended.code != 0:  # it may have been done
            assert ended.code == 130
            assert ended.err.endswith("interrupted\n")
        assert "Traceback" not in ended.err
        assert commands.run("ingest", dumps.folder, "--graph", location).code == 0
        with open_graph(location) as graph, clean.of(dumps.texts) as expected:
            assert everything(graph) == everything(expected)


def test_interrupted_command_ends_with_130_and_leaves_a_whole_file(
    commands: Commands, dumps: ChangingDumps, tmp_path: Path, no_connection_named: None
):
    press_at_random(commands, tmp_path / "g.lbug", dumps, CleanGraphs(tmp_path / "clean"))
    assert {path.name for path in tmp_path.glob("g.lbug*")} == {"g.lbug", "g.lbug.lock"}


def test_interrupted_command_ends_with_130_and_leaves_whole_compilations(
    commands: Commands,
    dumps: ChangingDumps,
    tmp_path: Path,
    neo4j_graph: Graph,
    neo4j_server: Neo4jServer,
):
    press_at_random(commands, neo4j_server.uri, dumps, CleanGraphs(tmp_path / "clean"))
