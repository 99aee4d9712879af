"""Puts the keys of maps into one order, because the embedded engine matches them by position.

The engine reads `[{a: 1, b: 2}, {b: 30, a: 40}]` as a list of one type, whose second map has the
values of the first map's keys: a = 30, b = 40. Maps with equal keys in equal order are read
correctly. Maps whose keys differ cannot be made equal, so they are rejected where they could meet.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from xlagraph.graph.cypher_tokens import Token, read_tokens
from xlagraph.graph.engine import Cell
from xlagraph.graph.errors import QueryRefused

_ADVICE: Final = "give all maps the same keys, with null for a missing value"
# a word that is followed by a map literal, where another word is a name in a pattern
_BEFORE_MAPS: Final = frozenset({"DISTINCT", "NOT", "CASE"})
_SKIPPED: Final = ("space", "comment")
_PATTERN_MARKS: Final = frozenset({"(", "[", ":", "|", "&", "!"})


class _MapKeys(NamedTuple):
    """The keys of a map, and where it is."""

    names: tuple[str, ...]
    place: tuple[str, ...]
    """Keys of the maps around it, outermost first; empty for an outermost map."""
    column: int | None
    """The column of the answer that it is written in; None if it may reach all columns."""


@dataclass(slots=True)
class _LiteralReader:
    """Reads a statement once, and collects the keys of its map literals."""

    tokens: Sequence[Token]
    last_return: int
    """Position of the RETURN whose columns cannot meet; beyond the end if there is none."""
    position: int = 0
    column: int = 0
    found: list[_MapKeys] = field(default_factory=list)
    is_closed: bool = True
    """False if a bracket of a map is never closed."""

    def text(self, place: tuple[str, ...], ends: str, begin: str = "") -> str:
        """Return the text up to one of the signs, with ordered maps; ``begin`` is the sign before.

        Without ``ends`` it is the rest of the statement.
        """
        pieces: list[str] = []
        earlier, last = "", begin  # without spaces and comments
        while self.position < len(self.tokens):
            kind, piece = self.tokens[self.position][:2]
            if kind == "symbol" and piece in ends:
                break
            if piece == "," and not ends:
                self.column += 1
            if piece == "{" and self._begins_map():
                piece = self._map(place, is_pattern=_is_in_pattern(earlier, last))
            else:
                self.position += 1
                if closing := _CLOSING.get(piece):
                    piece += self.text(place, closing, piece) + self._next()
            pieces.append(piece)
            if kind not in _SKIPPED:
                earlier, last = last, piece
        return "".join(pieces)

    def _next(self) -> str:
        self.position += 1
        return self.tokens[self.position - 1].text if self.position <= len(self.tokens) else ""

    def _map(self, place: tuple[str, ...], *, is_pattern: bool) -> str:
        column = self.column if self.position > self.last_return else None
        entries: list[tuple[str, str]] = []
        end = ","
        while end == ",":
            self.position += 1
            name = _unquoted(self._significant(self.position)[1].text)
            entries.append((name, self.text((*place, name), ",}")))
            end = self.tokens[self.position].text if self.position < len(self.tokens) else ""
        self.position += 1
        self.is_closed = self.is_closed and end == "}"
        if not is_pattern:
            self.found.append(
                _MapKeys(_ordered_names([name for name, _ in entries]), place, column)
            )
        entries.sort(key=lambda entry: _name_order(entry[0]))
        return "{" + ",".join(text for _, text in entries) + end

    def _begins_map(self) -> bool:
        position, name = self._significant(self.position + 1)
        return name.kind in ("name", "string") and self._significant(position + 1)[1].text == ":"

    def _significant(self, position: int) -> tuple[int, Token]:
        """Return the next token that is neither space nor comment, and its position."""
        while position < len(self.tokens) and self.tokens[position].kind in _SKIPPED:
            position += 1
        return position, self.tokens[position] if position < len(self.tokens) else Token("", "", 0)


_CLOSING: Final[Mapping[str, str]] = {"(": ")", "[": "]", "{": "}"}


def with_ordered_maps(text: str, parameters: Mapping[str, Cell]) -> tuple[str, dict[str, Cell]]:
    """Return a statement and its parameters with the keys of all maps in one order.

    Raises QueryRefused for maps with different keys that the engine would mix up.
    """
    found: list[_MapKeys] = []
    ordered = {
        name: _ordered(value, (), found) if isinstance(value, list | dict) else value
        for name, value in parameters.items()
    }
    if "{" in text:
        text, written = _with_ordered_literals(text)
        found += written
    _check_meetings(found)
    return text, ordered


@lru_cache(maxsize=64)  # pages and comparisons ask the same again with other parameters
def _with_ordered_literals(text: str) -> tuple[str, Sequence[_MapKeys]]:
    reader = _reader_of(text)
    rewritten = reader.text((), "")
    # the engine reports an open bracket
    return rewritten if reader.is_closed else text, tuple(reader.found)


def _reader_of(text: str) -> _LiteralReader:
    tokens = list(read_tokens(text, with_spaces=True))
    depth = 0
    last_return = len(tokens)
    for number, token in enumerate(tokens):
        word = token.word
        if token.kind == "symbol":
            depth += (token.text in "([{") - (token.text in ")]}")
        if word == "UNION":
            return _LiteralReader(tokens, len(tokens))
        if word == "RETURN" and depth == 0:
            last_return = number
    return _LiteralReader(tokens, last_return)


def _is_in_pattern(earlier: str, last: str) -> bool:
    """Return True if a brace after these pieces is a part of a pattern, as in `(v:Value {`."""
    is_name = re.fullmatch(r"\w+|`.*`", last, re.DOTALL) is not None
    return is_name and last.upper() not in _BEFORE_MAPS and earlier in _PATTERN_MARKS


def _ordered(value: Cell, place: tuple[str, ...], found: list[_MapKeys]) -> Cell:
    if isinstance(value, dict):
        found.append(_MapKeys(_ordered_names(list(value)), place, None))
        return {
            name: _ordered(value[name], (*place, name), found)
            for name in sorted(value, key=_name_order)
        }
    if isinstance(value, list):
        return [_ordered(part, place, found) for part in value]
    return value


def _ordered_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of a map in order; QueryRefused if the engine takes two for the same."""
    ordered = tuple(sorted(names, key=_name_order))
    for name, following in pairwise(ordered):
        if name != following and name.lower() == following.lower():
            raise QueryRefused(
                f"the keys {name[:80]} and {following[:80]} of a map differ only in case, which"
                " the embedded engine ignores; rename one"
            )
    return ordered


def _check_meetings(found: Sequence[_MapKeys]) -> None:
    """Raise QueryRefused if two maps differ in their keys and could be in one list."""
    known: dict[tuple[int, tuple[str, ...], int | None], tuple[str, ...]] = {}
    everywhere: dict[tuple[int, tuple[str, ...]], tuple[str, ...]] = {}
    for names, place, column in sorted(found, key=lambda keys: keys.column is not None):
        size = len(names)
        if column is None:
            everywhere.setdefault((size, place), names)
        first = everywhere.get((size, place)) or known.setdefault((size, place, column), names)
        if first != names:
            raise QueryRefused(
                f"maps with the keys {_listed(first)} and with the keys {_listed(names)} can be"
                f" mixed up by the embedded engine; {_ADVICE}"
            )


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(names)
    return text if len(text) <= 80 else text[:79] + "…"


def _unquoted(name: str) -> str:
    return name[1:-1] if name[:1] in ("`", "'", '"') else name


def _name_order(name: str) -> tuple[str, str]:
    return name.lower(), name
