"""What a graph holds of some runs: what an ingest has to know before it changes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CompilationDigest:
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
    compilations: Mapping[str, CompilationDigest] = field(default_factory=dict)
    """By key."""

    @property
    def folders(self) -> frozenset[str]:
        """Return the paths of all folders that it came from."""
        return frozenset((self.path, *(stored.path for stored in self.compilations.values())))
