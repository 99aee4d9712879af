"""Selection of the columns to write: those chosen by the user, or those that fit."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xlagraph.cli.output.exit_codes import UsageError

if TYPE_CHECKING:
    from xlagraph.graph import Cell

    Columns = Sequence[str]
    Rows = Sequence[Sequence[Cell]]

_is_wide = False


def set_wide(given: bool) -> None:
    """Set whether tables show every column or only those that fit; main resets it."""
    global _is_wide
    _is_wide = given


def is_wide() -> bool:
    """Return whether tables show every column."""
    return _is_wide


class LeftOut(NamedTuple):
    """The columns that a table does not show."""

    null: "Columns"
    """Columns in which every cell is null."""
    wide: "Columns"
    """Columns that do not fit."""

    @property
    def text(self) -> str:
        """A line that names the hidden columns and how to show them; empty if none is hidden."""
        parts = [
            f"{', '.join(names)} ({reason})"
            for names, reason in ((self.null, "all null"), (self.wide, "no room"))
            if names
        ]
        return f"hidden columns: {', '.join(parts)}; --wide shows all" if parts else ""


class Selected(NamedTuple):
    """Rows with some of their columns."""

    columns: "Columns"
    rows: "Rows"


def choose_columns(columns: "Columns", rows: "Rows", chosen: str | None) -> Selected:
    """Return the rows with the columns of ``A,B`` in that order; with all if None.

    Raises UsageError, which lists the existing columns, if a column does not exist.
    """
    if chosen is None:
        return Selected(columns, rows)
    names = tuple(dict.fromkeys(name.strip() for name in chosen.split(",")))
    for name in names:
        if name not in columns:
            raise UsageError(
                f"--columns expects some of {','.join(columns)}, with commas between;"
                f" found '{name}'"
            )
    return _with_columns(columns, rows, [columns.index(name) for name in names])


def without_columns(
    columns: "Columns", rows: "Rows", fitting: Callable[["Columns", "Rows"], Sequence[int]]
) -> tuple[Selected, LeftOut]:
    """Return the rows without null columns and those that do not fit, and the hidden columns.

    ``fitting`` returns the indices of the columns for which there is room.
    """
    known = [
        index
        for index in range(len(columns))
        if not rows or any(row[index] is not None for row in rows)
    ] or range(len(columns))  # at least something must be shown
    with_cells = _with_columns(columns, rows, known)
    fit = fitting(*with_cells)
    left_out = LeftOut(
        null=[name for index, name in enumerate(columns) if index not in known],
        wide=[name for index, name in enumerate(with_cells.columns) if index not in fit],
    )
    return _with_columns(*with_cells, fit), left_out


def _with_columns(columns: "Columns", rows: "Rows", indices: Sequence[int]) -> Selected:
    return Selected(
        [columns[index] for index in indices],
        [tuple(row[index] for index in indices) for row in rows],
    )
