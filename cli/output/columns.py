"""Which columns of rows are written: those that are chosen, or those that a table has room for."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.presentation.byte_sizes import counts_bytes

if TYPE_CHECKING:
    from xlagraph.graph import Cell

    Columns = Sequence[str]
    Rows = Sequence[Sequence[Cell]]

__all__ = [
    "LeftOut",
    "Selected",
    "choose_columns",
    "is_wide",
    "most_important_first",
    "set_wide",
    "shown_columns",
]

_NAMING: Final = 2
"""The first columns name what a row is about."""
_VERDICTS: Final = ("agrees", "outcome", "reason", "forcedBy", "keptBy", "keptUntil")
"""What answers the question of a query."""
_ORIGIN: Final = ("userFile", "userLine", "attributedOpName")
"""What in the user's program made a value."""
_SELDOM_NEEDED: Final = (
    "allocation", "offsetBytes", "memorySpace", "memorySpaceName", "shapeIndex", "layout",
    "allocationBytes", "logicalPeakBytes", "printedPeakBytes", "stepLogicalBytes",
    "stepPhysicalBytes",
)  # fmt: skip
"""Where something lies, and bytes that other columns count better."""


_is_wide = False


def set_wide(given: bool) -> None:
    """Show every column of tables from now on, or those that fit; main resets it."""
    global _is_wide
    _is_wide = given


def is_wide() -> bool:
    """Return whether tables show every column."""
    return _is_wide


class LeftOut(NamedTuple):
    """The columns that a table does not show."""

    null: "Columns"
    """Of which no row has a cell."""
    wide: "Columns"
    """For which there is no room."""

    @property
    def text(self) -> str:
        """A line that names them and says how to see them; empty if all are shown."""
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

    Raises UsageError with the columns that there are.
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


def shown_columns(
    columns: "Columns", rows: "Rows", fitting: Callable[["Columns", "Rows"], Sequence[int]]
) -> tuple[Selected, LeftOut]:
    """Return the rows as a table for people shows them, and the columns that it leaves out.

    ``fitting`` returns the indices of the columns for which there is room.
    """
    known = [
        index
        for index in range(len(columns))
        if not rows or any(row[index] is not None for row in rows)
    ] or range(len(columns))  # something has to be shown
    with_cells = _with_columns(columns, rows, known)
    fit = fitting(*with_cells)
    left_out = LeftOut(
        null=[name for index, name in enumerate(columns) if index not in known],
        wide=[name for index, name in enumerate(with_cells.columns) if index not in fit],
    )
    return _with_columns(*with_cells, fit), left_out


def most_important_first(columns: "Columns") -> Sequence[Sequence[int]]:
    """Return the indices of columns, those that belong together, in the order of importance.

    First what names a row or is a verdict on it, then bytes, then what in the program made it.
    A file and its line belong together.
    """
    groups: list[list[int]] = []
    for index, name in enumerate(columns):
        if name.endswith("Line") and columns[index - 1] == f"{name.removesuffix('Line')}File":
            groups[-1].append(index)
        else:
            groups.append([index])
    return sorted(groups, key=lambda group: _rank(columns, group[0]))


def _rank(columns: "Columns", index: int) -> int:
    name = columns[index]
    if index == 0 or name == "value":
        return 0
    if name in _SELDOM_NEEDED:
        return 5
    if index < _NAMING or name in _VERDICTS:
        return 1
    if counts_bytes(name):
        return 2
    return 3 if name in _ORIGIN else 4


def _with_columns(columns: "Columns", rows: "Rows", indices: Sequence[int]) -> Selected:
    return Selected(
        [columns[index] for index in indices],
        [tuple(row[index] for index in indices) for row in rows],
    )
