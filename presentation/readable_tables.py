"""Format rows for people: an HTML table for notebooks, escaped and limited, or aligned text."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import zip_longest
from typing import Final

from xlagraph.presentation.byte_sizes import counts_bytes, human_bytes, share_text

_NAMING_COLUMNS: Final = 2
"""Number of leading columns that name the subject of a row."""
_OTHER_COLUMNS: Final = "…"
"""Place of the columns that an order of importance does not name."""


def most_important_first(
    columns: Sequence[str], shown: Sequence[str] = ()
) -> Sequence[Sequence[int]]:
    """Return groups of column indices, the most important first; a file and its line are one.

    ``shown`` names columns by importance; `…` stands for the others. Those that name a row are
    first, then byte counts.
    """
    groups: list[list[int]] = []
    for index, name in enumerate(columns):
        if name.endswith("Line") and columns[index - 1] == f"{name.removesuffix('Line')}File":
            groups[-1].append(index)
        else:
            groups.append([index])
    place_by_name = {name: place for place, name in enumerate(shown)}
    place_of_others = place_by_name.get(_OTHER_COLUMNS, len(shown))

    def rank(group: Sequence[int]) -> tuple[int, int]:
        index, name = group[0], columns[group[0]]
        usual = (
            index
            if index < _NAMING_COLUMNS
            else _NAMING_COLUMNS
            if counts_bytes(name)
            else _NAMING_COLUMNS + 1
        )
        return place_by_name.get(name, place_of_others), usual

    return sorted(groups, key=rank)


MAX_ROWS: Final = 40
MAX_COLUMNS: Final = 24
MAX_CHARACTERS: Final = 200
"""Characters shown of a cell."""
_LONGEST_TEXT: Final = 2000
_GAP: Final = "  "
# a notebook would show text between two $ as a formula
_TABLE: Final = '<div style="overflow-x: auto"><table class="tex2jax_ignore mathjax_ignore">'


def cell_text(column: str, cell: object) -> str:
    """Return a cell as text: bytes with a unit, a share as a percentage."""
    match cell:
        case None:
            return "null"
        case bool():
            return "true" if cell else "false"
        case int() | float() if counts_bytes(column):
            return human_bytes(cell)
        case int() | float() if column.lower().endswith("share"):
            return share_text(cell)
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:.6g}"
        case str():
            return cell
        case Mapping():
            return json.dumps(dict(cell), ensure_ascii=False, default=str)
        case Sequence():
            return json.dumps(list(cell), ensure_ascii=False, default=str)
    return str(cell)


def html_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return the first rows as a table, and a line that counts the omitted rows and columns."""
    shown = [row[:MAX_COLUMNS] for row in rows[:MAX_ROWS]]
    numeric = [is_numeric(cells) for cells in zip_longest(*shown)]
    head = "".join(f"<th>{html_text(column)}</th>" for column in columns[:MAX_COLUMNS])
    body = "".join(
        "<tr>"
        + "".join(
            _html_cell(cell_text(column, cell), at_right)
            for column, cell, at_right in zip(columns, row, numeric, strict=False)
        )
        + "</tr>"
        for row in shown
    )
    table = f"{_TABLE}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    left_out = [
        f"{total - most:,} more {noun}"
        for total, most, noun in (
            (len(rows), len(shown), "rows"),
            (len(columns), MAX_COLUMNS, "columns"),
        )
        if total > most
    ]
    return table + (f"<p>… and {', '.join(left_out)}</p>" if left_out else "")


def html_title(text: str) -> str:
    """Return the title above tables."""
    return f"<p><strong>{html_text(text)}</strong></p>"


def html_notes(texts: Iterable[str]) -> str:
    """Return a line for each note on a table."""
    return "".join(f"<p><em>{html_text(text)}</em></p>" for text in texts)


def html_text(text: str, max_characters: int = _LONGEST_TEXT) -> str:
    """Return a text for display: escaped, shortened, with invisible characters spelled out."""
    cut = text if len(text) <= max_characters else f"{text[: max_characters - 1]}…"
    return escape("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in cut))


def _html_cell(text: str, at_right: bool) -> str:
    side = "right" if at_right else "left"
    return f'<td style="text-align: {side}">{html_text(text, MAX_CHARACTERS)}</td>'


def is_numeric(cells: Sequence[object]) -> bool:
    """Return True if the known cells of a column are numbers, which are right-aligned."""
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(
        isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known
    )


def text_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows below their columns: bytes with units, numbers at the right, None empty."""
    texts = [
        [
            "" if cell is None else cell_text(column, cell)
            for column, cell in zip(columns, row, strict=True)
        ]
        for row in rows
    ]
    numeric = [is_numeric(cells) for cells in zip_longest(*rows)] or [False] * len(columns)
    return "\n".join(aligned_lines([list(columns), *texts], numeric))


def aligned_lines(
    lines: Sequence[Sequence[str]], numeric: Sequence[bool], widest: int | None = None
) -> Iterator[str]:
    """Yield headings, a rule, and the other lines, with numeric columns at the right.

    No column is padded beyond ``widest``; longer cells are written in full.
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if widest is not None:
        widths = [min(width, widest) for width in widths]
    headings, *rows = lines
    for line in (headings, ["-" * width for width in widths], *rows):
        cells = [
            text.rjust(width) if at_right else text.ljust(width)
            for text, width, at_right in zip(line, widths, numeric, strict=True)
        ]
        yield _GAP.join(cells).rstrip()
