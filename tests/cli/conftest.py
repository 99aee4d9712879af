"""Fixtures of the command line: two tiny runs in a graph, and a way to run commands on it."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cli.command_line import Ended
from tests.tiny_dumps import write_runs
from xlagraph.cli import main
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest

Run = Callable[..., Ended]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in an empty folder, without environment variables that name a graph."""
    for name in ("XLAGRAPH_GRAPH", "XLAGRAPH_QUERIES", "NEO4J_URI", "NEO4J_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def run_command(*arguments: object) -> Ended:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Ended(code, *capsys.readouterr())

    return run_command


@pytest.fixture
def complete(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[str]], list[str]]:
    """Return the shell's completions for the last of some words."""

    def offered(words: Sequence[str]) -> list[str]:
        monkeypatch.setenv("_XLAGRAPH_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        return run().out.split()

    return offered


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a graph with the runs `before` and `after`; tests must not change it."""
    folder = tmp_path_factory.mktemp("two_runs")
    path = folder / "graph.lbug"
    with open_graph(path, create=True) as graph:
        assert ingest(graph, write_runs(folder / "runs"), jobs=1).ok
    return path


@pytest.fixture
def graph(run: Run, two_runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name the graph with two runs in the environment."""
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(two_runs))
    return two_runs


@pytest.fixture
def own_graph(run: Run, two_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name a copy of that graph, which a test may change."""
    path = tmp_path / "own.lbug"
    shutil.copy(two_runs, path)
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(path))
    return path
