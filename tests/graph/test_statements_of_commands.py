"""Statements that commands run over real dumps have the same rows on both engines.

What commands make of these rows is tested on one engine, the queries of the catalogue elsewhere.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from xlagraph.advice.device_memory import Resident
from xlagraph.advice.stored_snapshots import store_residents
from xlagraph.cli.app import main
from xlagraph.cli.output.exit_codes import ExitCode
from xlagraph.graph import Cell, Graph, Result, open_graph
from xlagraph.graph.ladybug.engine import LadybugGraph
from xlagraph.ingest import ingest
from xlagraph.queries import load_catalogue

TREE = Path(__file__).parents[2]
RUNS = TREE / "examples" / "runs"
STEP = "baseline/module_0004.jit_train_step.cpu_after_optimizations"
LOG = """
RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1048576 bytes.
BufferAssignment OOM Debugging. program jit_train_step
Largest program allocations in hbm: 1. Size: 32.00M. XLA label: %multiply_tanh_fusion.1 = fusion
"""
COMMANDS = (
    "runs",
    "compilations baseline",
    "advise baseline",
    "advise donated",
    "check baseline --capacity 1GiB",
    "check --resident baseline --capacity 1MiB",
    "check baseline --capacity 1GiB --snapshot before",
    "compare baseline batch2x --by shape",
    "whatif baseline --donate all --checkpoint layer_*",
    "whatif baseline --batch 2",
    "whatif baseline --batch 2 --batch-like batch2x",
    "whatif baseline --schedule memory",
    "order baseline",
    "value tuple.7{} --compilation baseline",
    "oom log.txt --run baseline",
    "report baseline batch2x --output pair.html",
    "export pprof baseline --output a.pb.gz",
    "export speedscope baseline --output a.json",
    "export perfetto baseline --output a.pftrace",
    "export xprof baseline --output profile",
    "export minimalloc baseline --output a.csv",
    "export csv baseline --output tables",
)
MOST_PARAMETERS = 2
Statements = dict[str, dict[str, Result]]
"""The rows of each statement, by its text and its parameters as JSON."""


def ingest_runs(graph: Graph) -> None:
    for run in ("baseline", "batch2x", "donated"):
        ingest(graph, RUNS / run, jobs=1)
    store_residents(
        graph, "baseline", "before", [Resident("cpu:0", "buffer", 4096, 1, None, None, None)]
    )


@pytest.fixture
def statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Statements:
    """Run the commands on a graph file, and return their statements."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(tmp_path / "g.lbug"))
    Path("log.txt").write_text(LOG)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest_runs(graph)
    found: Statements = {}
    run = LadybugGraph.query

    def query(
        graph: LadybugGraph,
        text: str,
        parameters: Mapping[str, Cell] | None = None,
        **limits: Any,
    ) -> Result:
        result = run(graph, text, parameters, **limits)
        answers = found.setdefault(text, {})
        if len(answers) < MOST_PARAMETERS:
            answers[json.dumps(parameters or {})] = result
        return result

    monkeypatch.setattr(LadybugGraph, "query", query)
    for command in COMMANDS:
        code = main(command.split())
        assert code in (ExitCode.DONE, ExitCode.GATE), (command, capsys.readouterr().err)
    return found


def comparable(result: Result) -> list[str]:
    """Return the rows, sorted, without times of the ingest; nodes have no order of properties."""
    columns = [place for place, name in enumerate(result.columns) if name != "ingestedAt"]
    return sorted(
        json.dumps([row[place] for place in columns], sort_keys=True, default=vars)
        for row in result.rows
    )


def test_each_statement_has_the_same_rows_on_both_engines(
    statements: Statements, neo4j_graph: Graph
):
    ingest_runs(neo4j_graph)
    canned = {query.text for query in load_catalogue().values()}
    different = [
        (text.splitlines()[0], parameters)
        for text, answers in statements.items()
        if text not in canned
        for parameters, expected in answers.items()
        if comparable(neo4j_graph.query(text, json.loads(parameters))) != comparable(expected)
    ]
    assert different == []
    unasked = [
        path.relative_to(TREE).as_posix()
        for room in ("advice", "comparison", "planner/edits", "report", "exports")
        for path in sorted(TREE.glob(f"{room}/**/statements/*.cypher"))
        if path.read_text(encoding="utf-8") not in statements
    ]
    assert unasked == []
