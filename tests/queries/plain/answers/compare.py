"""Expected rows of the queries of theme compare."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from tests.queries.plain.answer import PlainAnswer, Row, Rows, in_order, largest_first
from tests.queries.plain.groups import (
    CALLER,
    COMPARED_OP,
    COMPARED_SCOPE,
    OPCODE,
    SHAPE,
    STACK,
    Group,
    over_loops,
)
from tests.queries.plain.measures import held_bytes
from tests.queries.plain.plan import PlainDump, chosen
from tests.queries.plain.value import PlainValue, role


@largest_first(
    "growthBytes",
    "module compilationsA compilationsB reservedBytesA reservedBytesB"
    " physicalPeakBytesA physicalPeakBytesB growthBytes",
)
def modules(dumps: Sequence[PlainDump], run_a: str, run_b: str, memory_space: int = 0) -> Rows:
    sides = [chosen(dumps, run_a), chosen(dumps, run_b)]
    for name in {dump.module_name for side in sides for dump in side}:
        here = [[dump for dump in side if dump.module_name == name] for side in sides]
        reserved = [
            max((dump.reserved(memory_space) for dump in side), default=None) for side in here
        ]
        peaks = [_largest(dump.physical_peak(memory_space) for dump in side) for side in here]
        growth = (reserved[1] or 0) - (reserved[0] or 0)
        yield name, len(here[0]), len(here[1]), *reserved, *peaks, growth


@in_order("role bytesA bytesB growthBytes")
def roles(dumps: Sequence[PlainDump], run_a: str, run_b: str, module: str = "") -> Rows:
    return _growth(
        dumps,
        lambda dump: (
            ((role(allocation),), allocation.size_bytes) for allocation in dump.plan.allocations
        ),
        (run_a, run_b),
        module,
    )


class _Alike(NamedTuple):
    """The key of values in one row; for unpaired ones the shape instead of the name."""

    is_lone: bool
    name: str | None
    opcode: str | None
    shape_index: str | None
    shape: str | None = None
    root: str | None = None


_Members = list[tuple[PlainDump, PlainValue]]


@in_order(
    "change opName opcode shapeIndex shapeA shapeB valuesA valuesB opNameA bytesA bytesB"
    " growthBytes"
)
def values(
    dumps: Sequence[PlainDump], run_a: str, run_b: str, memory_space: int = 0, module: str = ""
) -> Rows:
    named: dict[_Alike, tuple[_Members, _Members]] = {}
    for side, run in enumerate((run_a, run_b)):
        for dump in chosen(dumps, run, module):
            for value in dump.values:
                is_here = value.allocation.memory_space == memory_space and value.size > 0
                if is_here and role(value.allocation) != "threadLocal":
                    name = over_loops(dump.attribution(value).op_name)
                    alike = _Alike(False, name, value.made.opcode, value.shape_index)
                    named.setdefault(alike, ([], []))[side].append((dump, value))
    groups: dict[_Alike, tuple[_Members, _Members]] = {}
    for alike, sides in named.items():
        for side, members in enumerate(sides):
            for dump, value in members:
                lone = alike._replace(
                    is_lone=True, name=None, shape=value.shape, root=dump.root(value.name)
                )
                group = alike if all(sides) else lone
                groups.setdefault(group, ([], []))[side].append((dump, value))
    last = chr(0x10FFFF)  # null sorts after all text
    rows: list[tuple[tuple[object, ...], Row]] = []
    for (is_lone, same_name, opcode, index, shape, root), sides in groups.items():
        sizes = [sum(value.size for _, value in side) for side in sides]
        shapes = [min((value.shape for _, value in side), default=None) for side in sides]
        names = [_smallest_name(side) for side in sides]
        growth = sizes[1] - sizes[0]
        if not sides[0] or not sides[1]:
            change = "gone" if sides[0] else "new"
        elif growth:
            change = "grown" if growth > 0 else "shrunk"
        elif shapes[0] != shapes[1]:
            change = "reshaped"
        else:
            continue
        op_name = names[0] if names[1] is None else names[1]
        renamed = names[0] if None not in names and names[0] != names[1] else None
        words = (op_name, opcode, index, shape, root, same_name)
        place = (-abs(growth), -growth, *(word or last for word in words), is_lone)
        counts = map(len, sides)
        rows.append(
            (place, (change, op_name, opcode, index, *shapes, *counts, renamed, *sizes, growth))
        )
    return [row for _, row in sorted(rows)]


def _smallest_name(members: _Members) -> str | None:
    names = [over_loops(dump.attribution(value).op_name) for dump, value in members]
    return min((name for name in names if name is not None), default=None)


def _growth(
    dumps: Sequence[PlainDump],
    of: Callable[[PlainDump], Iterable[tuple[Row, int]]],
    runs: tuple[str, str],
    module: str,
) -> Rows:
    sums: dict[Row, list[int]] = defaultdict(lambda: [0, 0])
    for side, run in enumerate(runs):
        for dump in chosen(dumps, run, module):
            for group, count in of(dump):
                sums[group][side] += count
    return largest_change_first(
        (*group, before, after, after - before) for group, (before, after) in sums.items()
    )


def largest_change_first(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Sort by the size of the growth in the last column, then by the other columns."""
    return sorted(
        rows,
        key=lambda row: (
            -abs(row[-1]),
            -row[-1],
            *((cell is None, cell or 0) for cell in row[:-3]),
        ),
    )


def _largest(numbers: Iterable[int | None]) -> int | None:
    return max((number for number in numbers if number is not None), default=None)


def _grouped_by(group: Group) -> PlainAnswer:
    @in_order(f"{group.columns} bytesA bytesB growthBytes")
    def grouped(
        dumps: Sequence[PlainDump], run_a: str, run_b: str, memory_space: int = 0, module: str = ""
    ) -> Rows:
        def shares(dump: PlainDump) -> Iterator[tuple[Row, int]]:
            for value, share in dump.shares(memory_space).items():
                yield group.of(dump, value), share

        return _growth(dumps, shares, (run_a, run_b), module)

    return grouped


class _Place(NamedTuple):
    """Bytes of both sides for one name and source line."""

    name: str | None
    source: Row
    sums: tuple[int, int]
    modules: frozenset[str]

    @property
    def is_lone(self) -> bool:
        return 0 in self.sums

    @property
    def matched(self) -> str | None:
        """The name, without the compiled function if only one side has it."""
        if self.name is None or not self.is_lone or not self.modules:
            return self.name
        return self.name.replace(f"jit({max(self.modules).replace('jit_', '')})/", "")


def _places(
    dumps: Sequence[PlainDump],
    runs: tuple[str, str],
    module: str,
    color: int,
    key: Callable[[PlainDump, PlainValue], tuple[str | None, Row]],
    roles: Collection[str] = (),
) -> list[list[_Place]]:
    """Return matched places together."""
    sums: dict[tuple[str | None, Row], list[int]] = defaultdict(lambda: [0, 0])
    modules: dict[tuple[str | None, Row], set[str]] = defaultdict(set)
    for side, run in enumerate(runs):
        for dump in chosen(dumps, run, module):
            for value, share in dump.shares(color).items():
                if not roles or role(value.allocation) in roles:
                    sums[key(dump, value)][side] += share
                    modules[key(dump, value)].update(filter(None, [dump.module_name]))
    matched: dict[tuple[str | None, bool], list[_Place]] = defaultdict(list)
    for (name, source), (before, after) in sums.items():
        place = _Place(name, source, (before, after), frozenset(modules[name, source]))
        matched[place.matched, place.is_lone].append(place)
    return list(matched.values())


def _matched_by(group: Group) -> PlainAnswer:
    """Group by a name that only one side may have, because the function was renamed."""

    @in_order(f"{group.columns} bytesA bytesB growthBytes")
    def grouped(
        dumps: Sequence[PlainDump], run_a: str, run_b: str, memory_space: int = 0, module: str = ""
    ) -> Rows:
        def key(dump: PlainDump, value: PlainValue) -> tuple[str | None, Row]:
            return cast("str | None", group.of(dump, value)[0]), ()

        rows = []
        for places in _places(dumps, (run_a, run_b), module, memory_space, key):
            names = [place.name for place in places if place.sums[1]] or [
                place.name for place in places
            ]
            name = max((name for name in names if name is not None), default=None)
            before, after = (sum(place.sums[side] for place in places) for side in (0, 1))
            rows.append((name, before, after, after - before))
        return largest_change_first(rows)

    return grouped


def _largest_of_each(sources: Collection[Row]) -> Row:
    """Return the largest cell of each column, as `max` of a statement does."""
    columns = zip(*sources, strict=True)
    return tuple(max((cell for cell in each if cell is not None), default=None) for each in columns)


def _by_line(columns: str, *, is_named: bool, roles: Collection[str] = ()) -> PlainAnswer:
    """Group by source line, when an op's line may have moved."""

    @in_order(f"{columns} bytesA bytesB growthBytes")
    def grouped(
        dumps: Sequence[PlainDump], run_a: str, run_b: str, memory_space: int = 0, module: str = ""
    ) -> Rows:
        def key(dump: PlainDump, value: PlainValue) -> tuple[str | None, Row]:
            attribution = dump.attribution(value)
            source = (*attribution.user[:2], *attribution.source)
            return over_loops(attribution.op_name), source

        sums: dict[Row, list[int]] = defaultdict(lambda: [0, 0])
        for places in _places(dumps, (run_a, run_b), module, memory_space, key, roles):
            sources = [
                {place.source for place in places if place.sums[side] and place.source[-1]}
                for side in (0, 1)
            ]
            is_moved = (
                places[0].is_lone
                and places[0].name is not None
                and [len({source[-1] for source in side}) for side in sources] == [1, 1]
            )
            new = [place.name for place in places if place.name and place.sums[1]]
            for place in places:
                source = _largest_of_each(sources[1]) if is_moved else place.source
                name = max(new) if place.is_lone and new else place.name
                for side in (0, 1):
                    sums[(*source, name) if is_named else source][side] += place.sums[side]
        return largest_change_first(
            (*row, before, after, after - before) for row, (before, after) in sums.items()
        )

    return grouped


@in_order("cause bytesA bytesB growthBytes")
def causes(
    dumps: Sequence[PlainDump], run_a: str, run_b: str, memory_space: int = 0, module: str = ""
) -> Rows:
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for side, run in enumerate((run_a, run_b)):
        for dump in chosen(dumps, run, module):
            for cause, held in _parts(dump, memory_space):
                sums[cause][side] += held
    return largest_change_first(
        (cause, before, after, after - before)
        for cause, (before, after) in sums.items()
        if before or after
    )


def _parts(dump: PlainDump, color: int) -> Iterator[tuple[str, int]]:
    """Split the bytes of each allocation."""
    wholes = {
        "parameter": "inputs", "output": "outputs", "liveOut": "outputs", "constant": "constants"
    }  # fmt: skip
    for allocation in dump.plan.allocations:
        part = role(allocation)
        if allocation.memory_space != color or part == "threadLocal":
            continue
        if part in wholes:
            yield wholes[part], allocation.size_bytes
        elif dump.end is None:
            yield "temporary, peak unknown", allocation.size_bytes
        else:
            inside = [value for value in dump.values if value.allocation is allocation]
            live = sum(dump.share(value) or 0 for value in inside)
            fullest = max(held_bytes(inside).values(), default=0)
            yield "live at the peak", live
            yield "idle at the peak", fullest - live
            yield "fragmentation", allocation.size_bytes - fullest


ops = _matched_by(COMPARED_OP)
lines = _by_line("userFile userLine sourceFile sourceLine", is_named=False)
temporaries = _by_line(
    "userFile userLine sourceFile sourceLine opName", is_named=True, roles=("temp",)
)
callers = _grouped_by(CALLER)
stacks = _grouped_by(STACK)
opcodes = _grouped_by(OPCODE)
scopes = _matched_by(COMPARED_SCOPE)
shapes = _grouped_by(SHAPE)
