"""Evidence grouped by the source line, or the op, that it comes from."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from xlagraph.graph.engine import Cell

__all__ = ["Place", "places"]

_NUMBER: Final = re.compile(r"(?<![A-Za-z0-9])\d+|(?<=[_.])\d+")
"""A number in an op name, as that of a layer."""


@dataclass(frozen=True, slots=True)
class Place:
    """Rows that come from one line, or from one op of repeated layers."""

    bytes: int
    values: int
    """How many rows they are."""
    file: str | None
    line: int | None
    op: str | None
    """Op name of the largest; numbers of layers are `*` where they differ."""
    shape: str | None
    """Of the largest; so are the next two."""
    example: str | None
    reason: str | None

    @property
    def source(self) -> str | None:
        """`train.py:12`, without folders; None without a file."""
        if self.file is None:
            return None
        name = self.file.rpartition("/")[2]
        return name if self.line is None else f"{name}:{self.line}"

    @property
    def cells(self) -> Cell:
        """The place as a cell of a machine format."""
        return {
            "bytes": self.bytes,
            "values": self.values,
            "file": self.file,
            "line": self.line,
            "op": self.op,
            "shape": self.shape,
            "example": self.example,
            "reason": self.reason,
        }


def places(rows: Iterable[Mapping[str, Cell]], column: str) -> tuple[Place, ...]:
    """Group rows by source line, else by op; ``column`` holds their bytes."""
    groups: dict[tuple[Cell, ...], list[Mapping[str, Cell]]] = {}
    for row in rows:
        groups.setdefault(_key(row), []).append(row)
    found = [_place(group, column) for group in groups.values()]
    return tuple(sorted(found, key=lambda place: -place.bytes))


def _op(row: Mapping[str, Cell]) -> str | None:
    return _text(row.get("attributedOpName")) or _text(row.get("opName"))


def _key(row: Mapping[str, Cell]) -> tuple[Cell, ...]:
    if row.get("userFile") is not None:
        return row.get("userFile"), row.get("userLine")
    op = _op(row)
    return (_NUMBER.sub("*", op) if op else row.get("value"),)


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
