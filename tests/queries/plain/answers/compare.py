"""What the queries of theme compare must answer."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tests.queries.plain.answer import PlainAnswer, Row, Rows, in_order, largest_first
from tests.queries.plain.groups import (
    CALLER,
    COMPARED_OP,
    COMPARED_SCOPE,
    LINE,
    OPCODE,
    SHAPE,
    STACK,
    Group,
    over_generations,
)
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


@in_order("change opName opcode shapeIndex shapeA shapeB valuesA valuesB bytesA bytesB growthBytes")
def values(
    dumps: Sequence[PlainDump], run_a: str, run_b: str, memory_space: int = 0, module: str = ""
) -> Rows:
    groups: dict[
        tuple[str | None, str | None, str | None], tuple[list[PlainValue], list[PlainValue]]
    ] = {}
    for side, run in enumerate((run_a, run_b)):
        for dump in chosen(dumps, run, module):
            for value in dump.values:
                is_here = value.allocation.color == memory_space and value.size > 0
                if is_here and role(value.allocation) != "threadLocal":
                    op_name = over_generations(dump.attribution(value).op_name)
                    group = (op_name, value.made.opcode, value.shape_index)
                    groups.setdefault(group, ([], []))[side].append(value)
    last = chr(0x10FFFF)  # null sorts behind all text
    rows: list[tuple[tuple[object, ...], Row]] = []
    for group, sides in groups.items():
        sizes = [sum(value.size for value in side) for side in sides]
        shapes = [min((value.shape for value in side), default=None) for side in sides]
        growth = sizes[1] - sizes[0]
        if not sides[0] or not sides[1]:
            change = "gone" if sides[0] else "new"
        elif growth:
            change = "grown" if growth > 0 else "shrunk"
        elif shapes[0] != shapes[1]:
            change = "reshaped"
        else:
            continue
        place = (-abs(growth), -growth, *(word or last for word in group))
        rows.append((place, (change, *group, *shapes, *map(len, sides), *sizes, growth)))
    return [row for _, row in sorted(rows)]


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
    """Sort by the growth in the last column, whatever its sign, then by the others from left."""
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


ops = _grouped_by(COMPARED_OP)
lines = _grouped_by(LINE)
callers = _grouped_by(CALLER)
stacks = _grouped_by(STACK)
opcodes = _grouped_by(OPCODE)
scopes = _grouped_by(COMPARED_SCOPE)
shapes = _grouped_by(SHAPE)
