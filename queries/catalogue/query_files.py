"""The canned queries: one file each; its path is its id."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Final

from xlagraph.graph.cypher_tokens import read_tokens
from xlagraph.graph.schema import LEFT_OUT, Detail
from xlagraph.queries.catalogue.declarations import Header
from xlagraph.queries.catalogue.header import parse_header
from xlagraph.queries.errors import CatalogueError

OWN_DIRECTORY: Final = Path(__file__).parents[1] / "canned"
"""Folder of the queries that come with xlagraph."""

_ID: Final = re.compile(r"[a-z][a-z0-9-]*/[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True, repr=False)
class Query(Header):
    """A canned query: its header and its file."""

    id: str
    """`theme/noun-phrase`, the path of its file."""
    text: str
    """The complete file, header included."""
    path: Path

    def __repr__(self) -> str:
        return f"<Query {self.id}>"

    @property
    def theme(self) -> str:
        """The first part of its id."""
        return self.id.partition("/")[0]

    @property
    def needed_detail(self) -> Detail:
        """The detail in which compilations must be stored for an answer."""
        return _needed_detail(self.text)


@cache
def _needed_detail(text: str) -> Detail:
    """Return the lowest detail that stores everything a statement reads."""
    names = {token.text for token in read_tokens(text) if token.kind == "name"}
    has_all_values = "Value" in names and "LIVE_AT_PEAK" not in names
    needs_all = has_all_values or not names.isdisjoint(LEFT_OUT[Detail.PEAK])
    return Detail.ALL if needs_all else Detail.PEAK


class _Catalogue(Mapping[str, Query]):
    """Queries by id, sorted; each file is read when its query is asked for."""

    def __init__(self, folder_by_id: Mapping[str, Path], read: Mapping[str, Query]) -> None:
        self._folder_by_id = folder_by_id
        self._read = dict(read)

    def __getitem__(self, query_id: str) -> Query:
        if query_id not in self._read:
            folder = self._folder_by_id[query_id]
            self._read[query_id] = read_query(folder / f"{query_id}.cypher", folder)
        return self._read[query_id]

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._folder_by_id

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._folder_by_id))

    def __len__(self) -> int:
        return len(self._folder_by_id)


def load_catalogue(
    directories: Sequence[Path] = (), *, on_problem: Callable[[str], None] | None = None
) -> Mapping[str, Query]:
    """Find the queries that come with xlagraph and those below ``directories``, by id.

    Those below ``directories`` are read now. Raises CatalogueError, naming file, line and fix,
    for the first file that is not as it should be, or calls ``on_problem`` with each and leaves
    it out; `check_queries` finds every problem of a directory.
    """
    own = _own_queries()
    if not directories:
        return own
    folders = dict.fromkeys(own, OWN_DIRECTORY)
    read: dict[str, Query] = {}
    for directory in directories:
        if not directory.is_dir():
            raise CatalogueError(
                f"{directory}: no such folder; name one that contains theme/noun.cypher"
            )
        for path in query_files(directory):
            try:
                query = _new_query(path, directory, folders)
            except CatalogueError as error:
                if on_problem is None:
                    raise
                on_problem(str(error))
            else:
                folders[query.id], read[query.id] = directory, query
    return _Catalogue(folders, read)


@cache
def _own_queries() -> Mapping[str, Query]:
    """Find the queries that come with xlagraph, once per process."""
    files = OWN_DIRECTORY.glob("*/*.cypher")
    ids = (path.relative_to(OWN_DIRECTORY).with_suffix("").as_posix() for path in files)
    return _Catalogue(dict.fromkeys(ids, OWN_DIRECTORY), {})


def _new_query(path: Path, directory: Path, folder_by_id: Mapping[str, Path]) -> Query:
    query = read_query(path, directory)
    if query.id in folder_by_id:
        there = folder_by_id[query.id] / f"{query.id}.cypher"
        raise CatalogueError(f"{path}:1: {query.id} already exists in {there}; rename this file")
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
    declared = {each.name: getattr(header, each.name) for each in fields(header)}
    return Query(**declared, id=id_, text=text, path=path)
