"""The header of a query file: comments that declare what a query asks and returns.

    // Values that hold the most memory at a compilation's peak
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
    // @shown    value physicalBytes … shape
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
`@shown` lists columns by importance, for tables without room for all; `…` stands for the others.
`@once` names two columns: one that is equal in rows that compete, and one with the number of
places.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import Final

from xlagraph.queries.catalogue.declarations import (
    EXAMPLES,
    FRAMEWORKS,
    MEASURES,
    NO_ROWS,
    OTHERS,
    Advice,
    ChangeKind,
    Column,
    ColumnType,
    Header,
    LiteralType,
    Parameter,
    ParameterValue,
)
from xlagraph.queries.catalogue.header_lines import Declaration, HeaderLines

KINDS: Final = ("table", "series", "graph")
"""Shape of the rows: `series` has one row for each step, made to be drawn as a curve; the rows
of a `graph` are paths, made to be drawn as nodes and relationships."""

RESERVED_NAMES: Final = (
    "graph", "own", "library", "format", "output", "quiet", "verbose", "help", "version", "show",
    "browser", "browserUrl", "columns", "wide", "plot", "noPlot", "queries", "check", "catalogue",
    "options", "parameters",
)  # fmt: skip
"""Names that parameters cannot have, because options or functions use them."""
STATUSES: Final = ("stable", "experimental")

# limit       INTEGER = 20    rows to return
_PARAMETER: Final = re.compile(
    r"(?P<name>[a-z][A-Za-z0-9]*) +(?P<type>[A-Z]+)"
    r"(?: *= *(?P<default>'[^']*'|\S+))?(?: +(?P<text>.+))?"
)
# hops        1..5
_BOUNDS: Final = re.compile(r"(?P<name>\w+) +(?P<least>-?\d+)\.\.(?P<most>-?\d+)?")
# value       STRING          the value and its tuple index
_COLUMN: Final = re.compile(r"(?P<name>[a-z][A-Za-z0-9]*) +(?P<type>[A-Z]+)(?: +(?P<text>.+))?")
# paddingBytes physical  Padding fills the peak
_ADVICE: Final = re.compile(r"(?P<column>\w+) +(?P<measure>reserved|physical) +(?P<title>.+)")
# jax         donate the argument
_REMEDY: Final = re.compile(r"(?P<framework>\w+) +(?P<text>.+)")


def parse_header(text: str, file: str) -> Header:
    """Parse the comments at the beginning of a query file.

    Raises CatalogueError with file, line and fix; ``file`` is for the message only.
    """
    read = HeaderLines(text, file)
    parameters = _parameters(read)
    columns = _columns(read)
    kind = read.choice("@kind", KINDS)
    for column, declared in zip(columns, read.by_word["@column"], strict=True):
        if (kind == "graph") is not (column.type == ColumnType.PATH):
            raise read.error(declared, "columns are PATH if @kind is graph, and only then")
    status = read.choice("@status", STATUSES)
    empty = read.first("@empty")
    return Header(
        title=read.title,
        kind=kind,
        answers=read.required("@answers", "the question of a user").rest,
        parameters=parameters,
        columns=columns,
        shown=_column_names(read, "@shown", columns),
        measure=_measure(read),
        notes=tuple(declared.rest for declared in read.by_word["@note"]),
        empty=empty.rest if empty else NO_ROWS,
        status=status,
        advice=_advice(read, parameters, columns),
        lines={declared.name: declared.line for declared in read.declarations},
    )


def _parameters(read: HeaderLines) -> tuple[Parameter, ...]:
    by_name: dict[str, Parameter] = {}
    for declared in read.by_word["@param"]:
        parameter = _parameter(read, declared)
        by_name[parameter.name] = parameter
    for declared in read.by_word["@bounds"]:
        match = read.match(_BOUNDS, declared, "@bounds hops 1..5")
        unbounded = by_name.get(match["name"])
        if unbounded is None or unbounded.type is not LiteralType.INTEGER:
            raise read.error(
                declared, f"'{match['name']}' is not an INTEGER @param; name one that is"
            )
        least, most = (None if text is None else int(text) for text in match.group("least", "most"))
        bounded = by_name[match["name"]] = replace(unbounded, least=least, most=most)
        if fault := bounded.out_of_bounds(bounded.default):
            raise read.error(
                declared,
                f"the default {bounded.default} is {fault};"
                " widen the bounds, or choose another default",
            )
    read.reject_repeated("@param")
    return tuple(by_name.values())


def _parameter(read: HeaderLines, declared: Declaration) -> Parameter:
    match = read.match(_PARAMETER, declared, "@param limit INTEGER = 20 rows to return")
    name = match["name"]
    if name in RESERVED_NAMES or iskeyword(name):
        raise read.error(
            declared, f"@param {name} is taken by the command or by Python; choose another name"
        )
    type_ = read.type(LiteralType, match["type"], declared)
    try:
        default = None if match["default"] is None else _literal(match["default"], type_)
    except ValueError:
        raise read.error(
            declared,
            f"the default {match['default']} is not of type {type_}; write e.g. {EXAMPLES[type_]}",
        ) from None
    # neither engine accepts a LIMIT below 0
    least = 0 if name == "limit" and type_ is LiteralType.INTEGER else None
    return Parameter(name, type_, default, match["text"], least)


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


def _columns(read: HeaderLines) -> tuple[Column, ...]:
    columns: list[Column] = []
    for declared in read.by_word["@column"]:
        match = read.match(_COLUMN, declared, "@column value STRING the value and its tuple index")
        type_ = read.type(ColumnType, match["type"], declared)
        columns.append(Column(match["name"], type_, match["text"]))
    read.reject_repeated("@column")
    if not columns:
        raise read.error(1, "no @column; add one for each column of the RETURN")
    return tuple(columns)


def _column_names(read: HeaderLines, word: str, columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the columns that a declaration names; none if it is missing."""
    declared = read.first(word)
    names = tuple(declared.rest.split()) if declared else ()
    known = {column.name for column in columns} | ({OTHERS} if word == "@shown" else set())
    for name in names:
        if declared and name not in known:
            raise read.error(declared, f"'{name}' is not a @column; name one that is")
    return names


def _measure(read: HeaderLines) -> str:
    found = read.required("@measure", f"which bytes it returns: {', '.join(MEASURES)}")
    measures = tuple(name.strip() for name in found.rest.split(","))
    for name in measures:
        if name not in MEASURES:
            raise read.error(found, f"expected one of {', '.join(MEASURES)}, found '{name}'")
    return ", ".join(measures)


def _advice(
    read: HeaderLines, parameters: Sequence[Parameter], columns: Sequence[Column]
) -> Advice | None:
    """Return the advice of a header; None if it has none."""
    declared = read.first("@advice")
    if declared is None:
        for word in ("@remedy", "@evidence", "@once", "@change"):
            if found := read.first(word):
                raise read.error(
                    found,
                    f"a {word} without @advice; name the potential"
                    " savings, e.g. '// @advice paddingBytes physical Padding fills the peak'",
                )
        return None
    match = read.match(_ADVICE, declared, "@advice paddingBytes physical Padding fills the peak")
    if match["column"] not in [column.name for column in columns if column.is_bytes]:
        raise read.error(
            declared,
            f"'{match['column']}' is not a @column that counts bytes;"
            " name the one with the potential savings",
        )
    if [parameter.name for parameter in parameters if parameter.required] != ["compilation"]:
        raise read.error(
            declared,
            "advice applies to one compilation; declare @param"
            " compilation, and give every other @param a default",
        )
    names = [parameter.name for parameter in parameters] + [column.name for column in columns]
    if "memorySpace" not in names:
        raise read.error(
            declared,
            "advice is about one memory space; declare"
            " '// @param memorySpace INTEGER = 0 …' and ask for it, or return it as a @column",
        )
    once = _column_names(read, "@once", columns)
    if (found := read.first("@once")) and len(once) != 2:
        raise read.malformed(found, "@once shape freeOutputs")
    change, changed = _change(read, columns)
    return Advice(
        column=match["column"],
        measure=match["measure"],
        title=match["title"],
        evidence=_column_names(read, "@evidence", columns),
        once=(once[0], once[1]) if once else None,
        remedies=_remedies(read, declared),
        change=change,
        changed=changed,
    )


def _change(read: HeaderLines, columns: Sequence[Column]) -> tuple[ChangeKind | None, str]:
    """Return the change to replan, and the column with the labels of the values that change."""
    declared = read.first("@change")
    if declared is None:
        return None, "value"
    kind, _, name = declared.rest.partition(" ")
    if kind not in list(ChangeKind):
        raise read.error(declared, f"expected one of {', '.join(ChangeKind)}, found '{kind}'")
    if name and name not in [column.name for column in columns]:
        raise read.error(
            declared, f"'{name}' is not a @column; name the one with the values that change"
        )
    return ChangeKind(kind), name or "value"


def _remedies(read: HeaderLines, advice: Declaration) -> Mapping[str, str]:
    by_framework: dict[str, str] = {}
    for declared in read.by_word["@remedy"]:
        match = read.match(_REMEDY, declared, "@remedy jax donate the argument")
        if match["framework"] not in FRAMEWORKS:
            raise read.malformed(declared, "@remedy jax donate the argument")
        by_framework[match["framework"]] = match["text"]
    for name in FRAMEWORKS:
        if name not in by_framework:
            raise read.error(advice, f"advice without a fix for {name}; add '// @remedy {name} …'")
    return by_framework
