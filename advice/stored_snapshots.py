"""Store what was resident on devices with a run, and find it by its name."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, cast

from xlagraph.advice.device_memory import Resident, UnfitSnapshot, read_snapshot
from xlagraph.graph.engine import Graph
from xlagraph.graph.run_changes import store_snapshot
from xlagraph.graph.statement_files import load_statement

_SNAPSHOTS: Final = load_statement(__file__, "stored-snapshots")


def store_residents(graph: Graph, run: str, name: str, residents: Sequence[Resident]) -> None:
    """Store a snapshot with a run; raise NameUnknown if there is no such run."""
    store_snapshot(graph, run, name, json.dumps([asdict(each) for each in residents]))


def find_snapshot(graph: Graph, text: str) -> tuple[Resident, ...]:
    """Return the snapshot in a file, or a stored one: ``NAME`` or ``RUN/NAME``.

    Raises OSError, and UnfitSnapshot if it is neither, or if several runs have that name.
    """
    if Path(text).is_file():
        return read_snapshot(Path(text))
    found: dict[str, str] = {}
    for run, snapshots in graph.query(_SNAPSHOTS).rows:
        for each in cast("Sequence[str]", snapshots):
            name, _, content = each.partition("=")
            if text in (name, f"{run}/{name}"):
                found[f"{run}/{name}"] = content
    if not found:
        raise UnfitSnapshot(
            f"{text} is neither a file nor a stored snapshot; store one with"
            " `xlagraph resident FILE --run RUN`"
        )
    if len(found) > 1:
        raise UnfitSnapshot(f"several runs have a snapshot {text}; name {' or '.join(found)}")
    (content,) = found.values()
    return tuple(Resident(**row) for row in json.loads(content))
