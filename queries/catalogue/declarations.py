"""What a query declares: parameters, columns, advice."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from xlagraph.graph.engine import Scalar
from xlagraph.presentation.byte_sizes import counts_bytes

ParameterValue = str | int | float | bool
"""What a parameter may be."""

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
"""As a `@remedy` names them, and as people do."""


NO_ROWS: Final = "no rows"
"""What it means that there are none, where a query does not say it."""

CHOSEN: Final = "compilation"
"""The parameter that the runner chooses where it is left out."""


# LIMIT of one engine is a signed 32-bit number, and no graph has that many rows
NO_LIMIT: Final = 2**31 - 1
"""The value of a parameter `limit` that gives all rows."""


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
    """Texts."""
    PATH = "PATH"
    """Nodes and the relationships between them, to be drawn."""


EXAMPLES: Final[Mapping[LiteralType, str]] = {
    LiteralType.STRING: "'fusion.7'",
    LiteralType.INTEGER: "20",
    LiteralType.FLOAT: "0.5",
    LiteralType.BOOLEAN: "true",
}
"""A literal of each type, as an error shows it."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query, `$name` in its text."""

    name: str
    type: LiteralType
    default: ParameterValue | None
    """None where one must be given."""
    description: str
    least: int | None = None
    """Smallest number that it may be, inclusive; None without a bound."""
    most: int | None = None

    @property
    def required(self) -> bool:
        """Whether it has no default. The runner can still choose a `compilation`."""
        return self.default is None

    @property
    def must_be_given(self) -> bool:
        """Whether the caller must give it."""
        return self.required and self.name != CHOSEN

    def out_of_bounds(self, value: ParameterValue | None) -> str | None:
        """Return which bound a value is beyond, `above 5`; None if it is within."""
        if isinstance(value, int):
            if self.least is not None and value < self.least:
                return f"below {self.least}"
            if self.most is not None and value > self.most:
                return f"above {self.most}"
        return None

    @property
    def option(self) -> str:
        """Its name in kebab case: `run-a` for `runA`."""
        return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", self.name).lower()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the rows that a query gives."""

    name: str
    type: ColumnType
    description: str

    @property
    def is_bytes(self) -> bool:
        """Whether its cells count bytes."""
        return counts_bytes(self.name)


class ChangeKind(StrEnum):
    """What the change that a finding asks for does to the values of its rows."""

    DONATE = "donate"
    """They are parameters, and are donated."""
    WITHOUT = "without"
    """They do not exist."""
    HALF = "half"
    """They take half of their bytes: a type of half the width."""
    DENSE = "dense"
    """They take their dense bytes: no padding."""
    SHARD = "shard"
    """They are split over the devices that the column `devices` counts."""
    RECOMPUTE = "recompute"
    """They are made again where they are read backward."""
    LATE = "late"
    """They are made again already, and no earlier than they are read backward."""
    PACK = "pack"
    """The values stay; the heap is packed to its lower bound."""
    PARTS = "parts"
    """They are computed a part at a time: at most all but one part is saved."""
    MOVE = "move"
    """They are made where they are first read."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What a query finds fault with, and what to do about it."""

    column: str
    """The column with the potential savings of a row."""
    measure: str
    """What they are a share of: `reserved` or `physical` (at the peak)."""
    title: str
    evidence: tuple[str, ...]
    """The columns that show it, besides the potential savings."""
    once: tuple[str, str] | None
    """Two columns: rows that agree in the first compete for as many places as the second
    says, and each place is taken once; None where every row counts."""
    remedies: Mapping[str, str]
    """What to change, by framework."""
    change: ChangeKind | None = None
    """What the plan made anew is asked; None where it cannot tell the effect."""
    changed: str = "value"
    """The column with the labels of the values that change."""


@dataclass(frozen=True, slots=True)
class Header:
    """What the comments above a statement declare."""

    title: str
    kind: str
    answers: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    measure: str
    """Which bytes it returns, one or more of `MEASURES`, with commas between."""
    notes: tuple[str, ...]
    empty: str
    """What it means that there are no rows."""
    status: str
    advice: Advice | None
    lines: Mapping[str, int]
    """Line of `@param name`, `@column name` and of each other `@word`, from 1."""

    @property
    def defaults(self) -> dict[str, Scalar]:
        """The defaults of its parameters by name, of those that have one."""
        return {
            parameter.name: parameter.default
            for parameter in self.parameters
            if parameter.default is not None
        }
