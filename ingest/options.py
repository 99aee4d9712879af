"""What an ingest makes of the dumps that it finds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from xlagraph.graph.schema_detail import Detail
from xlagraph.ingest.files.shards import Shard

__all__ = ["IngestOptions"]


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """Which runs the dumps become, and what happens to those that do not fit.

    Raises ValueError if a tag has no ``=``.
    """

    run: str | None = None
    """Name of the run, where there is a single one."""
    tags: Sequence[str] = ()
    """Each ``name=value``; added to those that a run has."""
    replace: bool = False
    """Remove compilations whose files are gone, and let another folder replace the one that a
    run came from."""
    fail_fast: bool = False
    """Stop at the first dump with which something is wrong."""
    dry_run: bool = False
    """Write nothing."""
    shard: Shard | None = None
    """Take only the dumps that it holds."""
    detail: Detail = Detail.ALL
    """How much of each compilation is stored."""
    ingested_at: datetime | None = None
    """Time of the ingest; by default now, or what SOURCE_DATE_EPOCH says."""

    def __post_init__(self) -> None:
        for tag in self.tags:
            if not tag.partition("=")[0] or "=" not in tag:
                raise ValueError(f"expected a tag `name=value`, found {tag!r}")

    def tags_of_run(self, stored: Iterable[str]) -> tuple[str, ...]:
        """Return the stored tags of a run, overridden by these options."""
        together = {**_by_name(stored), **_by_name(self.tags)}
        return tuple(f"{name}={value}" for name, value in together.items())


def _by_name(tags: Iterable[str]) -> Mapping[str, str]:
    """Return the value of each tag ``name=value``."""
    return {name: value for name, _, value in (tag.partition("=") for tag in tags)}
