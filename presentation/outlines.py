"""Results that read well in a Python prompt and in a notebook."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from xlagraph.presentation.readable_tables import (
    cell_text,
    html_notes,
    html_table,
    html_title,
    most_important_first,
    text_table,
)

_ROWS: Final = 10
_WIDTH: Final = 100
"""Most rows of a table, and most characters of a line, in a Python prompt."""
_CELL: Final = 48


class OutlineTable(NamedTuple):
    """A table of an outline."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""
    shown: Sequence[str] = ()
    """Columns by importance, as `@shown` of a query; empty for their order."""


class Outline(NamedTuple):
    """The parts of a result that a reader sees first."""

    title: str
    tables: Sequence[OutlineTable] = ()
    notes: Sequence[str] = ()
    details: Sequence[OutlineTable] = ()
    """Tables that only a notebook shows."""


class Outlined:
    """A result with an outline: short text in a prompt, HTML tables in a notebook.

    A dataclass that derives from it is declared with ``repr=False``.
    """

    __slots__ = ()

    def outline(self) -> Outline:
        """Return title, tables and notes."""
        raise NotImplementedError

    def __repr__(self) -> str:
        outline = self.outline()
        tables = (line for table in outline.tables for line in _table_lines(table))
        lines = [outline.title, *tables, *outline.notes]
        return "\n".join(line for line in lines if line)

    def _repr_html_(self) -> str:
        outline = self.outline()
        parts = [html_title(outline.title)] if outline.title else []
        for table in (*outline.tables, *outline.details):
            parts += [html_notes([table.title])] if table.title else []
            parts.append(html_table(table.columns, table.rows))
        return "".join((*parts, html_notes(outline.notes)))


def _table_lines(table: OutlineTable) -> list[str]:
    """Return the first rows and the columns that fit a prompt, and a line about the rest."""
    rows = [
        [cell if isinstance(cell, int | float | None) else _shortened(cell) for cell in row]
        for row in table.rows[:_ROWS]
    ]
    kept: list[int] = []
    text = ""
    for group in most_important_first(table.columns, table.shown):
        tried = sorted((*kept, *group))
        wider = text_table(
            [table.columns[index] for index in tried],
            [[row[index] for index in tried] for row in rows],
        )
        if kept and max(map(len, wider.split("\n"))) > _WIDTH:
            continue
        kept, text = tried, wider
    left_out = [
        f"{number:,} more {noun}{'s' * (number > 1)}"
        for number, noun in (
            (len(table.rows) - len(rows), "row"),
            (len(table.columns) - len(kept), "column"),
        )
        if number
    ]
    more = f"… and {', '.join(left_out)}" if left_out else ""
    return [table.title, text, more]


def _shortened(cell: object) -> str:
    """Return a cell as text; if it is too long, the end of a path or name, which is specific."""
    text = cell_text("", cell)
    if len(text) <= _CELL:
        return text
    return f"{text[: _CELL - 1]}…" if " " in text else f"…{text[1 - _CELL :]}"
