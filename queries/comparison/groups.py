"""What the growth between two sets of compilations is made of: by op, line or role."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.comparison.value_changes import (
    RESHAPED,
    SAME,
    Group,
    ValueTraits,
    match_values,
)

if TYPE_CHECKING:
    from xlagraph.graph.engine import Cell, Graph


class By(StrEnum):
    """How bytes are grouped.

    ``role`` groups the bytes of the allocations of all memory spaces, thread-local ones
    too; ``value`` the assigned sizes of the values of memory space 0, thread-local ones
    left out; the others the shares of the physical peak of memory space 0.
    """

    OP = "op"
    LINE = "line"
    OPCODE = "opcode"
    SCOPE = "scope"
    SHAPE = "shape"
    VALUE = "value"
    ROLE = "role"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the cells of a group."""
        return _COLUMNS[self]


_COLUMNS: Final[Mapping[By, tuple[str, ...]]] = {
    By.OP: ("opName",),
    By.LINE: ("sourceFile", "sourceLine"),
    By.OPCODE: ("opcode",),
    By.SCOPE: ("scope",),
    By.SHAPE: ("shape",),
    By.VALUE: ("change", "opName", "opcode", "shapeIndex", "shapeA", "shapeB"),
    By.ROLE: ("role",),
}

EVERYTHING_ELSE: Final = "everything else"
"""Name of the group that stands for those left out."""


class GroupGrowth(NamedTuple):
    """The bytes of one group on both sides."""

    group: Group
    bytes_a: int
    bytes_b: int

    @property
    def growth_bytes(self) -> int:
        """More than 0 if the second side has more."""
        return self.bytes_b - self.bytes_a


_PEAK: Final = load_statement(__file__, "peak-values")
_ROLES: Final = load_statement(__file__, "roles")
_SCOPES: Final = load_statement(__file__, "scopes")
_VALUES: Final = load_statement(__file__, "values")


def group_growths(
    graph: "Graph", groupings: Iterable[By], a: Sequence[str], b: Sequence[str], *, depth: int = 3
) -> dict[By, tuple[GroupGrowth, ...]]:
    """Group the bytes of two sets of compilations, given by their keys.

    All groups, unchanged ones too, so that they add up to the totals; the largest growth
    or shrinkage first. ``depth`` is how many leading parts of an op name make a scope.
    """
    sides = _Side(graph, a), _Side(graph, b)
    return {
        by: _value_growths(*sides) if by is By.VALUE else _growths(by, *sides, depth)
        for by in groupings
    }


def changed_groups(by: By, growths: Sequence[GroupGrowth]) -> int:
    """Count the groups that changed; they stand before the others."""
    return sum(
        1 for item in growths if item.growth_bytes or (by is By.VALUE and item.group[0] == RESHAPED)
    )


def largest_groups(growths: Sequence[GroupGrowth], limit: int) -> tuple[GroupGrowth, ...]:
    """Keep the first ``limit`` groups, and add the others up as `EVERYTHING_ELSE`."""
    if len(growths) <= limit:
        return tuple(growths)
    left_out = growths[limit:]
    unnamed: Group = (EVERYTHING_ELSE, *[None] * (len(left_out[0].group) - 1))
    everything_else = GroupGrowth(
        unnamed, sum(item.bytes_a for item in left_out), sum(item.bytes_b for item in left_out)
    )
    return (*growths[:limit], everything_else)


class _Side:
    """What the graph tells of one set of compilations; each statement is run once at most."""

    def __init__(self, graph: "Graph", keys: Sequence[str]) -> None:
        self._graph = graph
        self._keys = list(keys)

    def _rows(self, statement: str) -> list[dict[str, "Cell"]]:
        # one engine cannot unwind an empty list
        if not self._keys:
            return []
        return self._graph.query(statement, {"compilations": self._keys}).mappings()

    @cached_property
    def peak(self) -> list[dict[str, "Cell"]]:
        return self._rows(_PEAK)

    def values(self) -> Counter[ValueTraits]:
        rows = (tuple(row.values()) for row in self._rows(_VALUES))
        return Counter(
            {ValueTraits(*cast("ValueTraits", row[:-1])): cast("int", row[-1]) for row in rows}
        )

    def grouped_bytes(self, by: By, depth: int) -> Counter[Group]:
        if by is By.ROLE:
            return _added_up(by, self._rows(_ROLES), "allocationBytes")
        rows = self.peak
        if by is By.SCOPE:
            scopes = self._scopes(depth)
            rows = [{**row, "scope": scopes.get(str(row["opName"]))} for row in rows]
        return _added_up(by, rows, "peakBytes")

    def _scopes(self, depth: int) -> Mapping[str, str]:
        keys = sorted({str(row["opName"]) for row in self.peak if row["opName"]})
        if not keys:
            return {}
        parameters: dict[str, Cell] = {"opNames": keys, "depth": depth}
        # in order of depth: the deepest one stays
        return {str(op): str(scope) for op, _, scope in self._graph.query(_SCOPES, parameters).rows}


def _growths(by: By, a: _Side, b: _Side, depth: int) -> tuple[GroupGrowth, ...]:
    bytes_a, bytes_b = (side.grouped_bytes(by, depth) for side in (a, b))
    return _sorted(
        GroupGrowth(group, bytes_a[group], bytes_b[group])
        for group in bytes_a.keys() | bytes_b.keys()
    )


def _value_growths(a: _Side, b: _Side) -> tuple[GroupGrowth, ...]:
    growths = _sorted(GroupGrowth(*change) for change in match_values(a.values(), b.values()))
    # among those that did not grow, the reshaped before the same
    return tuple(sorted(growths, key=lambda item: (-abs(item.growth_bytes), item.group[0] == SAME)))


def _added_up(by: By, rows: Iterable[Mapping[str, "Cell"]], measure: str) -> Counter[Group]:
    grouped: Counter[Group] = Counter()
    for row in rows:
        group = cast("Group", tuple(row[column] for column in by.columns))
        grouped[group] += cast("int", row[measure])
    return grouped


def _sorted(growths: Iterable[GroupGrowth]) -> tuple[GroupGrowth, ...]:
    return tuple(
        sorted(
            growths,
            key=lambda item: (
                -abs(item.growth_bytes),
                -item.bytes_b,
                tuple((cell is None, str(cell)) for cell in item.group),
            ),
        )
    )
