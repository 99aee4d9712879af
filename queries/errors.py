"""Errors of queries.

QueryError
├── CatalogueError          a query file is malformed; names file, line and fix
├── UnknownQuery            no query has that id
├── BadParameter            a parameter is missing, unknown or of another type
├── NoSuchCompilation       no compilation has that key, or a key that contains the text
├── AmbiguousCompilation    the text is part of several keys
├── InexactName             a complete name is required
├── NoSuchRun               no run has that name
├── NoSuchName              no value, instruction, allocation, module, op or tag has that name
├── NoSuchMemorySpace       nothing is allocated in a memory space of that number
├── NotStored               the query needs more than the compilation was ingested with
├── AmbiguousValue          several values have that name
└── EmptyGraph              nothing has been ingested
"""

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Final

_MOST: Final = 5
"""Most similar names in a message."""


class QueryError(Exception):
    """A canned query cannot be run; the message says why, and what to do."""


class CatalogueError(QueryError):
    """A query file is malformed."""


class BadParameter(QueryError):
    """A parameter is missing, unknown, or of another type than declared."""


class EmptyGraph(QueryError):
    """Nothing has been ingested."""

    def __init__(self) -> None:
        super().__init__("the graph contains no compilation; ingest a folder of dumps first")


class _NotFound(QueryError):
    """A name was not found."""

    candidates: tuple[str, ...]
    """Similar names, the most similar first."""

    def __init__(self, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(
            f"{message}; did you mean {_alternatives(candidates)}?" if candidates else message
        )
        self.candidates = tuple(candidates)


class UnknownQuery(_NotFound):
    """No query of the catalogue has that id."""


class NoSuchCompilation(_NotFound):
    """No complete compilation has that key, or a key that contains the text."""


class NoSuchRun(_NotFound):
    """No run has that name."""


class NoSuchName(_NotFound):
    """No value, instruction, allocation, module, op or tag has that name."""


class NoSuchMemorySpace(QueryError):
    """Nothing is allocated in a memory space of that number."""

    def __init__(self, color: int, used: Collection[int], compilation: str | None = None) -> None:
        """Name the compilation that was searched; None for all that were."""
        numbers = ", ".join(map(str, sorted(used))) or "none"
        where = f" of {compilation}" if compilation else ""
        super().__init__(
            f"nothing is allocated in memory space {color}{where};"
            f" the memory spaces in use: {numbers}"
        )


class NotStored(QueryError):
    """The query needs facts that were not ingested: detail peak stores fewer."""

    def __init__(self, compilation: str) -> None:
        super().__init__(
            f"not stored: {compilation} was ingested with detail peak, which stores only totals"
            " and what is live at the peaks; ingest it again with detail all"
        )


class AmbiguousCompilation(QueryError):
    """The text is part of the keys of several compilations."""

    def __init__(self, part: str, matches: Sequence[str]) -> None:
        super().__init__(
            f"'{part}' is a part of {len(matches)} compilations, name more of the key:"
            f"{_listed(matches)}"
        )
        self.matches = tuple(matches)


class InexactName(QueryError):
    """A complete name is required; the given text is part of several names."""

    def __init__(self, part: str, matches: Sequence[str]) -> None:
        super().__init__(
            f"no run and no compilation is called exactly '{part}'; name one of those that have"
            f" it in their name:{_listed(matches)}"
        )
        self.matches = tuple(matches)


class AmbiguousValue(QueryError):
    """Several values have that name: the elements of a tuple."""

    def __init__(self, name: str, matches: Sequence[str]) -> None:
        shown = ", ".join(f"'{label}'" for label in matches[:_SHOWN])
        more = f" … and {len(matches) - _SHOWN} more" if len(matches) > _SHOWN else ""
        super().__init__(f"'{name}' names {len(matches)} values; name one: {shown}{more}")
        self.matches = tuple(matches)


_SHOWN = 20


def _listed(matches: Sequence[str]) -> str:
    shown = "".join(f"\n  {key}" for key in matches[:_SHOWN])
    return shown + (f"\n  … and {len(matches) - _SHOWN} more" if len(matches) > _SHOWN else "")


def _alternatives(candidates: Sequence[str]) -> str:
    *others, last = [f"'{candidate}'" for candidate in candidates]
    return f"{', '.join(others)} or {last}" if others else last


def similar_names(name: str, names: Sequence[str]) -> list[str]:
    """Return up to five of ``names``, the most similar first; all if there are only five."""
    containing = [candidate for candidate in names if name.lower() in candidate.lower()]
    close = get_close_matches(name, names, n=_MOST, cutoff=0.5)
    found = list(dict.fromkeys((*close, *containing)))[:_MOST]
    return found or (list(names) if len(names) <= _MOST else [])
