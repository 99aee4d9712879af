"""Fixture of tests of questions: ingest dumps and answer with one command."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.queries.questions.steps import Answer, Rows
from tests.tiny_dumps import tiny_dump
from xlagraph.cli import main
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest


@pytest.fixture
def answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Answer:
    """Ingest dumps, by `run/module`, and return some columns of a command's answer."""

    def ask(dumps: Mapping[str, tuple[str, str]], command: str, columns: str) -> Rows:
        for name, (allocations, values) in dumps.items():
            run, _, module = name.partition("/")
            stem = f"module_0001.{module}.cpu_after_optimizations"
            (tmp_path / "runs" / run).mkdir(parents=True, exist_ok=True)
            path = tmp_path / "runs" / run / f"{stem}-buffer-assignment.txt"
            path.write_text(tiny_dump(allocations, values))
        with open_graph(tmp_path / "g.lbug", create=True) as graph:
            summary = ingest(graph, tmp_path / "runs", jobs=1)
            assert summary.ok, summary.problems
        capsys.readouterr()
        code = main([*command.split(), "--graph", str(tmp_path / "g.lbug"), "--format", "json"])
        written = capsys.readouterr()
        assert code == 0, written.err
        return [tuple(row[name] for name in columns.split()) for row in json.loads(written.out)]

    return ask
