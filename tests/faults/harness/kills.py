"""Kills ingests, replacements and removals at random moments, and checks the graph."""

import random
import signal
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.faults.harness.changing_dumps import KEYS, ChangingDumps
from tests.faults.harness.forked_commands import Commands
from tests.faults.harness.graph_states import (
    CATALOGUE,
    CleanGraphs,
    all_rows,
    answers,
    complete_digests,
    rows_of_compilation,
)
from tests.graph.neo4j.leftovers import assert_no_leftovers
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import find_dumps
from xlagraph.ingest.files.contents import read_dump

ACTIONS = ("ingest", "replace", "remove")
QUERIES_ASKED = 3
"""Canned queries after each kill; a server needs half a second to plan each of them."""
Digests = dict[str, str]
"""Canned queries of visible compilations, by key."""


class Killer:
    """A writer that kills commands on one graph, and checks the graph after each kill."""

    def __init__(
        self, commands: Commands, location: str | Path, folder: Path, *, seed: int, wide: int
    ) -> None:
        self._commands = commands
        self._location = location
        self._chance = random.Random(seed)
        self._dumps = ChangingDumps(folder / "runs", self._chance, wide=wide)
        self._clean = CleanGraphs(folder / "clean")
        self._seconds: dict[str, float] = {}
        self._texts: dict[str, str] = {}
        """Dumps by the digest that the graph stores."""
        self.outcomes: Counter[str] = Counter()
        """Number of kills by action and visible state: before, after, or between."""
        self.too_late = 0
        """Number of kills after the command had ended."""

    def begin(self) -> None:
        """Fill the graph, and measure the undisturbed time of each action."""
        for action in ("ingest", *ACTIONS):
            arguments, _ = self._prepare(action, dict.fromkeys(KEYS, ""))
            started = time.monotonic()
            ended = self._commands.run(*arguments)
            self._seconds[action] = time.monotonic() - started
            assert ended.code == 0, ended
        self.repair()

    def kill_one(self) -> None:
        """Kill a command at a random moment, and check the graph."""
        before = self._visible()
        action = self._chance.choice(ACTIONS)
        arguments, after = self._prepare(action, before)
        running = self._commands.start(*arguments)
        time.sleep(self._chance.uniform(0, 1.05) * self._seconds[action])
        running.signal(signal.SIGKILL)
        ended = running.wait()
        assert "Traceback" not in ended.err
        is_killed = ended.code == -signal.SIGKILL
        assert is_killed or ended.code == 0 or (action == "remove" and before == after), ended
        self._check(before, after, has_ended=ended.code == 0)
        if is_killed:
            visible = self._visible()
            moment = "before" if visible == before else "after" if visible == after else "between"
            self.outcomes[f"{action} {moment}"] += 1
        else:
            self.too_late += 1
        # the time of an action varies with the load of the machine: a fifth of the kills is late
        self._seconds[action] *= 1.05 if is_killed else 0.8
        if self._chance.random() < 0.5:
            self.repair()

    def repair(self) -> None:
        """Ingest again without a kill: nothing of the killed commands may be left."""
        ended = self._commands.run(*self._ingest())
        assert ended.code == 0, ended
        self._know_dumps()
        with open_graph(self._location) as graph:
            held = complete_digests(graph)
            assert held.keys() >= self._dumps.texts.keys()
            with self._clean_of(held) as clean:
                assert all_rows(graph) == all_rows(clean)
        if isinstance(self._location, Path):
            name = self._location.name
            left = {path.name for path in self._location.parent.iterdir()}
            assert left == {name, f"{name}.lock"}
        else:
            with open_graph(self._location) as graph:
                assert_no_leftovers(graph)

    def _prepare(self, action: str, before: Digests) -> tuple[list[object], Digests]:
        """Change the dumps; return the command, and the visible state after it."""
        if action == "remove":
            run = self._chance.choice(("alpha", "beta"))
            after = {key: held for key, held in before.items() if not key.startswith(f"{run}/")}
            return ["remove", run, "--yes", "--graph", self._location], after
        if action == "replace":
            self._dumps.take_away()
            return [*self._ingest(), "--replace"], self._know_dumps()
        self._dumps.change()
        return self._ingest(), before | self._know_dumps()

    def _ingest(self) -> list[object]:
        return ["ingest", self._dumps.folder, "--graph", self._location]

    def _know_dumps(self) -> Digests:
        digests = {
            found.key: read_dump(found).sha256 for found in find_dumps(self._dumps.folder).dumps
        }
        self._texts |= {digest: self._dumps.texts[key] for key, digest in digests.items()}
        return digests

    def _visible(self) -> Digests:
        with open_graph(self._location) as graph:
            return complete_digests(graph)

    def _clean_of(self, held: Digests) -> Graph:
        return self._clean.of({key: self._texts[digest] for key, digest in held.items()})

    def _check(self, before: Digests, after: Digests, *, has_ended: bool) -> None:
        with open_graph(self._location) as graph:
            held = complete_digests(graph)
            if has_ended:
                assert held == after
            elif isinstance(self._location, Path):
                assert held in (before, after)
            else:
                for key in before.keys() | after.keys():
                    kept, new = before.get(key), after.get(key)
                    assert held.get(key) in ((kept,) if kept == new else (kept, new, None)), key
            visible = self._chance.sample(sorted(held), min(1, len(held)))
            hidden = self._chance.sample(
                sorted(set(KEYS) - held.keys()), int(len(held) < len(KEYS))
            )
            with self._clean_of(held) as clean:
                for key in held:
                    assert rows_of_compilation(graph, key) == rows_of_compilation(clean, key)
                asked = [*visible, *hidden]
                queries = self._chance.sample(sorted(CATALOGUE), QUERIES_ASKED)
                expected = answers(clean, asked, queries)
                found = answers(graph, asked, queries)
                assert {ask: rows for ask, rows in found.items() if rows != expected[ask]} == {}


def kill_many(
    commands: Commands,
    location: str | Path,
    folder: Path,
    *,
    seed: int,
    kills: int,
    wide: int,
) -> Mapping[str, int]:
    """Kill this many running commands, and return the states that they left."""
    killer = Killer(commands, location, folder, seed=seed, wide=wide)
    killer.begin()
    while killer.outcomes.total() < kills:
        killer.kill_one()
        assert killer.too_late < 10 + kills, "commands end before they are killed"
    killer.repair()
    return killer.outcomes
