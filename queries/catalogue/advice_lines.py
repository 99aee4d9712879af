"""The lines of a header that make a query a piece of advice."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from xlagraph.queries.catalogue.declarations import (
    FRAMEWORKS,
    Advice,
    ChangeKind,
    Column,
    Parameter,
)
from xlagraph.queries.catalogue.header_lines import Declaration, malformed
from xlagraph.queries.errors import CatalogueError

__all__ = ["parse_advice"]

_VALUE: Final = "value"
"""The column with the label of a row's value."""
# paddingBytes physical  Padding fills the peak
_ADVICE: Final = re.compile(r"(?P<column>\w+) +(?P<measure>reserved|physical) +(?P<title>.+)")
# jax         donate the argument
_REMEDY: Final = re.compile(r"(?P<framework>\w+) +(?P<text>.+)")


def parse_advice(
    by_word: Mapping[str, Sequence[Declaration]],
    parameters: Sequence[Parameter],
    columns: Sequence[Column],
    file: str,
) -> Advice | None:
    """Return the advice of a header; None if it has none.

    Raise CatalogueError where a line is malformed.
    """
    if not by_word["@advice"]:
        for word in ("@remedy", "@evidence", "@once", "@change"):
            if by_word[word]:
                raise CatalogueError(
                    f"{file}:{by_word[word][0].line}: a {word} without @advice; name the potential"
                    " savings, e.g. '// @advice paddingBytes physical Padding fills the peak'"
                )
        return None
    declaration = by_word["@advice"][0]
    match = _ADVICE.fullmatch(declaration.rest)
    if match is None:
        raise malformed(declaration, "@advice paddingBytes physical Padding fills the peak", file)
    if match["column"] not in [column.name for column in columns if column.is_bytes]:
        raise CatalogueError(
            f"{file}:{declaration.line}: '{match['column']}' is not a @column that counts bytes;"
            " name the one with the potential savings"
        )
    required = [parameter.name for parameter in parameters if parameter.required]
    if required != ["compilation"]:
        raise CatalogueError(
            f"{file}:{declaration.line}: advice applies to one compilation; declare @param"
            " compilation, and give every other @param a default"
        )
    asked = {parameter.name for parameter in parameters}
    if "memorySpace" not in asked | {column.name for column in columns}:
        raise CatalogueError(
            f"{file}:{declaration.line}: advice is about one memory space; declare"
            " '// @param memorySpace INTEGER = 0 …' and ask for it, or return it as a @column"
        )
    once = _columns_named(by_word["@once"], columns, file)
    if by_word["@once"] and len(once) != 2:
        raise malformed(by_word["@once"][0], "@once shape freeOutputs", file)
    return Advice(
        column=match["column"],
        measure=match["measure"],
        title=match["title"],
        evidence=_columns_named(by_word["@evidence"], columns, file),
        once=(once[0], once[1]) if once else None,
        remedies=_remedies(by_word["@remedy"], declaration, file),
        change=_change(by_word["@change"], file),
        changed=_changed(by_word["@change"], columns, file),
    )


def _change(declarations: Sequence[Declaration], file: str) -> ChangeKind | None:
    if not declarations:
        return None
    kind, *_ = declarations[0].rest.split()
    try:
        return ChangeKind(kind)
    except ValueError:
        kinds = ", ".join(ChangeKind)
        raise CatalogueError(
            f"{file}:{declarations[0].line}: expected one of {kinds}, found '{kind}'"
        ) from None


def _changed(declarations: Sequence[Declaration], columns: Sequence[Column], file: str) -> str:
    if not declarations:
        return _VALUE
    _, _, name = declarations[0].rest.partition(" ")
    if name and name not in [column.name for column in columns]:
        raise CatalogueError(
            f"{file}:{declarations[0].line}: '{name}' is not a @column; name the one with the"
            " values that change"
        )
    return name or _VALUE


def _columns_named(
    declarations: Sequence[Declaration], columns: Sequence[Column], file: str
) -> tuple[str, ...]:
    names = tuple(name for declaration in declarations for name in declaration.rest.split())
    for name in names:
        if name not in [column.name for column in columns]:
            raise CatalogueError(
                f"{file}:{declarations[0].line}: '{name}' is not a @column; name one that is"
            )
    return names


def _remedies(remedies: Sequence[Declaration], advice: Declaration, file: str) -> Mapping[str, str]:
    by_framework: dict[str, str] = {}
    for remedy in remedies:
        found = _REMEDY.fullmatch(remedy.rest)
        if found is None or found["framework"] not in FRAMEWORKS:
            raise malformed(remedy, "@remedy jax donate the argument", file)
        by_framework[found["framework"]] = found["text"]
    if missing := [name for name in FRAMEWORKS if name not in by_framework]:
        raise CatalogueError(
            f"{file}:{advice.line}: advice without a remedy for {missing[0]};"
            f" add '// @remedy {missing[0]} …'"
        )
    return by_framework
