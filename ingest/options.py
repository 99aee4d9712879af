"""Options that control how dumps are ingested, and the user's categories.

xlagraph.toml, or another file of that form:

[categories]
embedding = ["params['wte']", "params['wpe']"]
state = ["kv_*", "ring"]
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from xlagraph.graph.schema import Detail

PROJECT_FILE: Final = "xlagraph.toml"
"""Name of the file in the current folder that is read by default."""


def read_categories(file: Path) -> tuple[tuple[str, str], ...]:
    """Return categories and their patterns of names, in the file's order.

    Raises OSError, and ValueError with the file and what was expected.
    """
    try:
        table = tomllib.loads(file.read_text("utf-8")).get("categories", {})
    except ValueError as error:
        raise ValueError(f"{file}: not TOML: {error}") from None
    if not isinstance(table, Mapping):
        raise ValueError(  # noqa: TRY004  a fault of the file, like the others
            f"{file}: expected a table [categories], found {table!r}"
        )
    pairs: list[tuple[str, str]] = []
    for category, patterns in table.items():
        if not (
            isinstance(patterns, list)
            and all(isinstance(pattern, str) and pattern for pattern in patterns)
        ):
            raise ValueError(
                f"{file}: expected a list of parts of names, such as"
                f" {category} = [\"params['w']\"], found {patterns!r}"
            )
        pairs += [(category, pattern) for pattern in patterns]
    return tuple(pairs)


class Shard(NamedTuple):
    """One of N shares, numbered from 1; each key is in exactly one share."""

    number: int
    of: int

    def holds(self, key: str) -> bool:
        """Return whether a compilation is in this share; the answer is the same on all machines."""
        digest = blake2b(key.encode("utf-8", "surrogateescape"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.of == self.number - 1


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """The run, tags and detail of the ingested dumps, and how problems are handled.

    Raises ValueError if a tag has no ``=``.
    """

    run: str | None = None
    """Name of the run, if all dumps belong to one; None to name runs by their folders."""
    tags: Sequence[str] = ()
    """Tags, each ``name=value``, which are added to the run's tags."""
    replace: bool = False
    """True to remove compilations whose files no longer exist, and to let a folder replace the
    folder from which the run was ingested before."""
    fail_fast: bool = False
    """True to stop at the first dump that cannot be ingested."""
    dry_run: bool = False
    """True to read everything and write nothing."""
    shard: Shard | None = None
    """Share of the dumps to ingest; None for all."""
    detail: Detail = Detail.ALL
    """Level of detail that is stored for each compilation."""
    categories: tuple[tuple[str, str], ...] = ()
    """The user's categories: pairs of a category and a pattern of names; the first that is found
    decides."""
    ingested_at: datetime | None = None
    """Time of the ingest; None for SOURCE_DATE_EPOCH or, if that is not set, now."""

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
