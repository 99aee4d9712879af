"""The header of a query file: comments that declare what a query asks and returns.

    // Values that hold the most memory at the peak of a compilation
    // @kind     table
    // @answers  What is biggest at the peak, and which line of mine made it?
    // @param    compilation   STRING        key of a compilation
    // @param    memorySpace   INTEGER = 0   number of the memory space
    // @param    limit         INTEGER = 20  rows to return
    // @bounds   limit         1..100
    // @column   value         STRING        the value and its tuple index
    // @column   shape         STRING        its shape, without layout
    // @column   physicalBytes INTEGER       its share of the peak, which is that of
    //           memory space $memorySpace
    // @measure  physical
    // @note     A decision that a reader of the rows should know.
    // @empty    nothing is live at the peak
    // @advice   physicalBytes physical  Large values are live at the peak
    // @change   without
    // @evidence value shape
    // @remedy   jax         compute them again
    // @remedy   tensorflow  compute them again
    // @remedy   pytorch     compute them again
    // @status   stable
    MATCH …

The first line is the title. A comment line without `@` continues the line above it.
The header ends at the first line that is not a comment. `@bounds` are inclusive; `1..` is at
least 1. `@empty` is the meaning of no rows, if that is an answer. `@change` is the change to
the values of the rows (`ChangeKind`), optionally followed by the column with their labels
(default: `value`). `@evidence` lists the columns that show the finding, besides the savings.
`@once` names two columns: one that is equal in rows that compete, and one with the number of
places.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import Final, TypeVar

from xlagraph.queries.catalogue.advice_lines import parse_advice
from xlagraph.queries.catalogue.declarations import (
    EXAMPLES,
    MEASURES,
    NO_ROWS,
    Column,
    ColumnType,
    Header,
    LiteralType,
    Parameter,
    ParameterValue,
)
from xlagraph.queries.catalogue.header_lines import Declaration, malformed, read_declarations
from xlagraph.queries.errors import CatalogueError

_Type = TypeVar("_Type", LiteralType, ColumnType)

KINDS: Final = ("table", "series", "graph")
"""Shape of the rows: `series` has one row for each step, made to be drawn as a curve; the rows
of a `graph` are paths, made to be drawn as nodes and relationships."""

RESERVED_NAMES: Final = (
    "graph", "format", "output", "quiet", "verbose", "help", "version", "show", "browser",
    "browserUrl", "columns", "wide", "plot", "noPlot", "queries", "check", "catalogue", "options",
    "parameters",
)  # fmt: skip
"""Names that parameters cannot have, because options or functions use them."""
STATUSES: Final = ("stable", "experimental")


def parse_header(text: str, file: str) -> Header:
    """Parse the comments at the beginning of a query file.

    Raises CatalogueError with file, line and remedy; ``file`` is for the message only.
    """
    title, declarations = read_declarations(text, file)
    by_word = _by_word(declarations, file)
    parameters = _bounded(
        [_parameter(declaration, file) for declaration in by_word["@param"]],
        by_word["@bounds"],
        file,
    )
    columns = tuple(_column(declaration, file) for declaration in by_word["@column"])
    _reject_repeated([parameter.name for parameter in parameters], by_word["@param"], file)
    _reject_repeated([column.name for column in columns], by_word["@column"], file)
    if not columns:
        raise CatalogueError(f"{file}:1: no @column; add one for each column of the RETURN")
    kind = _declared_choice("@kind", KINDS, by_word["@kind"], file)
    for column, declaration in zip(columns, by_word["@column"], strict=True):
        if (kind == "graph") is not (column.type == ColumnType.PATH):
            raise CatalogueError(
                f"{file}:{declaration.line}: columns are PATH if @kind is graph, and only then"
            )
    status = _declared_choice("@status", STATUSES, by_word["@status"], file)
    return Header(
        title=title,
        kind=kind,
        answers=_required("@answers", "the question of a user", by_word["@answers"], file).rest,
        parameters=parameters,
        columns=columns,
        measure=_measure(by_word["@measure"], file),
        notes=tuple(declaration.rest for declaration in by_word["@note"]),
        empty=by_word["@empty"][0].rest if by_word["@empty"] else NO_ROWS,
        status=status,
        advice=parse_advice(by_word, parameters, columns, file),
        lines={_line_name(declaration): declaration.line for declaration in declarations},
    )


_WORDS: Final = (
    "@kind", "@answers", "@param", "@bounds", "@column", "@measure", "@note", "@empty", "@advice",
    "@evidence", "@once", "@change", "@remedy", "@status",
)  # fmt: skip
_REPEATABLE: Final = ("@param", "@bounds", "@column", "@note", "@remedy")


def _by_word(declarations: Sequence[Declaration], file: str) -> dict[str, list[Declaration]]:
    """Return the declarations by word; CatalogueError for unknown or repeated words."""
    by_word: dict[str, list[Declaration]] = {word: [] for word in _WORDS}
    for declaration in declarations:
        word, line = declaration.word, declaration.line
        if word not in by_word:
            raise CatalogueError(
                f"{file}:{line}: expected one of {', '.join(_WORDS)}, found '{word}'"
            )
        if by_word[word] and word not in _REPEATABLE:
            raise CatalogueError(f"{file}:{line}: {word} is given twice; keep one")
        by_word[word].append(declaration)
    return by_word


def _reject_repeated(names: Sequence[str], declarations: Sequence[Declaration], file: str) -> None:
    """Raise CatalogueError if two declarations, aligned with ``names``, have the same name."""
    seen = set[str]()
    for name, declaration in zip(names, declarations, strict=True):
        if name in seen:
            raise CatalogueError(
                f"{file}:{declaration.line}: {declaration.word} {name} is given twice; keep one"
            )
        seen.add(name)


def _line_name(declaration: Declaration) -> str:
    """Return the key of a declaration in `Header.lines`: `@param limit`, but `@kind`."""
    if declaration.word in ("@param", "@column"):
        return f"{declaration.word} {declaration.rest.split()[0]}"
    return declaration.word


# limit       INTEGER = 20    rows to return
_PARAMETER: Final = re.compile(
    r"(?P<name>[a-z][A-Za-z0-9]*) +(?P<type>[A-Z]+)"
    r"(?: *= *(?P<default>'[^']*'|\S+))?(?: +(?P<text>.+))?"
)
# hops        1..5
_BOUNDS: Final = re.compile(r"(?P<name>\w+) +(?P<least>-?\d+)\.\.(?P<most>-?\d+)?")
# value       STRING          the value and its tuple index
_COLUMN: Final = re.compile(r"(?P<name>[a-z][A-Za-z0-9]*) +(?P<type>[A-Z]+)(?: +(?P<text>.+))?")


def _parameter(declaration: Declaration, file: str) -> Parameter:
    match = _PARAMETER.fullmatch(declaration.rest)
    if match is None or match["text"] is None:
        raise malformed(declaration, "@param limit INTEGER = 20 rows to return", file)
    if match["name"] in RESERVED_NAMES or iskeyword(match["name"]):
        raise CatalogueError(
            f"{file}:{declaration.line}: @param {match['name']} is taken by the command or by"
            " Python; choose another name"
        )
    type_ = _type(LiteralType, match["type"], declaration, file)
    default = None
    if match["default"] is not None:
        try:
            default = _literal(match["default"], type_)
        except ValueError:
            raise CatalogueError(
                f"{file}:{declaration.line}: the default {match['default']} is not of type {type_};"
                f" write e.g. {EXAMPLES[type_]}"
            ) from None
    # neither engine accepts a LIMIT below 0
    least = 0 if match["name"] == "limit" and type_ is LiteralType.INTEGER else None
    return Parameter(match["name"], type_, default, match["text"], least)


def _bounded(
    parameters: Sequence[Parameter], bounds: Sequence[Declaration], file: str
) -> tuple[Parameter, ...]:
    by_name = {parameter.name: parameter for parameter in parameters}
    for declaration in bounds:
        match = _BOUNDS.fullmatch(declaration.rest)
        if match is None:
            raise malformed(declaration, "@bounds hops 1..5", file)
        parameter = by_name.get(match["name"])
        if parameter is None or parameter.type is not LiteralType.INTEGER:
            raise CatalogueError(
                f"{file}:{declaration.line}: '{match['name']}' is not an INTEGER @param;"
                " name one that is"
            )
        least, most = (None if text is None else int(text) for text in match.group("least", "most"))
        bounded = replace(parameter, least=least, most=most)
        if parameter.default is not None and (fault := bounded.out_of_bounds(parameter.default)):
            raise CatalogueError(
                f"{file}:{declaration.line}: the default {parameter.default} is {fault};"
                " widen the bounds, or choose another default"
            )
        by_name[parameter.name] = bounded
    return tuple(by_name[parameter.name] for parameter in parameters)


def _column(declaration: Declaration, file: str) -> Column:
    match = _COLUMN.fullmatch(declaration.rest)
    if match is None or match["text"] is None:
        raise malformed(declaration, "@column value STRING the value and its tuple index", file)
    return Column(match["name"], _type(ColumnType, match["type"], declaration, file), match["text"])


def _literal(text: str, type_: LiteralType) -> ParameterValue:
    if type_ is LiteralType.STRING:
        if len(text) < len("''") or text[0] != "'" or text[-1] != "'":
            raise ValueError(text)
        return text[1:-1]
    if type_ is LiteralType.INTEGER:
        return int(text)
    if type_ is LiteralType.FLOAT:
        return float(text)
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def _type(types: type[_Type], name: str, declaration: Declaration, file: str) -> _Type:
    try:
        return types(name)
    except ValueError:
        raise CatalogueError(
            f"{file}:{declaration.line}: expected a type, one of {', '.join(types)}, found '{name}'"
        ) from None


def _required(word: str, what: str, declarations: Sequence[Declaration], file: str) -> Declaration:
    if not declarations:
        raise CatalogueError(f"{file}:1: no {word}; add a line '// {word} …' with {what}")
    return declarations[0]


def _declared_choice(
    word: str, allowed: Sequence[str], declarations: Sequence[Declaration], file: str
) -> str:
    *others, last = allowed
    expected = f"{', '.join(others)} or {last}" if others else last
    found = _required(word, expected, declarations, file)
    if found.rest not in allowed:
        raise CatalogueError(
            f"{file}:{found.line}: expected {word} {expected}, found '{found.rest}'"
        )
    return found.rest


def _measure(declarations: Sequence[Declaration], file: str) -> str:
    found = _required(
        "@measure", f"which bytes it returns: {', '.join(MEASURES)}", declarations, file
    )
    measures = tuple(name.strip() for name in found.rest.split(","))
    for name in measures:
        if name not in MEASURES:
            raise CatalogueError(
                f"{file}:{found.line}: expected a measure, of {', '.join(MEASURES)}, found '{name}'"
            )
    return ", ".join(measures)
