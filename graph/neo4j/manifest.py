"""The contents of an export: `export.json`, written last, marks it as complete."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from xlagraph.graph.errors import GraphMissing
from xlagraph.graph.row_tables import NODE_COLUMNS, RELATIONSHIP_COLUMNS
from xlagraph.graph.schema import VERSION
from xlagraph.runtime.files import whole_file

MANIFEST: Final = "export.json"


@dataclass(slots=True)
class Manifest:
    """Files of an export, with the number of their rows and limits of their text."""

    files: dict[str, list[str]] = field(default_factory=dict)
    """Row files of each table that has rows, as paths from the export's folder."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of rows of each table."""
    has_newlines: bool = False
    """True if a text contains a line break."""
    longest_row_bytes: int = 0
    """Upper bound of the length of a row."""

    def add(self, other: "Manifest", table: str, files: Sequence[str]) -> None:
        """Add a table of another export, whose rows are in these files."""
        self.files.setdefault(table, []).extend(files)
        self.counts[table] = self.counts.get(table, 0) + other.counts[table]

    def include(self, other: "Manifest") -> None:
        """Widen the limits of the text to cover another export."""
        self.has_newlines |= other.has_newlines
        self.longest_row_bytes = max(self.longest_row_bytes, other.longest_row_bytes)

    @property
    def nodes(self) -> int:
        """Number of nodes in all files."""
        return sum(self.counts.get(name, 0) for name in NODE_COLUMNS)

    @property
    def relationships(self) -> int:
        """Number of relationships in all files."""
        return sum(self.counts.get(name, 0) for name in RELATIONSHIP_COLUMNS)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest; this marks the export as complete."""
    content = {
        "schema": VERSION,
        "files": manifest.files,
        "counts": manifest.counts,
        "hasNewlines": manifest.has_newlines,
        "longestRowBytes": manifest.longest_row_bytes,
    }
    with whole_file(folder / MANIFEST) as unfinished:
        unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read a manifest; raise GraphMissing if there is none or the export is incomplete."""
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GraphMissing(
            f"{folder} does not contain a finished export: {MANIFEST} is missing"
        ) from None
    except ValueError as error:
        raise GraphMissing(f"{path} cannot be read: {error}") from error
    try:
        schema = content["schema"]
        if schema == VERSION:
            return Manifest(
                content["files"],
                content["counts"],
                content["hasNewlines"],
                content["longestRowBytes"],
            )
    except (KeyError, TypeError):
        raise GraphMissing(f"{path} is not the manifest of an export") from None
    raise GraphMissing(
        f"{folder} was exported by another version of xlagraph (schema {schema}, here {VERSION}); "
        "export it again"
    )
