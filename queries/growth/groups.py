"""What the growth between two sides is made of: by op, line, role … as the queries group it."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from xlagraph.graph.engine import Graph, Scalar
from xlagraph.graph.schema_detail import Detail

# Every command loads this module, for the choices of `compare --by`; few read a query.
if TYPE_CHECKING:
    from xlagraph.queries.catalogue.query_files import Query

__all__ = [
    "EVERYTHING_ELSE",
    "GROWTH_COLUMNS",
    "RESHAPED",
    "By",
    "GroupGrowth",
    "changed_groups",
    "group_growths",
    "largest_groups",
]

Group = tuple[str | int | None, ...]
"""The cells that name a group; None where the dump lacks it."""

RESHAPED: Final = "reshaped"
"""A change of shape that leaves the bytes as they were."""
EVERYTHING_ELSE: Final = "everything else"
"""Name of the group that stands for those left out."""
GROWTH_COLUMNS: Final = ("bytesA", "bytesB", "growthBytes")


class By(StrEnum):
    """How bytes are grouped: each is a query of the theme `compare`, `compare/ops` for ``op``.

    ``cause`` splits the reserved bytes of memory space 0 as `Part` says, ``temporary`` the part
    of them that is live at the peak, by line and op; ``role`` groups the bytes of the
    allocations of all memory spaces, thread-local ones too; ``value`` the assigned sizes of the
    values of memory space 0, thread-local ones and what did not change left out; the others the
    shares of the physical peak of memory space 0.
    """

    OP = "op"
    LINE = "line"
    CALLER = "caller"
    STACK = "stack"
    OPCODE = "opcode"
    SCOPE = "scope"
    SHAPE = "shape"
    VALUE = "value"
    ROLE = "role"
    CAUSE = "cause"
    TEMPORARY = "temporary"

    @property
    def query_id(self) -> str:
        """Return the id of its query."""
        return f"compare/{_PLURALS.get(self, f'{self}s')}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the cells of a group."""
        columns = (column.name for column in _query(self).columns)
        return tuple(name for name in columns if name not in GROWTH_COLUMNS)


_PLURALS: Final = {By.TEMPORARY: "temporaries"}


class GroupGrowth(NamedTuple):
    """The bytes of one group on both sides."""

    group: Group
    bytes_a: int
    bytes_b: int

    @property
    def growth_bytes(self) -> int:
        """More than 0 if the second side has more."""
        return self.bytes_b - self.bytes_a


def group_growths(
    graph: Graph, groupings: Iterable[By], a: str, b: str, *, depth: int = 3
) -> dict[By, tuple[GroupGrowth, ...]]:
    """Group the bytes of two sides, each the name of a run or the key of a compilation.

    All rows of the query of each grouping, in its order: the largest growth or shrinkage
    first. ``depth`` is how many leading parts of an op name make a scope. What is not stored
    has no groups; asked for alone it raises NotStored.
    """
    from xlagraph.queries.catalogue.declarations import NO_LIMIT
    from xlagraph.queries.selection.stored_detail import check_stored, is_at_peak

    given: Mapping[str, Scalar] = {"runA": a, "runB": b, "depth": depth, "limit": NO_LIMIT}
    growths: dict[By, tuple[GroupGrowth, ...]] = {}
    wanted = list(groupings)
    for by in wanted:
        query = _query(by)
        if query.needed_detail is Detail.ALL and is_at_peak(graph, (a, b)):
            if len(wanted) == 1:
                check_stored(graph, (a, b))
            growths[by] = ()
            continue
        names = {parameter.name for parameter in query.parameters}
        parameters = query.defaults | {name: given[name] for name in given.keys() & names}
        rows = graph.query(query.text, parameters).rows
        growths[by] = tuple(
            GroupGrowth(cast("Group", tuple(group)), cast("int", bytes_a), cast("int", bytes_b))
            for *group, bytes_a, bytes_b, _ in rows
        )
    return growths


def changed_groups(growths: Sequence[GroupGrowth]) -> int:
    """Return how many groups changed; they stand before the others."""
    return sum(1 for growth in growths if growth.growth_bytes or growth.group[0] == RESHAPED)


def largest_groups(growths: Sequence[GroupGrowth], limit: int) -> tuple[GroupGrowth, ...]:
    """Return the first ``limit`` groups, and the others added up as `EVERYTHING_ELSE`."""
    if len(growths) <= limit:
        return tuple(growths)
    left_out = growths[limit:]
    unnamed: Group = (EVERYTHING_ELSE, *[None] * (len(left_out[0].group) - 1))
    everything_else = GroupGrowth(
        unnamed,
        sum(growth.bytes_a for growth in left_out),
        sum(growth.bytes_b for growth in left_out),
    )
    return (*growths[:limit], everything_else)


@cache
def _query(by: By) -> "Query":
    from xlagraph.queries.catalogue.query_files import OWN_DIRECTORY, read_query

    return read_query(OWN_DIRECTORY / f"{by.query_id}.cypher", OWN_DIRECTORY)
