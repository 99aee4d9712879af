"""A reader sees what was before or what is after, never what is between."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.faults.harness.changing_dumps import wide_dump
from tests.faults.harness.forked_commands import Commands
from tests.faults.harness.graph_states import (
    CATALOGUE,
    CleanGraphs,
    answers,
    complete,
    key_of,
    put_dump,
    rows_of_dumps,
)
from tests.graph_fixtures import Neo4jServer
from xlagraph.graph import Graph, open_graph
from xlagraph.queries import NoSuchCompilation, run

KEY = key_of("alpha", 1, "jit_wide")
OTHER = key_of("beta", 1, "jit_wide")


def replace_again_and_again(commands: Commands, location: str | Path, folder: Path, times: int):
    """Ingest two versions of a dump in turn; yield while each ingest runs."""
    for number in range(times):
        put_dump(folder, KEY, wide_dump(400 + 100 * (number % 2)))
        running = commands.start("ingest", folder, "--graph", location)
        while not running.has_ended():
            yield
        assert running.wait().code == 0


def states(*, may_be_absent: bool) -> list[Mapping[str, str]]:
    """Return the dumps that a reader may find."""
    other = {OTHER: wide_dump(150)}
    found: list[Mapping[str, str]] = [other | {KEY: wide_dump(count)} for count in (400, 500)]
    return [*found, other] if may_be_absent else found


def watch_a_file(commands: Commands, folder: Path, *, rounds: int, seed: int) -> int:
    """Read a file while it is replaced; return how often."""
    file, runs = folder / "g.lbug", folder / "runs"
    put_dump(runs, OTHER, wide_dump(150))
    put_dump(runs, KEY, wide_dump(500))
    assert commands.run("ingest", runs, "--graph", file).code == 0
    clean = CleanGraphs(folder / "clean")
    allowed = []
    for texts in states(may_be_absent=False):
        with clean.of(texts) as graph:
            allowed.append((complete(graph), answers(graph, [KEY])))
    chance = random.Random(seed)
    looks = 0
    for _ in replace_again_and_again(commands, file, runs, rounds):
        with open_graph(file) as graph:
            held = complete(graph)
            (expected,) = (rows for state, rows in allowed if state == held)
            found = answers(graph, [KEY], chance.sample(sorted(CATALOGUE), 5))
            assert found == {ask: expected[ask] for ask in found}
        looks += 1
    return looks


def watch_a_server(
    commands: Commands, folder: Path, graph: Graph, uri: str, *, rounds: int, seed: int
) -> int:
    """Ask a server while a compilation is replaced; return how often it was there."""
    runs = folder / "runs"
    put_dump(runs, OTHER, wide_dump(150))
    put_dump(runs, KEY, wide_dump(500))
    assert commands.run("ingest", runs, "--graph", uri).code == 0
    clean = CleanGraphs(folder / "clean")
    allowed: dict[str, list[object]] = {}
    for texts in states(may_be_absent=True):
        with clean.of(texts) as expected:
            for (query, _), rows in answers(expected, [KEY]).items():
                allowed.setdefault(query, []).append(rows)
    chance = random.Random(seed)
    asked = [
        query.id
        for query in CATALOGUE.values()
        if all(
            not parameter.required or parameter.name == "compilation"
            for parameter in query.parameters
        )
    ]
    looks = 0
    for _ in replace_again_and_again(commands, uri, runs, rounds):
        for query in chance.sample(asked, 5):
            found = answer(graph, query)
            assert found is None or found in allowed[query], query
            looks += found is not None
    return looks


def test_reader_of_a_file_sees_one_state(
    commands: Commands, tmp_path: Path, no_connection_named: None
):
    assert watch_a_file(commands, tmp_path, rounds=3, seed=4)


def test_open_file_shows_what_it_held_when_it_was_opened(
    commands: Commands, tmp_path: Path, no_connection_named: None
):
    file, folder = tmp_path / "g.lbug", tmp_path / "runs"
    put_dump(folder, KEY, wide_dump(20))
    assert commands.run("ingest", folder, "--graph", file).code == 0
    with open_graph(file) as graph:
        before = answers(graph, [KEY])
        put_dump(folder, KEY, wide_dump(30))
        assert commands.run("ingest", folder, "--graph", file).code == 0
        assert answers(graph, [KEY]) == before
    with open_graph(file) as graph:
        assert answers(graph, [KEY]) != before


def test_reader_of_a_server_sees_a_compilation_whole_or_not_at_all(
    commands: Commands, tmp_path: Path, neo4j_graph: Graph, neo4j_server: Neo4jServer
):
    assert watch_a_server(commands, tmp_path, neo4j_graph, neo4j_server.uri, rounds=4, seed=4)


def answer(graph: Graph, query: str) -> object:
    """Ask as the command does; None where the compilation is not there."""
    declared = {parameter.name for parameter in CATALOGUE[query].parameters}
    given: dict[str, Any] = {"compilation": KEY, "limit": 1_000_000}
    try:
        result = run(graph, query, **{name: given[name] for name in given.keys() & declared}).result
    except NoSuchCompilation:
        return None
    return rows_of_dumps(result)
