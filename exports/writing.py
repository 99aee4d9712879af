"""The end of each export: a file written completely, or the reason why there is none."""

from pathlib import Path

from xlagraph.graph.errors import raise_unwritable
from xlagraph.queries.errors import QueryError
from xlagraph.runtime.whole_files import whole_file

__all__ = ["NothingToExport", "write_whole"]


class NothingToExport(QueryError):
    """Data that a format needs is missing; the message says which, and what to do."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, and its folder if needed; raise GraphUnwritable on errors."""
    with raise_unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished:
            unfinished.write_bytes(content)
