"""Group evidence by its source line, or by its op."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from xlagraph.advice.causes.cause import file_and_line
from xlagraph.graph.engine import Cell
from xlagraph.graph.record_cells import record_cells
from xlagraph.hlo.op_names import scope_names

_NUMBER: Final = re.compile(r"(?<![A-Za-z0-9])\d+|(?<=[_.])\d+")
"""Number in an op name, for example of a layer."""


@dataclass(frozen=True, slots=True)
class Place:
    """Rows of one source line, of one scope on it, or of one op of repeated layers."""

    bytes: int
    values: int
    """Number of rows."""
    file: str | None
    line: int | None
    op: str | None
    """Op name of the largest row; layer numbers are `*` if they differ."""
    shape: str | None
    """Shape of the largest row."""
    example: str | None
    """Value of the largest row."""
    reason: str | None
    """Reason of the largest row."""

    @property
    def source(self) -> str | None:
        """File name and line, `train.py:12`; None without a file."""
        return file_and_line(self.file, self.line)

    @property
    def cells(self) -> Cell:
        """The place as a cell of a machine format."""
        return record_cells(self)


def places(rows: Iterable[Mapping[str, Cell]], column: str) -> tuple[Place, ...]:
    """Group rows by source line, else by op; ``column`` is the column of their bytes.

    If all are of one source line, such as `model.fit`, the scopes on it are places. If all bytes
    are 0, as for inputs that only save memory when they are donated together, the
    sizes of the values are used.
    """
    groups: dict[tuple[Cell, ...], list[Mapping[str, Cell]]] = {}
    given = tuple(rows)
    lines = {(row.get("userFile"), row.get("userLine")) for row in given} - {(None, None)}
    for row in given:
        scope = (_scope(row),) if len(lines) == 1 and row.get("userFile") is not None else ()
        groups.setdefault((*_key(row), *scope), []).append(row)
    if not any(_bytes(row, column) for group in groups.values() for row in group):
        column = "sizeBytes"
    found = [_place(group, column) for group in groups.values()]
    return tuple(sorted(found, key=lambda place: -place.bytes))


def _op(row: Mapping[str, Cell]) -> str | None:
    return _text(row.get("attributedOpName")) or _text(row.get("opName"))


def _key(row: Mapping[str, Cell]) -> tuple[Cell, ...]:
    if row.get("userFile") is not None:
        return row.get("userFile"), row.get("userLine")
    op = _op(row)
    return (_NUMBER.sub("*", op) if op else row.get("value"),)


def _scope(row: Mapping[str, Cell]) -> str:
    """Return the scope of a row's op, with `*` for numbers of layers; empty without one."""
    op = _op(row)
    # a joined name, `a/mul;b/add`, contains no scope
    names = () if op is None or ";" in op else scope_names(op)[:-1]
    return _NUMBER.sub("*", "/".join(names))


def _place(group: list[Mapping[str, Cell]], column: str) -> Place:
    largest = max(group, key=lambda row: _bytes(row, column))
    ops = {op for row in group if (op := _op(row))}
    op = _op(largest)
    if op and len(ops) > 1 and {_NUMBER.sub("*", each) for each in ops} == {_NUMBER.sub("*", op)}:
        op = _NUMBER.sub("*", op)
    line = largest.get("userLine")
    return Place(
        sum(_bytes(row, column) for row in group),
        len(group),
        _text(largest.get("userFile")),
        line if isinstance(line, int) else None,
        op,
        _text(largest.get("shape")),
        _text(largest.get("value")),
        _text(largest.get("reason")),
    )


def _bytes(row: Mapping[str, Cell], column: str) -> int:
    cell = row.get(column)
    return cell if isinstance(cell, int) else 0


def _text(cell: Cell) -> str | None:
    return cell if isinstance(cell, str) else None
