"""The output formats of rows, with a function that writes each."""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.cells import escape_control_characters, line_text, text_columns
from xlagraph.cli.output.columns import LeftOut, Selected, is_wide, without_columns
from xlagraph.cli.output.messages import write_prose
from xlagraph.graph.row_cells import without_nan
from xlagraph.presentation.readable_tables import aligned_lines, is_numeric

if TYPE_CHECKING:
    from xlagraph.graph import Cell

    Columns = Sequence[str]
    Rows = Sequence[Sequence[Cell]]
    Writer = Callable[[Columns, Rows, TextIO], None]


# json does not escape DEL and C1, and some of them control a terminal
_DEL_AND_C1: Final = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
# characters that begin a table cell, emphasis, code, a tag, or a link
_MARKDOWN: Final = re.compile(
    r"[\\|*`<]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|\[(?=[^\]]*\]\()|~(?=~)"
)
_WIDEST_PADDING: Final = 120
"""A cell of a megabyte is written in full, but other cells are not padded to its width."""


class Format(StrEnum):
    """Format of rows."""

    TABLE = "table"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    MD = "md"


class AdviceFormat(StrEnum):
    """Format of findings: rows, or SARIF, which code scanning reads."""

    TABLE = "table"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    MD = "md"
    SARIF = "sarif"


class PictureFormat(StrEnum):
    """Format of a picture: a table of its edges, or input for a drawing program."""

    TABLE = "table"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    MD = "md"
    DOT = "dot"
    MERMAID = "mermaid"
    GRAPHML = "graphml"


def write_table(columns: "Columns", rows: "Rows", stream: TextIO) -> None:
    """Write a table: on a terminal, the columns that fit and a line that names the others.

    Elsewhere, or with `--wide`, write all columns.
    """
    if not stream.isatty() or is_wide():
        write_whole_table(columns, rows, stream)
        return
    selected, left_out = shown_columns(columns, rows, stream)
    write_whole_table(*selected, stream)
    if rows and left_out.text:
        write_prose(left_out.text, stream)


def shown_columns(
    columns: "Columns", rows: "Rows", terminal: TextIO | None, shown: "Columns" = ()
) -> tuple[Selected, LeftOut]:
    """Return the rows with the columns that a table shows, and the hidden columns.

    All columns fit if there is no terminal; ``shown`` names the most important ones.
    """

    def fit(columns: "Columns", rows: "Rows") -> Sequence[int]:
        if terminal is None:
            return range(len(columns))
        from xlagraph.cli.output.terminal import fitting_columns  # rich takes 50 ms to import

        return fitting_columns(columns, rows, terminal, shown)

    return without_columns(columns, rows, fit)


def write_whole_table(columns: "Columns", rows: "Rows", stream: TextIO) -> None:
    """Write a table with all columns, in bands on a narrow terminal; elsewhere nothing is cut."""
    table = text_columns(columns, rows)
    if stream.isatty():
        # rich takes 50 ms to import
        from xlagraph.cli.output.terminal import bar_column, write_bands

        write_bands(table, stream, bar_column(columns, rows))
    else:
        lines = [
            [column.heading for column in table],
            *zip(*(column.cells for column in table), strict=True),
        ]
        numeric = [column.is_numeric for column in table]
        aligned = aligned_lines(lines, numeric, _WIDEST_PADDING)
        stream.writelines(f"{line}\n" for line in aligned)


def write_json(columns: "Columns", rows: "Rows", stream: TextIO) -> None:
    """Write an array of objects, one object a line."""
    stream.write("[")
    for number, row in enumerate(rows):
        stream.write(f"{',' if number else ''}\n  {_json_object(columns, row)}")
    stream.write("\n]\n" if rows else "]\n")


def write_object(cells: "Mapping[str, Cell]", stream: TextIO) -> None:
    """Write an object, one key a line."""
    stream.write(_json_text(cells, indent=2) + "\n")


def write_ndjson(columns: "Columns", rows: "Rows", stream: TextIO) -> None:
    """Write one object a line."""
    for row in rows:
        stream.write(_json_object(columns, row) + "\n")


def write_csv(columns: "Columns", rows: "Rows", stream: TextIO) -> None:
    """Write comma-separated lines under a line of column names.

    Null is `null` in a column of strings, because it names a group there; otherwise it is empty.
    A text that a spreadsheet would read as a formula begins with an apostrophe.
    """
    shown = escape_control_characters if stream.isatty() else str
    nulls = [
        "null" if _holds_names([row[index] for row in rows]) else ""
        for index in range(len(columns))
    ]
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow(columns)
    for row in rows:
        lines.writerow(
            [
                null if cell is None else shown(_csv_text(cell))
                for cell, null in zip(row, nulls, strict=True)
            ]
        )


def escape_markdown(text: str) -> str:
    """Escape the characters that have a meaning in Markdown."""
    return _MARKDOWN.sub(lambda match: "\\" + match[0], text)


def write_md(columns: "Columns", rows: "Rows", stream: TextIO) -> None:
    """Write a Markdown table for people: bytes have units."""
    right = [is_numeric([row[index] for row in rows]) for index in range(len(columns))]
    _write_md_line([escape_control_characters(column) for column in columns], stream)
    stream.write("|" + "|".join(" ---: " if at_right else " --- " for at_right in right) + "|\n")
    for row in rows:
        _write_md_line([line_text(*pair) for pair in zip(columns, row, strict=True)], stream)


_FORMULA_SIGNS: Final = ("=", "+", "-", "@", "\t", "\r")

WRITERS: Final[Mapping[Format, "Writer"]] = {
    Format.TABLE: write_table,
    Format.JSON: write_json,
    Format.NDJSON: write_ndjson,
    Format.CSV: write_csv,
    Format.MD: write_md,
}


def _json_object(columns: "Columns", row: "Sequence[Cell]") -> str:
    return _json_text(dict(zip(columns, row, strict=True)))


def _json_text(cell: "Cell", *, indent: int | None = None) -> str:
    text = json.dumps(without_nan(cell), ensure_ascii=False, indent=indent)
    return text.translate(_DEL_AND_C1)


def _csv_text(cell: "Cell") -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str):
        # a spreadsheet would run a name of a dump as a formula
        return f"'{cell}" if cell.startswith(_FORMULA_SIGNS) else cell
    return str(cell) if isinstance(cell, int | float) else _json_text(cell)


def _holds_names(cells: "Sequence[Cell]") -> bool:
    known = [cell for cell in cells if cell is not None]
    return not known or any(isinstance(cell, str) for cell in known)


def _write_md_line(cells: Sequence[str], stream: TextIO) -> None:
    stream.write("| " + " | ".join(map(escape_markdown, cells)) + " |\n")
