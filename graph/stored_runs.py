"""What a graph holds of some runs: what an ingest has to know before it changes them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from xlagraph.graph.engine import Cell, Result
from xlagraph.graph.statement_files import load_statement

_STORED_RUNS: Final = load_statement(__file__, "stored-runs")


@dataclass(frozen=True, slots=True)
class StoredCompilation:
    """A complete compilation, as far as another dump is compared with it."""

    path: str
    """Folder that it was ingested from."""
    sha256: str
    total_bytes: int | None
    """As XLA printed it."""
    allocation_bytes: int


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run with its complete compilations."""

    path: str
    """Folder that it was ingested from; the first of those that joined it."""
    tags: tuple[str, ...] = ()
    """Each ``name=value``."""
    compilations: Mapping[str, StoredCompilation] = field(default_factory=dict)
    """By key."""

    @property
    def folders(self) -> frozenset[str]:
        """Return the paths of all folders that it came from."""
        return frozenset((self.path, *(stored.path for stored in self.compilations.values())))


def read_stored_runs(
    query: Callable[[str, Mapping[str, Cell]], Result], names: Collection[str]
) -> dict[str, StoredRun]:
    """Return what a graph holds of these runs, by name, in the order of the keys."""
    if not names:  # the embedded engine has no empty list
        return {}
    rows = query(_STORED_RUNS, {"runs": sorted(names)}).rows
    paths: dict[str, tuple[str, tuple[str, ...]]] = {}
    compilations: dict[str, dict[str, StoredCompilation]] = {}
    for run, path, tags, key, folder, sha256, total_bytes, allocation_bytes in rows:
        paths.setdefault(str(run), (str(path), tuple(cast("Sequence[str]", tags or ()))))
        compilations.setdefault(str(run), {})[str(key)] = StoredCompilation(
            str(folder), str(sha256), cast("int | None", total_bytes), cast("int", allocation_bytes)
        )
    return {run: StoredRun(path, tags, compilations[run]) for run, (path, tags) in paths.items()}
