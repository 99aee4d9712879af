"""The declarations of a query: parameters, columns, advice."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from xlagraph.graph.engine import Scalar
from xlagraph.presentation.byte_sizes import counts_bytes

ParameterValue = str | int | float | bool
"""The type of a parameter value."""

MEASURES: Final[Mapping[str, str]] = {
    "reserved": "bytes of allocations, thread-local ones left out",
    "allocation": "bytes of allocations, thread-local ones included",
    "printed": "what XLA wrote in its peak list",
    "logical": "assigned sizes of live values, both sides of an in-place update",
    "physical": "bytes that really hold a live value",
    "assigned": "planned size of each value, padding included",
    "dense": "elements × bits of the type",
    "shared": "bytes that one value takes over from another",
    "none": "no bytes",
}
FRAMEWORKS: Final[Mapping[str, str]] = {
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "pytorch": "PyTorch/XLA",
}
"""Names of frameworks: in a `@remedy`, and for display."""


NO_ROWS: Final = "no rows"
"""The meaning of no rows, if a query does not state it."""

OTHERS: Final = "…"
"""In `Header.shown`, the place of the columns that it does not name."""

CHOSEN: Final = "compilation"
"""The parameter that the runner chooses if it is omitted."""


# LIMIT of one engine is a signed 32-bit number, and no graph has that many rows
NO_LIMIT: Final = 2**31 - 1
"""The value of `limit` that returns all rows."""


class LiteralType(StrEnum):
    """Types of parameters."""

    STRING = "STRING"
    INTEGER = "INTEGER"
    FLOAT = "FLOAT"
    BOOLEAN = "BOOLEAN"


class ColumnType(StrEnum):
    """Types of columns."""

    STRING = "STRING"
    INTEGER = "INTEGER"
    FLOAT = "FLOAT"
    BOOLEAN = "BOOLEAN"
    LIST = "LIST"
    """Strings."""
    PATH = "PATH"
    """Nodes and relationships to draw."""


EXAMPLES: Final[Mapping[LiteralType, str]] = {
    LiteralType.STRING: "'fusion.7'",
    LiteralType.INTEGER: "20",
    LiteralType.FLOAT: "0.5",
    LiteralType.BOOLEAN: "true",
}
"""An example of each type for error messages."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query, `$name` in its text."""

    name: str
    type: LiteralType
    default: ParameterValue | None
    """Default value; None if a value is required."""
    description: str
    least: int | None = None
    """Smallest allowed number; None if unbounded."""
    most: int | None = None

    @property
    def required(self) -> bool:
        """True if it has no default. The runner can still choose a `compilation`."""
        return self.default is None

    @property
    def must_be_given(self) -> bool:
        """True if the caller must give a value."""
        return self.required and self.name != CHOSEN

    def out_of_bounds(self, value: ParameterValue | None) -> str | None:
        """Return the violated bound, such as `above 5`; None if there is none."""
        if isinstance(value, int):
            if self.least is not None and value < self.least:
                return f"below {self.least}"
            if self.most is not None and value > self.most:
                return f"above {self.most}"
        return None

    @property
    def option(self) -> str:
        """The name in kebab case: `run-a` for `runA`."""
        return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", self.name).lower()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a query's rows."""

    name: str
    type: ColumnType
    description: str

    @property
    def is_bytes(self) -> bool:
        """True if its cells count bytes."""
        return counts_bytes(self.name)


class ChangeKind(StrEnum):
    """The effect of an advised change on the values of the rows."""

    DONATE = "donate"
    """The values are parameters and become donated."""
    WITHOUT = "without"
    """The values no longer exist."""
    HALF = "half"
    """The values take half of their bytes: a type of half the width."""
    DENSE = "dense"
    """The values take their dense bytes, without padding."""
    SHARD = "shard"
    """The values are split over the devices counted by the column `devices`."""
    RECOMPUTE = "recompute"
    """The values are recomputed for the backward pass."""
    LATE = "late"
    """The values are already recomputed, but earlier than needed."""
    PACK = "pack"
    """The values are unchanged; the heap is packed to its lower bound."""
    PARTS = "parts"
    """The values are computed a part at a time: at most all but one part is saved."""
    MOVE = "move"
    """The values are made where they are first read."""
    SCHEDULE = "schedule"
    """The values are unchanged; the instructions run in another order."""


@dataclass(frozen=True, slots=True)
class Advice:
    """A problem that a query finds, and what to do about it."""

    column: str
    """The column with the potential savings of a row."""
    measure: str
    """The total of which savings are a share: `reserved` or `physical` (at the peak)."""
    title: str
    evidence: tuple[str, ...]
    """The columns that show the problem, in addition to the savings."""
    once: tuple[str, str] | None
    """Two columns: rows that agree in the first compete for as many places as the second
    says, and each place is taken once; None where every row counts."""
    remedies: Mapping[str, str]
    """The change to make, by framework."""
    change: ChangeKind | None = None
    """The change to replan with; None if replanning cannot predict its effect."""
    changed: str = "value"
    """The column with the labels of the values that change."""


@dataclass(frozen=True, slots=True)
class Header:
    """The declarations in the comments above a statement."""

    title: str
    kind: str
    answers: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    shown: tuple[str, ...]
    """Names of columns, the most important first, with `OTHERS` for those not named."""
    measure: str
    """The kinds of bytes it returns: `MEASURES`, separated by commas."""
    notes: tuple[str, ...]
    empty: str
    """The meaning of no rows."""
    status: str
    advice: Advice | None
    lines: Mapping[str, int]
    """Line of `@param name`, `@column name` and of each other `@word`, from 1."""

    @property
    def defaults(self) -> dict[str, Scalar]:
        """The defaults of parameters by name, if they have one."""
        return {
            parameter.name: parameter.default
            for parameter in self.parameters
            if parameter.default is not None
        }
