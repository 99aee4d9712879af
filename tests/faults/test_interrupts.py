"""Ctrl-C ends an ingest between two batches of compilations; finished ones stay."""

import errno
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.harness.changing_dumps import KEYS, ChangingDumps
from tests.faults.harness.forked_commands import Commands, Ended, Running
from tests.faults.harness.graph_states import CleanGraphs, all_rows, complete_digests
from tests.neo4j_server.server import Neo4jServer
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import Progress, ingest


@pytest.fixture
def dumps(tmp_path: Path) -> ChangingDumps:
    return ChangingDumps(tmp_path / "runs", random.Random(3), wide=100)


@pytest.fixture
def large_dumps(tmp_path: Path) -> ChangingDumps:
    """Files of a megabyte, each prepared and loaded separately."""
    return ChangingDumps(tmp_path / "runs", random.Random(3), wide=60, blank_lines=2**20)


def interrupt_after(compilations: int, times: int = 1) -> Callable[[Progress], None]:
    """Press Ctrl-C after this many compilations, and again after each further one."""

    def press(progress: Progress) -> None:
        if compilations <= progress.compilations_done < compilations + times:
            signal.raise_signal(signal.SIGINT)

    return press


def test_finished_compilations_are_complete_after_ctrl_c(graph: Graph, large_dumps: ChangingDumps):
    with pytest.raises(KeyboardInterrupt):
        ingest(graph, large_dumps.folder, jobs=1, progress=interrupt_after(2))
    assert len(complete_digests(graph)) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_with_the_last_compilation_still_ends_as_interrupted(
    graph: Graph, dumps: ChangingDumps
):
    with pytest.raises(KeyboardInterrupt):
        ingest(graph, dumps.folder, jobs=1, progress=interrupt_after(len(KEYS)))
    assert complete_digests(graph).keys() == set(KEYS)


def test_the_next_ingest_loads_the_rest(graph: Graph, large_dumps: ChangingDumps, tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        ingest(graph, large_dumps.folder, jobs=1, progress=interrupt_after(1))
    assert ingest(graph, large_dumps.folder, jobs=1).ok
    with CleanGraphs(tmp_path / "clean").of(large_dumps.texts) as clean:
        assert all_rows(graph) == all_rows(clean)


def test_an_error_of_the_caller_is_raised_and_complete_compilations_stay(
    graph: Graph, dumps: ChangingDumps
):
    def fail(_: Progress) -> None:
        raise BrokenPipeError(errno.EPIPE, "nobody reads this")

    assert ingest(graph, dumps.folder / "beta", jobs=1).ok
    before = all_rows(graph)
    with pytest.raises(BrokenPipeError, match="nobody reads this"):
        ingest(graph, dumps.folder / "alpha", jobs=1, progress=fail)
    assert all_rows(graph) == before


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
def test_a_command_interrupted_while_it_starts_prints_no_more(
    dumps: ChangingDumps, tmp_path: Path, no_connection_named: None, module: str
):
    command = [sys.executable, "-c", PRESSED_AT_IMPORT, module]
    command += ["ingest", str(dumps.folder), "--graph", str(tmp_path / "g.lbug")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stderr.splitlines()[-1] == "interrupted"
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "g.lbug").exists()


PRESSED_AT_EXIT = """
import atexit, signal, sys
from xlagraph.cli import main

atexit.register(signal.raise_signal, signal.SIGINT)
sys.argv[0] = "xlagraph"
code = main()
signal.raise_signal(signal.SIGINT)
sys.exit(code)
"""


def test_ctrl_c_after_the_end_of_a_command_changes_nothing():
    command = [sys.executable, "-c", PRESSED_AT_EXIT, "query"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert "peak/contributors" in ended.stdout
    assert ended.stderr == ""


PRESSES = 2
MOST_PRESSES = 20
"""Presses until at least one has met a running command. After each that has not, the next ones
are within half the time, because the machine may have been busier with the first command.
"""


def press_at_random(
    commands: Commands, location: str | Path, dumps: ChangingDumps, clean: CleanGraphs
):
    chance = random.Random(5)
    started = time.monotonic()
    assert commands.run("ingest", dumps.folder, "--graph", location).code == 0
    seconds = time.monotonic() - started
    codes: list[int] = []
    while len(codes) < PRESSES or (130 not in codes and len(codes) < MOST_PRESSES):
        dumps.change()
        running = commands.start("ingest", dumps.folder, "--graph", location)
        time.sleep(chance.uniform(0.05, 1) * seconds)
        running.signal(signal.SIGINT)
        ended = running.wait()
        if ended.code == 0:  # the command had ended before
            seconds /= 2
        else:
            assert ended.code == 130
            assert ended.err.endswith("interrupted\n")
        codes.append(ended.code)
        assert "Traceback" not in ended.err
        assert commands.run("ingest", dumps.folder, "--graph", location).code == 0
        with open_graph(location) as graph, clean.of(dumps.texts) as expected:
            assert all_rows(graph) == all_rows(expected)
    assert 130 in codes


def test_an_interrupted_command_ends_with_130_and_leaves_a_complete_file(
    commands: Commands, dumps: ChangingDumps, tmp_path: Path, no_connection_named: None
):
    press_at_random(commands, tmp_path / "g.lbug", dumps, CleanGraphs(tmp_path / "clean"))
    assert {path.name for path in tmp_path.glob("g.lbug*")} == {"g.lbug", "g.lbug.lock"}


def test_an_interrupted_command_ends_with_130_and_leaves_complete_compilations(
    commands: Commands,
    dumps: ChangingDumps,
    tmp_path: Path,
    neo4j_graph: Graph,
    neo4j_server: Neo4jServer,
):
    press_at_random(commands, neo4j_server.uri, dumps, CleanGraphs(tmp_path / "clean"))


def press_while_removing(
    commands: Commands,
    location: str | Path,
    dumps: ChangingDumps,
    clean: CleanGraphs,
    *,
    whole: bool,
):
    """Remove a run, or interrupt that; ``whole``: all or nothing is removed."""
    chance = random.Random(8)
    kept = {key for key in KEYS if not key.startswith("alpha/")}
    seconds = None
    codes: list[int] = []  # seconds of the undisturbed removal, and of the interrupted ones
    while len(codes) <= PRESSES or (130 not in codes and len(codes) <= MOST_PRESSES):
        assert commands.run("ingest", dumps.folder, "--graph", location).code == 0
        running = commands.start("remove", "alpha", "--yes", "--graph", location)
        running.wait_for_text("graph: ")  # it has opened the graph
        started = time.monotonic()
        if seconds is not None:
            time.sleep(chance.uniform(0, seconds))
            running.signal(signal.SIGINT)
        ended = running.wait()
        if seconds is None:
            seconds = time.monotonic() - started
        elif ended.code == 0:  # the command had ended before
            seconds /= 2
        if ended.code != 0:
            assert ended.code == 130
            assert ended.err.endswith("interrupted\n")
        codes.append(ended.code)
        with open_graph(location) as graph:
            held = complete_digests(graph).keys()
            if ended.code == 0:
                assert held == kept
            elif whole:
                assert held in (kept, set(KEYS))
            else:
                assert kept <= held
            with clean.of({key: dumps.texts[key] for key in held}) as expected:
                assert all_rows(graph) == all_rows(expected)
    assert codes[0] == 0
    assert 130 in codes


def test_an_interrupted_removal_leaves_the_file_as_before_or_as_after(
    commands: Commands, dumps: ChangingDumps, tmp_path: Path, no_connection_named: None
):
    clean = CleanGraphs(tmp_path / "clean")
    press_while_removing(commands, tmp_path / "g.lbug", dumps, clean, whole=True)
    assert {path.name for path in tmp_path.glob("g.lbug*")} == {"g.lbug", "g.lbug.lock"}


def test_an_interrupted_removal_leaves_nothing_half_removed_on_a_server(
    commands: Commands,
    dumps: ChangingDumps,
    tmp_path: Path,
    neo4j_graph: Graph,
    neo4j_server: Neo4jServer,
):
    clean = CleanGraphs(tmp_path / "clean")
    press_while_removing(commands, neo4j_server.uri, dumps, clean, whole=False)


@contextmanager
def statements_of(server: Neo4jServer) -> Iterator[Callable[[str], list[str]]]:
    """Return the states of a server's statements that contain some words."""
    with server.session() as session:
        yield lambda words: [
            row["status"]
            for row in session.run(
                "SHOW TRANSACTIONS YIELD currentQuery, status "
                "WHERE currentQuery CONTAINS $words RETURN status",
                words=words,
            )
        ]


def test_ctrl_c_ends_a_running_statement_on_a_server(
    commands: Commands, neo4j_graph: Graph, neo4j_server: Neo4jServer
):
    text = "UNWIND range(1, 1000000000) AS a UNWIND range(1, 1000) AS b RETURN max(a % b) AS most"
    with statements_of(neo4j_server) as statements:
        running = commands.start("cypher", text, "--graph", neo4j_server.uri)
        running.wait_until(lambda: bool(statements(text)))
        running.signal(signal.SIGINT)
        ended = wait_for(running)
        assert ended.code == 130
        assert ended.err.endswith("interrupted\n")
        deadline = time.monotonic() + 180
        while statements(text):  # the server stops it, too
            assert time.monotonic() < deadline


def test_a_second_ctrl_c_does_not_wait_for_a_server(
    commands: Commands,
    dumps: ChangingDumps,
    tmp_path: Path,
    neo4j_graph: Graph,
    neo4j_server: Neo4jServer,
):
    """A removal that waits for another transaction ends with that, or with its process."""
    ingest(neo4j_graph, dumps.folder, jobs=1)
    with (
        neo4j_server.session() as session,
        session.begin_transaction() as other,
        statements_of(neo4j_server) as statements,
    ):
        other.run("MATCH (c:Compilation {key: $key}) SET c.key = c.key", key=KEYS[0]).consume()
        running = commands.start("remove", KEYS[0], "--yes", "--graph", neo4j_server.uri)
        running.wait_until(
            lambda: any("Blocked" in status for status in statements("MATCH (c:Compilation"))
        )
        running.signal(signal.SIGINT)
        time.sleep(0.5)
        assert not running.has_ended()
        # a loaded machine may not have handled the first yet, and merges two into one
        ended = wait_for(running, press_every=2)
        assert ended.code == 130
        assert ended.err.endswith("interrupted\n")
    assert complete_digests(neo4j_graph).keys() == set(KEYS)
    assert ingest(neo4j_graph, dumps.folder, jobs=1).ok
    with CleanGraphs(tmp_path / "clean").of(dumps.texts) as clean:
        assert all_rows(neo4j_graph) == all_rows(clean)


def wait_for(running: Running, *, press_every: float | None = None) -> Ended:
    """Wait for a command that should end soon; optionally press Ctrl-C meanwhile."""
    next_press = time.monotonic()
    deadline = next_press + 180
    while not running.has_ended():
        if time.monotonic() > deadline:
            running.signal(signal.SIGKILL)
            running.wait()
            pytest.fail("Ctrl-C did not end it")
        if press_every is not None and time.monotonic() >= next_press:
            running.signal(signal.SIGINT)
            next_press += press_every
        time.sleep(0.05)
    return running.wait()
