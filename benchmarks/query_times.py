"""Measures canned queries with suitable parameters: all, or those over a fleet."""

import time
from collections.abc import Mapping
from statistics import median
from typing import Any

from xlagraph.graph import Detail, Graph
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
PEAK = """
MATCH (r:Run)-[:COMPILED]->(c:Compilation) WHERE c.state = 'complete'
WITH r, c ORDER BY c.valueCount DESC, c.key LIMIT 1
MATCH (c)-[:OF_MODULE]->(m:Module)
MATCH (c)-[:USES_SPACE]->(:MemorySpace)<-[p:LIVE_AT_PEAK]-(v:Value)
WHERE v.attributedOpName IS NOT NULL
RETURN c.key AS compilation, m.name AS module, v.attributedOpName AS opName
ORDER BY p.physicalBytes DESC, v.key LIMIT 1
"""
FLEET_THEMES = ("compare", "overview", "trend")
MODULES = "MATCH (m:Module) RETURN m.key AS module ORDER BY module LIMIT 1"


def query_times(graph: Graph, repeats: int) -> list[dict[str, Any]]:
    """Return for each query: id, median seconds, rows, and True if it is about one compilation."""
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
        found.append(
            _timed(graph, query.id, arguments, repeats) | {"of_one": "compilation" in names}
        )
    return found


def fleet_times(graph: Graph, repeats: int) -> list[dict[str, Any]]:
    """Return the same for the queries over many compilations, in the forms that a user may ask.

    These are: only the required parameters; also one run or module, if the query takes one; and
    the order of a tag.
    """
    given = graph.query(PEAK).mappings()[0]
    runs = [row[0] for row in graph.query(RUNS).rows]
    given |= {"runA": runs[0], "runB": runs[-1]}
    found: list[dict[str, Any]] = []
    for query in load_catalogue().values():
        if query.theme not in FLEET_THEMES or query.needed_detail is Detail.ALL:
            continue
        names = {parameter.name for parameter in query.parameters}
        needed = {name: given[name] for name in names & {"runA", "runB", "compilation", "opName"}}
        found.append(_timed(graph, query.id, needed, repeats))
        for name, chosen in (("run", runs[0]), ("module", given["module"]), ("sortBy", "commit")):
            if name in names:
                timed = _timed(graph, query.id, needed | {name: chosen}, repeats)
                found.append(timed | {"id": f"{query.id} --{name.lower()}"})
    return found


def _timed(graph: Graph, query: str, arguments: Mapping[str, Any], repeats: int) -> dict[str, Any]:
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        answer = run(graph, query, **arguments)
        seconds.append(time.perf_counter() - start)
    return {"id": query, "seconds": median(seconds[1:]), "rows": len(answer.result.rows)}


def _suiting(graph: Graph) -> dict[str, Any]:
    """Choose the largest compilation, its largest temporary at the peak, first and last run."""
    given: dict[str, Any] = graph.query(LARGEST).mappings()[0]
    given |= graph.query(VALUES, given).mappings()[0]
    given |= graph.query(MODULES).mappings()[0]
    runs = [row[0] for row in graph.query(RUNS).rows]
    return given | {"run": runs[0], "runA": runs[0], "runB": runs[-1]}
