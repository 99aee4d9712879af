"""The long form of the tests of faults: `make soak`, or one part of it.

    python -m tests.faults.soak kills --seed 7

kills       500 writers killed at random moments, half of them into a file, half into a server
damage      a million damaged dumps
readers     a reader next to a writer that replaces, for many rounds
cuts        a connection to the server cut at 50 places

Each prints its observations, and the seed that repeats them; the first fault ends it. A server
is started from Maven's artifacts, as in the tests; without one its half is skipped with a message.
"""

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.faults.harness.changing_dumps import ChangingDumps
from tests.faults.harness.dropping_proxy import DroppingProxy
from tests.faults.harness.dump_damage import (
    SAMPLES,
    assert_error_or_faithful_plan,
    damage,
    peak_bytes,
)
from tests.faults.harness.forked_commands import Commands, command_server
from tests.faults.harness.graph_states import CleanGraphs, all_rows
from tests.faults.harness.kills import kill_many
from tests.faults.harness.watched_replacements import watch_a_file, watch_a_server
from tests.graph_fixtures import empty
from tests.neo4j_server.artifacts import NoNeo4j
from tests.neo4j_server.server import Neo4jServer, own_server
from xlagraph.graph import open_graph

Run = Callable[[argparse.Namespace, Path], None]


def kills(given: argparse.Namespace, folder: Path) -> None:
    """Kill writers into a file, then into a server."""
    count = (given.count or 500) // 2
    with command_server(folder / "commands") as commands:
        (folder / "graph").mkdir()
        outcomes = kill_many(
            commands,
            folder / "graph" / "g.lbug",
            folder / "file",
            seed=given.seed,
            kills=count,
            wide=300,
        )
        say(f"file: {count} kills, seed {given.seed}: {dict(sorted(outcomes.items()))}")
        with_server(folder, lambda server: _kill_on_server(given, folder, commands, server, count))


def _kill_on_server(
    given: argparse.Namespace, folder: Path, commands: Commands, server: Neo4jServer, count: int
) -> None:
    outcomes = kill_many(
        commands, server.uri, folder / "server", seed=given.seed, kills=count, wide=1500
    )
    say(f"server: {count} kills, seed {given.seed}: {dict(sorted(outcomes.items()))}")


def damaged(given: argparse.Namespace, _: Path) -> None:
    """Parse damaged dumps; measure the memory of one in a thousand."""
    count = given.count or 1_000_000
    chance = random.Random(given.seed)
    slowest = most = 0.0
    before = largest_mebibytes()
    for number in range(count):
        parts = damage(chance.choice(SAMPLES), chance.randint)
        started = time.perf_counter()
        try:
            if number % 1000:
                assert_error_or_faithful_plan(parts)
                slowest = max(slowest, time.perf_counter() - started)
            else:
                size = sum(len(part.text) for part in parts)
                most = max(most, peak_bytes(parts) / max(size, 10_000))
        except BaseException:
            say(f"seed {given.seed}, dump {number}:")
            for part in parts:
                say(f"--- {part.name}\n{part.text}")
            raise
        if number % 100_000 == 99_999:
            say(f"{number + 1} damaged dumps parsed")
    say(f"{count} damaged dumps: slowest {slowest:.2f} s, most memory {most:.0f} × the text")
    if most > 100:
        raise AssertionError("memory is no small multiple of the text")
    if (grown := largest_mebibytes() - before) > 500:
        raise AssertionError(f"after them this process is {grown} MiB larger")


def readers(given: argparse.Namespace, folder: Path) -> None:
    """Read while a writer replaces."""
    rounds = given.count or 200
    with command_server(folder / "commands") as commands:
        looks = watch_a_file(commands, folder / "file", rounds=rounds, seed=given.seed)
        say(f"file: {looks} looks in {rounds} rounds")

        def watch(server: Neo4jServer) -> None:
            with open_graph(server.uri, create=True) as graph:
                looks = watch_a_server(
                    commands, folder / "server", graph, server.uri, rounds=rounds, seed=given.seed
                )
            say(f"server: {looks} looks in {rounds} rounds")

        with_server(folder, watch)


def cuts(given: argparse.Namespace, folder: Path) -> None:
    """Cut the connection of an ingest at random places."""
    count = given.count or 50

    def cut(server: Neo4jServer) -> None:
        chance = random.Random(given.seed)
        clean = CleanGraphs(folder / "clean")
        dumps = ChangingDumps(folder / "runs", chance, wide=1500)
        with command_server(folder / "commands") as commands:
            for _ in range(count):
                if chance.random() < 0.5:
                    empty(server)
                dumps.change()
                place, away = chance.randint(1000, 500_000), chance.randint(0, 5)
                with closing(DroppingProxy(server.uri)) as proxy:
                    proxy.drop_after(place, turn_away=away)
                    uri = f"bolt://127.0.0.1:{proxy.port}"
                    ended = commands.run("ingest", dumps.folder, "--graph", uri)
                if ended.code:
                    raise AssertionError(f"cut after {place} bytes: {ended}")
                with open_graph(server.uri) as graph, clean.of(dumps.texts) as expected:
                    if all_rows(graph) != all_rows(expected):
                        raise AssertionError(f"cut after {place} bytes: the graph differs")
        say(f"server: {count} cuts, seed {given.seed}")

    with_server(folder, cut)


def with_server(folder: Path, work: Callable[[Neo4jServer], None]) -> None:
    """Call a function with a server of the tests."""
    try:
        with own_server(folder / "home") as server:
            work(server)
    except NoNeo4j as reason:
        say(f"left out: {reason}")


PARTS: dict[str, Run] = {"kills": kills, "damage": damaged, "readers": readers, "cuts": cuts}


def largest_mebibytes() -> int:
    """Return the peak memory of this process."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit // 2**20


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--count", type=int, help="kills, dumps, rounds or cuts")
    given = parser.parse_args()
    if unknown := set(given.parts) - PARTS.keys():
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    say(f"seed {given.seed}")
    for name in given.parts or PARTS:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="xlagraph-soak-") as folder:
            PARTS[name](given, Path(folder))
        took = time.monotonic() - started
        say(f"{name}: no fault in {took:.0f} s (up to {largest_mebibytes()} MiB here)")


if __name__ == "__main__":
    main()
