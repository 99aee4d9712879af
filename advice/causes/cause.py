"""A cause: the values that it concerns, the edit that removes it, and what to write instead."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from xlagraph.graph.engine import Cell
from xlagraph.hlo.metadata import makes_every_op
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.edit import Edit
from xlagraph.planner.edits.resizing import ComputeInParts, Remove, Scale
from xlagraph.queries.catalogue.declarations import Advice, ChangeKind, Column, ColumnType

Remedies = Mapping[str, str]
"""Sentences that say what to change in the program, by framework."""

PARTS: Final = 8
"""Parts in which a program could compute what it computes at once."""

_CALLER: Final = "only if the caller does not need it, which a dump does not show"
_LIKELIHOOD_OF_RETURNED: Final = 0.75
"""Part to expect of a result's bytes: without the result they are saved, if nobody needs it."""

CAUSE_COLUMNS: Final[tuple[Column, ...]] = (
    Column("sizeBytes", ColumnType.INTEGER, "assigned size, padding included"),
    Column("value", ColumnType.STRING, "name of the value, with its tuple index"),
    Column("shape", ColumnType.STRING, "shape, without layout"),
    Column("reason", ColumnType.STRING, "why the value takes this memory"),
    Column("attributedOpName", ColumnType.STRING, "op name that the value is attributed to"),
    Column("userFile", ColumnType.STRING, "file of the line to look at"),
    Column("userLine", ColumnType.INTEGER, "number of the line to look at"),
)
"""Columns of the evidence of every cause."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause in one compilation."""

    query: str
    """Id of the query that shows details."""
    title: str
    kind: ChangeKind | None
    """Kind of the edit; None without one."""
    edit: Edit | None
    """Edit that removes the cause; None if its effect cannot be replanned."""
    rows: tuple[Mapping[str, Cell], ...]
    """Rows of the values, sorted by bytes, descending; their cells are `CAUSE_COLUMNS`."""
    remedies: Remedies
    doubt: str | None = None
    """Why the change may not apply, in addition to the doubts of the planner."""
    is_exact: bool = False
    """True if the change removes these values and keeps the rest of the program unchanged."""
    is_fact: bool = False
    """True if no change of the program is known: only those who ask for all findings see it."""
    likelihood: float | None = None
    """Expected share of the mean savings, 0 to 1; None for the default of this kind of change."""
    is_unrolled: bool = False
    """True if the change is a loop over equal parts, such as layers, that the program unrolls."""

    @property
    def labels(self) -> frozenset[str]:
        """Labels of the values that it explains; other findings need not name them."""
        return frozenset(str(row["value"]) for row in self.rows)

    @property
    def sum_bytes(self) -> int:
        """Sum of the sizes of the values, which need not be live at the same time."""
        return sum(int(str(row["sizeBytes"])) for row in self.rows)

    @property
    def advice(self) -> Advice:
        """The cause in the form of a query's advice."""
        return Advice(
            column="sizeBytes",
            measure="physical",
            title=self.title,
            evidence=tuple(column.name for column in CAUSE_COLUMNS[1:]),
            once=None,
            remedies=self.remedies,
            change=self.kind,
        )


def evidence_row(
    value: StoredValue, reason: str, *, file: str | None = None, line: int | None = None
) -> dict[str, Cell]:
    """Return a value's cells, with its own line unless ``file`` names another one."""
    own = (value.user_file, value.user_line)
    if value.user_file is None:
        own = (value.attributed_file, value.attributed_line)
    if own[0] is not None and makes_every_op(own[0]):
        own = (None, None)
    found, number = own if file is None else (file, line)
    return {
        "sizeBytes": value.size_bytes,
        "value": value.label,
        "shape": value.shape,
        "reason": reason,
        "attributedOpName": value.attributed_op_name or value.op_name,
        "userFile": found,
        "userLine": number,
    }


def of_all_at_once(
    title: str,
    found: Sequence[tuple[StoredValue, str]],
    remedies: Remedies,
    *,
    made: Iterable[StoredValue] | None = None,
    likelihood: float | None = None,
) -> Cause:
    """Return the cause for values with reasons that the program could compute in `PARTS`.

    ``made`` is all that would be computed in parts; by default the values.
    """
    values = [value for value, _ in found] if made is None else made
    return Cause(
        "peak/contributors",
        title,
        ChangeKind.PARTS,
        ComputeInParts({value.label: Fraction(1, PARTS) for value in values}),
        tuple(evidence_row(value, reason) for value, reason in found),
        remedies,
        likelihood=likelihood,
    )


def of_avoidable(
    compilation: PlannableCompilation,
    query: str,
    title: str,
    found: Sequence[tuple[StoredValue, str]],
    remedies: Remedies,
    *,
    is_exact: bool = False,
    likelihood: float | None = None,
    doubt: str | None = None,
) -> Cause:
    """Return the cause for values with reasons that the program need not store at all."""
    return of_removed(
        compilation,
        query,
        title,
        [value.label for value, _ in found],
        (evidence_row(value, reason) for value, reason in found),
        remedies,
        doubt,
        is_exact=is_exact,
        likelihood=likelihood,
    )


def of_removed(
    compilation: PlannableCompilation,
    query: str,
    title: str,
    labels: Iterable[str],
    rows: Iterable[Mapping[str, Cell]],
    remedies: Remedies,
    doubt: str | None = None,
    *,
    is_exact: bool = False,
    likelihood: float | None = None,
) -> Cause:
    """Return the cause for rows, without which the values with these labels are not stored."""
    return Cause(
        query,
        title,
        ChangeKind.WITHOUT,
        Remove.of(compilation, labels),
        tuple(rows),
        remedies,
        doubt,
        is_exact=is_exact,
        likelihood=likelihood,
    )


def of_returned(
    title: str, edit: Edit, rows: Iterable[Mapping[str, Cell]], remedies: Remedies
) -> Cause:
    """Return the cause for results that the caller may not need; the edit does without them."""
    return Cause(
        "peak/contributors",
        title,
        ChangeKind.WITHOUT,
        edit,
        tuple(rows),
        remedies,
        _CALLER,
        is_exact=True,
        likelihood=_LIKELIHOOD_OF_RETURNED,
    )


def of_smaller(
    compilation: PlannableCompilation,
    title: str,
    found: Sequence[tuple[StoredValue, str, Fraction]],
    remedies: Remedies,
    *,
    likelihood: float | None = None,
    doubt: str | None = None,
) -> Cause:
    """Return the cause for values with reasons, and the part that the program needs of each.

    What must share the address of a value is smaller, too.
    """
    program, values = compilation.program, compilation.values
    return Cause(
        "peak/contributors",
        title,
        ChangeKind.WITHOUT,
        Scale(
            {
                values[member.value_id].label: kept
                for value, _, kept in found
                for member in program.sets[program.by_id[value.value_id].buffer_set]
            }
        ),
        tuple(evidence_row(value, reason) for value, reason, _ in found),
        remedies,
        doubt=doubt,
        is_exact=True,
        likelihood=likelihood,
    )


def file_and_line(file: Cell, line: Cell) -> str | None:
    """Return the file name and line, `train.py:12`; None without a path."""
    if not isinstance(file, str):
        return None
    name = file.rpartition("/")[2]
    return name if line is None else f"{name}:{line}"
