"""The catalogue of a command: the queries that come with xlagraph, and the user's own."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlagraph.cli.output.messages import problem

if TYPE_CHECKING:
    from xlagraph.queries.catalogue.query_files import Query

__all__ = ["catalogue", "query_folders"]


def catalogue(
    directories: Sequence[Path] = (), on_problem: Callable[[str], None] | None = None
) -> Mapping[str, "Query"]:
    """Read the catalogue, with the users' own queries: of directories and `XLAGRAPH_QUERIES`.

    A file that is not as it should be is left out and named; ``on_problem`` names it otherwise.
    """
    from xlagraph.queries.catalogue.query_files import load_catalogue

    return load_catalogue(
        query_folders(directories),
        on_problem=on_problem or (lambda text: problem(f"left out: {text}")),
    )


def query_folders(directories: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return the folders of the user's own queries, those of the environment first."""
    named = filter(None, os.environ.get("XLAGRAPH_QUERIES", "").split(os.pathsep))
    folders = (path.expanduser() for path in (*map(Path, named), *directories))
    return tuple(dict.fromkeys(folders))
