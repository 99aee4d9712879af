"""Checks that a user's statement only reads the graph.

The engines' own read-only modes are not enough: they still read files and the network,
and the embedded engine writes files. A text is allowed if it is one statement,
begins with a reading clause, and loads or calls nothing external.

Nesting and length are limited too: the parser of the embedded engine recurses, and deep nesting
would end the process with a stack overflow.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from xlagraph.graph.cypher_tokens import Token, read_tokens
from xlagraph.graph.engine import Cell
from xlagraph.graph.errors import QueryFailed, QueryRefused
from xlagraph.presentation.byte_sizes import human_bytes

MOST_CHARACTERS: Final = 100_000
MOST_NESTED: Final = 64
"""Limit of nested brackets and CASE; 1,000 nested lists overflow the engine's stack."""
MOST_JOINED: Final = 5_000
"""Limit of tokens between commas; 12,000 times AND overflows the stack as well."""

_READING_WORDS: Final = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN"})
_PREFIX_WORDS: Final = frozenset({"EXPLAIN", "PROFILE"})

# Neo4j decodes these before it parses the text: \\u0027 would end a string only for the server.
_ESCAPED_ASCII: Final = re.compile(r"\\u+00[0-7][0-9a-fA-F]")

# Python represents bytes of an argument that are not UTF-8 as surrogates.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

_CLOSING: Final[Mapping[str, str]] = {"(": ")", "[": "]", "{": "}"}


class Statement(NamedTuple):
    """The facts about a statement that the check needs, found in one pass."""

    words: tuple[str, ...]
    """Words in upper case, in order, without quoted names and names after ``.``, ``:`` or ``$``."""
    calls: tuple[str, ...]
    """The text after each CALL: the dotted name of a procedure, or the bracket of a subquery."""
    parameters: frozenset[str]
    is_single: bool
    """True if only comments follow a semicolon."""
    tokens: tuple[Token, ...]


@lru_cache(maxsize=64)  # pages and comparisons ask the same again with other parameters
def read_statement(text: str) -> Statement:
    """Return the facts about a statement; the contents of strings and quoted names are skipped."""
    tokens = tuple(read_tokens(text))
    words: list[str] = []
    calls: list[str] = []
    parameters: set[str] = set()
    before = ""  # text of the last token
    was_number = in_call = ended = False
    is_single = True
    for token in tokens:
        if ended:
            is_single = False
        if token.text == ";":
            ended = True
        if in_call:
            # a procedure's name ends at a bracket or the next word; a bracket begins a subquery
            is_part = token.kind in ("name", "string")
            if not is_part or before in (".", "CALL"):
                calls[-1] += token.text
            in_call = token.text == "." or (is_part and before in (".", "CALL"))
        if token.kind == "parameter":
            parameters.add(token.parameter)
        elif token.kind == "name" and not token.is_quoted and before not in (".", ":"):
            words.append(token.word)
            if words[-1] == "CALL":
                calls.append("")
                in_call = True
        before = "" if token.text == "." and was_number else token.text
        was_number = token.kind == "number"
    return Statement(tuple(words), tuple(calls), frozenset(parameters), is_single, tokens)


@lru_cache(maxsize=64)
def check_statement(text: str, *, procedures: frozenset[str] | None) -> Statement:
    """Return the statement of a text; raise QueryRefused if it does more than read.

    It is also raised for a statement that is too long or too deeply nested for the engines.
    ``procedures`` are the names that may be called; None forbids subqueries too.
    """
    if len(text) > MOST_CHARACTERS:
        raise QueryRefused(
            f"expected a statement of at most {MOST_CHARACTERS:,} characters, found {len(text):,};"
            " pass long lists and strings as parameters"
        )
    statement = read_statement(text)
    _check_nesting(statement.tokens)
    words = [word for word in statement.words if word not in _PREFIX_WORDS]
    if not statement.words:
        raise QueryRefused("expected a statement, found none")
    if not statement.is_single:
        raise QueryRefused("expected one statement, found a second one after `;`")
    first = words[0] if words else statement.words[0]
    reading = _READING_WORDS if procedures is None else _READING_WORDS | {"CALL"}
    if first not in reading:
        raise QueryRefused(
            f"{first[:80]} does not read the graph; a statement begins with one of "
            + ", ".join(sorted(reading))
        )
    if _SURROGATE.search(text):
        raise QueryRefused("the statement is not UTF-8")
    if escaped := _ESCAPED_ASCII.search(text):
        raise QueryRefused(f"{escaped.group()} is an escaped plain character: write it plainly")
    if "LOAD" in words:
        raise QueryRefused("LOAD reads files; a statement only reads the graph")
    for called in statement.calls:
        if procedures is None:
            raise QueryRefused("CALL is not allowed: a statement only reads the graph")
        if called not in ("{", "(") and called.removesuffix("(") not in procedures:
            raise QueryRefused(
                f"CALL {called.removesuffix('(')[:80]} may reach beyond the graph; "
                "allowed procedures: " + ", ".join(sorted(procedures))
            )
    return statement


@dataclass(slots=True)
class _Level:
    """An open bracket, or the whole statement."""

    closing: str
    joined: int = 0
    """Number of tokens since the last comma."""
    cases: int = 0
    """Number of CASE since the last comma; END can be a variable name that closes none."""


def _check_nesting(tokens: Iterable[Token]) -> None:
    """Raise QueryRefused if a statement is nested too deep for the engines."""
    levels = [_Level("")]
    cases = 0
    for token in tokens:
        level = levels[-1]
        level.joined += 1
        if token.text == ",":
            cases -= level.cases
            level.joined = level.cases = 0
        elif token.text in _CLOSING:
            levels.append(_Level(_CLOSING[token.text]))
        elif token.text == level.closing:
            cases -= levels.pop().cases
        elif token.is_word("CASE"):
            level.cases += 1
            cases += 1
        if len(levels) - 1 + cases > MOST_NESTED:
            raise QueryRefused(
                f"expected at most {MOST_NESTED} nested brackets and CASE, found more"
                f" at character {token.start + 1:,}; name parts of the statement in a WITH"
            )
        if level.joined > MOST_JOINED:
            raise QueryRefused(
                f"expected at most {MOST_JOINED:,} words and signs without a comma, found"
                f" more at character {token.start + 1:,}; pass a long list as a parameter"
            )


def given_parameters(statement: Statement, parameters: Mapping[str, Cell]) -> dict[str, Cell]:
    """Return the parameters that a statement names; QueryFailed if one is not given.

    Numbers must fit 64 bits with their sign, strings be UTF-8, and lists and maps be nested no
    deeper than the brackets of a statement.
    """
    if missing := sorted(statement.parameters - parameters.keys()):
        names = ", ".join(f"${name}" for name in missing)
        raise QueryFailed(f"no value for {names}")
    given = {name: parameters[name] for name in statement.parameters}
    for name, value in given.items():
        for part in _parts(value, f"${name}"):
            if isinstance(part, int) and not -(2**63) <= part < 2**63:
                raise QueryFailed(f"${name} contains a number of more than 64 bits")
            if isinstance(part, str) and _SURROGATE.search(part):
                raise QueryFailed(f"${name} contains text that is not UTF-8")
    return given


def check_nesting(parameters: Mapping[str, Cell]) -> None:
    """Raise QueryFailed if lists and maps are nested deeper than a statement may be."""
    for name, value in parameters.items():
        for _ in _parts(value, f"${name[:80]}"):
            pass


def check_columns(columns: Sequence[str]) -> None:
    """Raise QueryFailed if two columns have one name: a row as a mapping would lose one."""
    if len(set(columns)) < len(columns):
        name = next(name for name in columns if columns.count(name) > 1)
        raise QueryFailed(f"several columns are called {name[:80]}: name them with AS")


def bounded_rows(
    rows: Iterable[tuple[Cell, ...]], max_rows: int | None, max_bytes: int | None = None
) -> Iterable[tuple[Cell, ...]]:
    """Return a statement's rows; raise QueryFailed if there are more than allowed.

    The size of a text is its bytes; every other cell or element counts 8 bytes.
    """
    if max_rows is None and max_bytes is None:
        return rows
    return _counted(rows, max_rows, max_bytes)


def _counted(
    rows: Iterable[tuple[Cell, ...]], max_rows: int | None, max_bytes: int | None
) -> Iterator[tuple[Cell, ...]]:
    size_bytes = 0
    for number, row in enumerate(rows, 1):
        if max_rows is not None and number > max_rows:
            raise QueryFailed(f"the statement has more than {max_rows:,} rows; end it with LIMIT")
        if max_bytes is not None:
            size_bytes += sum(map(_size_bytes, row))
            if size_bytes > max_bytes:
                raise QueryFailed(
                    f"the answer has more than {human_bytes(max_bytes)}; return fewer rows,"
                    " columns or elements"
                )
        yield row


def _size_bytes(cell: Cell) -> int:
    if isinstance(cell, str):
        return len(cell)
    if isinstance(cell, Mapping):
        return sum(len(name) + _size_bytes(part) for name, part in cell.items())
    if isinstance(cell, Sequence):
        return sum(map(_size_bytes, cell))
    return 8


def _parts(value: Cell, name: str) -> Iterator[Cell]:
    """Yield the contents of lists and maps with their names; QueryFailed if they are too deep."""
    parts: Sequence[Cell] = [value]
    for _ in range(MOST_NESTED + 1):
        inner: list[Cell] = []
        for part in parts:
            if isinstance(part, dict):
                inner += part
                inner += part.values()
            elif isinstance(part, list):
                inner += part
            else:
                yield part
        if not inner:
            return
        parts = inner
    raise QueryFailed(f"{name} holds more than {MOST_NESTED} nested lists and maps")
