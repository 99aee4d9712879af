"""The rows that a query must return, computed from its description and not from Cypher.

`plain/answers/THEME.py` has a function for each query of a theme, with the query's name in
underscores. It takes a dump, or all dumps if the query is not about one compilation, and the
parameters by name, and returns all rows as tuples of the columns named above it. Columns that
every value has are omitted. A query without a function is tested only by its case.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

Row = tuple[object, ...]
Rows = Iterable[Row]


@dataclass(frozen=True)
class PlainAnswer:
    """A computation of the rows of one query."""

    columns: tuple[str, ...]
    compute: Callable[..., Rows]
    largest: str | None
    """The column of the descending order; None: rows are in the exact order; '': in any order."""

    def rows(self, plain: object, parameters: Mapping[str, str | int]) -> list[Row]:
        """Compute the rows for the query's parameters."""
        snake = {re.sub("([A-Z])", r"_\1", name).lower(): parameters[name] for name in parameters}
        return list(self.compute(plain, **snake))


def in_order(columns: str) -> Callable[[Callable[..., Rows]], PlainAnswer]:
    """Name the columns of rows that have the exact order."""
    return lambda compute: PlainAnswer(tuple(columns.split()), compute, None)


def in_any_order(columns: str) -> Callable[[Callable[..., Rows]], PlainAnswer]:
    """Name the columns of rows whose order another test checks."""
    return lambda compute: PlainAnswer(tuple(columns.split()), compute, "")


def largest_first(column: str, columns: str) -> Callable[[Callable[..., Rows]], PlainAnswer]:
    """Name the columns of rows sorted by one of them, descending; ties in any order."""
    return lambda compute: PlainAnswer(tuple(columns.split()), compute, column)


def find_answers() -> dict[str, PlainAnswer]:
    """Return the function of each query that has one, by the query's id."""
    return {
        f"{path.stem}/{name.replace('_', '-')}": answer
        for path in sorted((Path(__file__).parent / "answers").glob("*.py"))
        for name, answer in vars(import_module(f"{__package__}.answers.{path.stem}")).items()
        if isinstance(answer, PlainAnswer)
    }
