"""Times every canned query of the catalogue, with parameters that suit the graph."""

import time
from statistics import median
from typing import Any

from xlagraph.graph import Graph
from xlagraph.queries import load_catalogue, run

LARGEST = """
MATCH (c:Compilation) WHERE c.state = 'complete'
RETURN c.key AS compilation ORDER BY c.reservedBytes DESC, compilation LIMIT 1
"""
RUNS = "MATCH (r:Run) RETURN r.key AS run ORDER BY run"
VALUES = """
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
MATCH (v)-[:LIVE_AT_PEAK]->(:MemorySpace)
WHERE a.role = 'temp' AND v.opName IS NOT NULL
RETURN v.label AS value, v.name AS instruction, v.opName AS opName, a.number AS allocation
ORDER BY v.sizeBytes DESC, value LIMIT 1
"""
MODULES = "MATCH (m:Module) RETURN m.key AS module ORDER BY module LIMIT 1"


def query_times(graph: Graph, repeats: int) -> list[dict[str, Any]]:
    """Return for each query its id, median seconds, rows, and whether it is of one compilation."""
    given = _suiting(graph)
    found: list[dict[str, Any]] = []
    for query in load_catalogue().values():
        names = {parameter.name for parameter in query.parameters}
        required = {parameter.name for parameter in query.parameters if parameter.required}
        wanted = required | names & {"compilation", "value"}
        arguments: dict[str, Any] = {name: given[name] for name in wanted if name in given}
        if missing := sorted(wanted - arguments.keys()):
            found.append({"id": query.id, "broken": f"no value for {', '.join(missing)}"})
            continue
        seconds = []
        for _ in range(repeats + 1):
            start = time.perf_counter()
            answer = run(graph, query.id, **arguments)
            seconds.append(time.perf_counter() - start)
        found.append(
            {
                "id": query.id,
                "seconds": median(seconds[1:]),
                "rows": len(answer.result.rows),
                "of_one": "compilation" in names,
            }
        )
    return found


def _suiting(graph: Graph) -> dict[str, Any]:
    """Choose the largest compilation, its largest temporary at the peak, first and last run."""
    given: dict[str, Any] = graph.query(LARGEST).mappings()[0]
    given |= graph.query(VALUES, given).mappings()[0]
    given |= graph.query(MODULES).mappings()[0]
    runs = [row[0] for row in graph.query(RUNS).rows]
    return given | {"run": runs[0], "runA": runs[0], "runB": runs[-1]}
