"""Reads of a graph while another process replaces its content."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.faults.harness.changing_dumps import wide_dump
from tests.faults.harness.forked_commands import Commands
from tests.faults.harness.graph_states import (
    CATALOGUE,
    CleanGraphs,
    answers,
    complete_digests,
    key_of,
    put_dump,
    rows_of_dumps,
)
from xlagraph.graph import Graph, open_graph
from xlagraph.queries import NoSuchCompilation, run

REPLACED = key_of("alpha", 1, "jit_wide")
OTHER = key_of("beta", 1, "jit_wide")
WIDE = (200, 250)
"""Values of the versions that replace each other."""


def _replace_again_and_again(
    commands: Commands, location: str | Path, folder: Path, times: int
) -> Iterator[None]:
    """Ingest two versions of a dump in turn; yield while each ingest runs."""
    for number in range(times):
        put_dump(folder, REPLACED, wide_dump(WIDE[number % 2]))
        running = commands.start("ingest", folder, "--graph", location)
        while not running.has_ended():
            yield
        assert running.wait().code == 0


def _states(*, may_be_absent: bool) -> list[Mapping[str, str]]:
    """Return the states that a reader may see."""
    other = {OTHER: wide_dump(50)}
    found: list[Mapping[str, str]] = [other | {REPLACED: wide_dump(count)} for count in WIDE]
    return [*found, other] if may_be_absent else found


def watch_a_file(
    commands: Commands, folder: Path, *, rounds: int, seed: int, queries: int = len(CATALOGUE)
) -> int:
    """Read a file while it is replaced, with some queries; return the number of reads."""
    file, runs = folder / "g.lbug", folder / "runs"
    put_dump(runs, OTHER, wide_dump(50))
    put_dump(runs, REPLACED, wide_dump(WIDE[1]))
    assert commands.run("ingest", runs, "--graph", file).code == 0
    clean = CleanGraphs(folder / "clean")
    allowed = []
    chance = random.Random(seed)
    known = chance.sample(sorted(CATALOGUE), queries)
    for texts in _states(may_be_absent=False):
        with clean.of(texts) as graph:
            allowed.append((complete_digests(graph), answers(graph, [REPLACED], known)))
    looks = 0
    for _ in _replace_again_and_again(commands, file, runs, rounds):
        with open_graph(file) as graph:
            held = complete_digests(graph)
            (expected,) = (rows for state, rows in allowed if state == held)
            found = answers(graph, [REPLACED], chance.sample(known, 5))
            assert found == {ask: expected[ask] for ask in found}
        looks += 1
    return looks


def watch_a_server(
    commands: Commands,
    folder: Path,
    graph: Graph,
    uri: str,
    *,
    rounds: int,
    seed: int,
    queries: int = len(CATALOGUE),
) -> int:
    """Query a server while a compilation is replaced; return how often it was found."""
    runs = folder / "runs"
    put_dump(runs, OTHER, wide_dump(50))
    put_dump(runs, REPLACED, wide_dump(WIDE[1]))
    assert commands.run("ingest", runs, "--graph", uri).code == 0
    clean = CleanGraphs(folder / "clean")
    allowed: dict[str, list[object]] = {}
    chance = random.Random(seed)
    asked = [
        query.id
        for query in CATALOGUE.values()
        if all(
            not parameter.required or parameter.name == "compilation"
            for parameter in query.parameters
        )
    ]
    asked = chance.sample(asked, min(queries, len(asked)))
    for texts in _states(may_be_absent=True):
        with clean.of(texts) as expected:
            # as people ask; a statement may run after the compilation of that name was removed
            for query in asked:
                allowed.setdefault(query, []).append(_answer(expected, query))
            for (query, _), rows in answers(expected, [REPLACED], asked).items():
                allowed.setdefault(query, []).append(rows)
    looks = 0
    for _ in _replace_again_and_again(commands, uri, runs, rounds):
        for query in chance.sample(asked, 5):
            found = _answer(graph, query)
            assert found is None or found in allowed[query], query
            looks += found is not None
    return looks


def _answer(graph: Graph, query: str) -> object:
    """Ask like the command; None if the compilation does not exist."""
    declared = {parameter.name for parameter in CATALOGUE[query].parameters}
    given: dict[str, Any] = {"compilation": REPLACED, "limit": 1_000_000}
    try:
        result = run(graph, query, **{name: given[name] for name in given.keys() & declared}).result
    except NoSuchCompilation:
        return None
    return rows_of_dumps(result)
