"""What the growth between two sets of compilations is made of: by op, line or role."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from xlagraph.queries.value_changes import RESHAPED, SAME, Buffer, Group, match_buffers

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


_PEAK: Final = """
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})-[:USES_SPACE]->(m:MemorySpace)
WHERE m.color = 0
MATCH (v:Value)-[l:LIVE_AT_PEAK]->(m)
WHERE l.physicalBytes > 0
RETURN v.opName AS opName, v.opcode AS opcode, v.sourceFile AS sourceFile,
       v.sourceLine AS sourceLine, v.shape AS shape, sum(l.physicalBytes) AS peakBytes
"""

_ROLES: Final = """
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})-[:ALLOCATES]->(a:Allocation)
RETURN a.role AS role, sum(a.sizeBytes) AS allocationBytes
"""

_SCOPES: Final = """
UNWIND $opNames AS opKey
MATCH (o:Op {key: opKey})-[:WITHIN]->(s:Scope)
WHERE s.depth <= $depth
RETURN o.name AS opName, s.name AS scope, s.depth AS depth
ORDER BY opName, depth
"""

_BUFFERS: Final = """
UNWIND $compilations AS compilationKey
MATCH (c:Compilation {key: compilationKey})-[:ALLOCATES]->(a:Allocation)
WHERE a.memorySpace = 0 AND coalesce(a.role, '') <> 'threadLocal'
MATCH (a)-[:HOLDS]->(v:Value)
WHERE v.sizeBytes > 0
RETURN v.opName AS opName, v.opcode AS opcode, v.shapeIndex AS shapeIndex,
       v.shape AS shape, v.dtype AS dtype, v.sizeBytes AS sizeBytes, count(v) AS buffers
"""


def group_growths(
    graph: "Graph", by: By, a: Sequence[str], b: Sequence[str], *, depth: int = 3
) -> tuple[GroupGrowth, ...]:
    """Group the bytes of two sets of compilations, given by their keys.

    All groups, unchanged ones too, so that they add up to the totals; the largest growth
    or shrinkage first. ``depth`` is how many leading parts of an op name make a scope.
    """
    if by is By.VALUE:
        changes = match_buffers(_buffers(graph, a), _buffers(graph, b))
        growths = _sorted(GroupGrowth(*change) for change in changes)
        # among those that did not grow, the reshaped before the same
        return tuple(
            sorted(growths, key=lambda item: (-abs(item.growth_bytes), item.group[0] == SAME))
        )
    bytes_a, bytes_b = (_grouped_bytes(graph, by, keys, depth) for keys in (a, b))
    return _sorted(
        GroupGrowth(group, bytes_a[group], bytes_b[group])
        for group in bytes_a.keys() | bytes_b.keys()
    )


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


def _grouped_bytes(graph: "Graph", by: By, keys: Sequence[str], depth: int) -> Counter[Group]:
    grouped: Counter[Group] = Counter()
    if not keys:  # one engine cannot unwind an empty list
        return grouped
    statement, measure = (_ROLES, "allocationBytes") if by is By.ROLE else (_PEAK, "peakBytes")
    rows = graph.query(statement, {"compilations": list(keys)}).mappings()
    if by is By.SCOPE:
        scopes = _scopes(graph, {str(row["opName"]) for row in rows if row["opName"]}, depth)
        rows = [{**row, "scope": scopes.get(str(row["opName"]))} for row in rows]
    for row in rows:
        group = cast("Group", tuple(row[column] for column in by.columns))
        grouped[group] += cast("int", row[measure])
    return grouped


def _scopes(graph: "Graph", op_names: Iterable[str], depth: int) -> Mapping[str, str]:
    keys = sorted(op_names)
    if not keys:
        return {}
    parameters: dict[str, Cell] = {"opNames": keys, "depth": depth}
    # in order of depth: the deepest one stays
    return {str(op): str(scope) for op, scope, _ in graph.query(_SCOPES, parameters).rows}


def _buffers(graph: "Graph", keys: Sequence[str]) -> Counter[Buffer]:
    if not keys:
        return Counter()
    rows = graph.query(_BUFFERS, {"compilations": list(keys)}).rows
    return Counter({Buffer(*cast("Buffer", row[:-1])): cast("int", row[-1]) for row in rows})
