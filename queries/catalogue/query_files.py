"""The canned queries: one file for each, its path is its id."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from xlagraph.graph.schema_detail import Detail
from xlagraph.queries.catalogue.declarations import Header
from xlagraph.queries.catalogue.header import parse_header
from xlagraph.queries.catalogue.needed_detail import needed_detail
from xlagraph.queries.errors import CatalogueError

OWN_DIRECTORY: Final = Path(__file__).parents[1] / "canned"
"""Folder of the queries that come with xlagraph."""

_ID: Final = re.compile(r"[a-z][a-z0-9-]*/[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class Query(Header):
    """A canned query: its header and its file."""

    id: str
    """`theme/noun-phrase`, the path of its file."""
    text: str
    """The complete file, header included."""
    path: Path

    @property
    def theme(self) -> str:
        """The first part of its id."""
        return self.id.partition("/")[0]

    @property
    def needed_detail(self) -> Detail:
        """The detail in which compilations must be stored for an answer."""
        return needed_detail(self.text)


def load_catalogue(
    directories: Sequence[Path] = (), *, on_problem: Callable[[str], None] | None = None
) -> Mapping[str, Query]:
    """Read the queries that come with xlagraph and those below ``directories``, by id.

    Raises CatalogueError, naming file, line and remedy, for the first file that is not as it
    should be, or calls ``on_problem`` with each and leaves it out; `check_queries` finds every
    problem of a directory.
    """
    catalogue = dict(_own_queries())
    for directory in directories:
        if not directory.is_dir():
            raise CatalogueError(
                f"{directory}: no such folder; name one that contains theme/noun.cypher"
            )
        for path in query_files(directory):
            try:
                query = _new_query(path, directory, catalogue)
            except CatalogueError as error:
                if on_problem is None:
                    raise
                on_problem(str(error))
            else:
                catalogue[query.id] = query
    return dict(sorted(catalogue.items()))


@cache
def _own_queries() -> Mapping[str, Query]:
    """Read the queries that come with xlagraph, once per process."""
    return {
        query.id: query
        for query in (read_query(path, OWN_DIRECTORY) for path in query_files(OWN_DIRECTORY))
    }


def _new_query(path: Path, directory: Path, catalogue: Mapping[str, Query]) -> Query:
    query = read_query(path, directory)
    if query.id in catalogue:
        raise CatalogueError(
            f"{path}:1: {query.id} already exists in {catalogue[query.id].path}; rename this file"
        )
    return query


def query_files(directory: Path) -> Iterator[Path]:
    """Yield the query files below a directory, sorted.

    Folders of Python packages are not themes.
    """
    for path in sorted(directory.rglob("*.cypher")):
        folders = path.relative_to(directory).parents
        if not any((directory / folder / "__init__.py").exists() for folder in folders[:-1]):
            yield path


def read_query(path: Path, directory: Path) -> Query:
    """Read one query file; its id is its path below ``directory``.

    Raises CatalogueError if its header is incomplete or its path is not an id.
    """
    id_ = path.relative_to(directory).with_suffix("").as_posix()
    if not _ID.fullmatch(id_):
        raise CatalogueError(
            f"{path}:1: '{id_}' is not an id; move the file to theme/noun-phrase.cypher,"
            " lower case with hyphens"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogueError(f"{path}: cannot be read: {error}") from error
    header = parse_header(text, str(path))
    return Query(
        title=header.title,
        kind=header.kind,
        answers=header.answers,
        parameters=header.parameters,
        columns=header.columns,
        measure=header.measure,
        notes=header.notes,
        empty=header.empty,
        status=header.status,
        advice=header.advice,
        lines=header.lines,
        id=id_,
        text=text,
        path=path,
    )
