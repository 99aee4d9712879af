"""Group the growth between two sides by op, line, role and more, with the canned queries."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from xlagraph.graph.engine import Cell, Graph, Scalar
from xlagraph.graph.schema import Detail
from xlagraph.hlo.metadata import from_packages, names_in_checkouts

# Every command loads this module, for the choices of `compare --by`; few read a query.
if TYPE_CHECKING:
    from xlagraph.queries.catalogue.query_files import Query

Group = tuple[str | int | None, ...]
"""Cells that name a group; None if the dump has no name."""

RESHAPED: Final = "reshaped"
"""A change of shape without a change of bytes."""
EVERYTHING_ELSE: Final = "everything else"
"""Name of the group that sums all groups left out."""
GROWTH_COLUMNS: Final = ("bytesA", "bytesB", "growthBytes")


class By(StrEnum):
    """A grouping of bytes. Each has a query of the theme `compare`: `compare/ops` for ``op``.

    - ``cause`` splits the reserved bytes of memory space 0 into the parts of `ReservedPart`.
    - ``temporary`` splits the part that is live at the peak, by line and op.
    - ``role`` groups all allocations, in all memory spaces, including thread-local ones.
    - ``value`` groups the assigned sizes of values of memory space 0 that changed, without
      thread-local ones.
    - The others group the shares of the physical peak of memory space 0.
    """

    OP = "op"
    LINE = "line"
    CALLER = "caller"
    STACK = "stack"
    OPCODE = "opcode"
    CATEGORY = "category"
    SCOPE = "scope"
    SHAPE = "shape"
    VALUE = "value"
    ROLE = "role"
    CAUSE = "cause"
    TEMPORARY = "temporary"

    @property
    def query_id(self) -> str:
        """Id of the query of this grouping."""
        return f"compare/{_PLURALS.get(self, f'{self}s')}"

    @classmethod
    def of_query(cls, query_id: str) -> "By | None":
        """Return the grouping of a query; None if there is none, as for `compare/modules`."""
        return next((each for each in cls if each.query_id == query_id), None)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that name a group."""
        columns = (column.name for column in _query(self).columns)
        return tuple(name for name in columns if name not in GROWTH_COLUMNS)


_PLURALS: Final = {By.TEMPORARY: "temporaries", By.CATEGORY: "categories"}


class GroupGrowth(NamedTuple):
    """Bytes of one group on both sides."""

    group: Group
    bytes_a: int
    bytes_b: int

    @property
    def growth_bytes(self) -> int:
        """Bytes that the second side has more."""
        return self.bytes_b - self.bytes_a


def group_growths(
    graph: Graph, groupings: Iterable[By], a: str, b: str, *, depth: int = 3
) -> dict[By, tuple[GroupGrowth, ...]]:
    """Group the bytes of two sides, each the name of a run or a compilation's key.

    Return all rows of the query of each grouping, in its order: the largest change first.
    ``depth`` is the number of leading parts of an op name that make a scope. A grouping of
    facts that are not stored is empty; if it is the only grouping, raise NotStored.
    """
    from xlagraph.queries.catalogue.declarations import NO_LIMIT
    from xlagraph.queries.runner.compilations import check_stored, is_at_peak

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
        found = [
            GroupGrowth(cast("Group", tuple(group)), cast("int", bytes_a), cast("int", bytes_b))
            for *group, bytes_a, bytes_b, _ in rows
        ]
        growths[by] = _merged(found, _names_of_files(by, found))
    return growths


def _names_of_files(by: By, growths: Sequence[GroupGrowth]) -> Mapping[str, str]:
    """Return the names of the files of two checkouts; none if they have a file of both sides."""
    places = [place for place, name in enumerate(by.columns) if name.lower().endswith("file")]
    files_a: set[str] = set()
    files_b: set[str] = set()
    for group, _, bytes_b in growths if places else ():
        # what both sides have is at the place of the second
        of_side = files_b if bytes_b else files_a
        of_side.update(cell for place in places if isinstance(cell := group[place], str))
    return names_in_checkouts(files_a, files_b)


def _merged(growths: Iterable[GroupGrowth], names: Mapping[str, str]) -> tuple[GroupGrowth, ...]:
    """Merge groups that differ only in the folder of a program, or of installed packages."""
    merged: dict[Group, GroupGrowth] = {}
    moved = False
    for growth in growths:
        cells = [names.get(each, each) if isinstance(each, str) else each for each in growth.group]
        group = cast("Group", tuple(map(without_environment, cells)))
        known = merged.get(group, GroupGrowth(group, 0, 0))
        moved |= group in merged
        merged[group] = GroupGrowth(
            group, known.bytes_a + growth.bytes_a, known.bytes_b + growth.bytes_b
        )
    found = merged.values()
    return tuple(sorted(found, key=lambda each: -abs(each.growth_bytes)) if moved else found)


def without_environment(cell: Cell) -> Cell:
    """Return the path of an installed package from ``site-packages`` on; other cells unchanged."""
    return from_packages(cell) if isinstance(cell, str) else cell


def changed_groups(growths: Sequence[GroupGrowth]) -> int:
    """Return the number of changed groups; they precede the others."""
    return sum(1 for growth in growths if growth.growth_bytes or growth.group[0] == RESHAPED)


def largest_groups(growths: Sequence[GroupGrowth], limit: int) -> tuple[GroupGrowth, ...]:
    """Return the first ``limit`` groups, and the sum of the others as `EVERYTHING_ELSE`."""
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


def group_name(by: By, group: Sequence[Cell]) -> str | None:
    """Return a group as one text; a line is yours, followed by the library's line it calls."""
    if by not in (By.LINE, By.TEMPORARY) or group[0] == EVERYTHING_ELSE:
        return _joined(group)
    places = dict.fromkeys(filter(None, [_joined(group[:2]), _joined(group[2:4])]))
    return _joined((" → ".join(places) or None, *group[4:]))


def _joined(cells: Sequence[Cell]) -> str | None:
    known = [str(cell) for cell in cells if cell is not None]
    return ":".join(known) if known else None


@cache
def _query(by: By) -> "Query":
    from xlagraph.queries.catalogue.query_files import OWN_DIRECTORY, read_query

    return read_query(OWN_DIRECTORY / f"{by.query_id}.cypher", OWN_DIRECTORY)
