"""Expected rows of the queries of theme peak."""

from collections import Counter, defaultdict
from typing import Any

from tests.queries.plain.answer import PlainAnswer, Row, Rows, in_any_order, in_order, largest_first
from tests.queries.plain.groups import BOTH_LINES, CALLER, DTYPE, OP, OPCODE, SCOPE, SHAPE, Group
from tests.queries.plain.measures import held_bytes
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import PlainValue


@largest_first(
    "physicalBytes", "value allocation offsetBytes sizeBytes physicalBytes liveFrom liveUntil"
)
def contributors(dump: PlainDump, memory_space: int) -> Rows:
    for value, share in dump.shares(memory_space).items():
        number = value.allocation.number
        yield value.label, number, value.offset, value.size, share, value.first, value.last


def _grouped_by(group: Group) -> PlainAnswer:
    @largest_first("physicalBytes", f"{group.columns} values physicalBytes sizeBytes")
    def grouped(dump: PlainDump, memory_space: int) -> Rows:
        groups: dict[Row, list[tuple[int, int]]] = defaultdict(list)
        for value, share in dump.shares(memory_space).items():
            groups[group.of(dump, value)].append((share, value.size))
        for name, members in groups.items():
            shares, sizes = zip(*members, strict=True)
            yield *name, len(members), sum(shares), sum(sizes)

    return grouped


by_op = _grouped_by(OP)
by_line = _grouped_by(BOTH_LINES)
by_opcode = _grouped_by(OPCODE)
by_scope = _grouped_by(SCOPE)
by_dtype = _grouped_by(DTYPE)
by_shape = _grouped_by(SHAPE)
by_caller = _grouped_by(CALLER)


@in_any_order("depth function file line sourceColumn ownBytes cumulativeBytes")
def by_stack(dump: PlainDump, memory_space: int, min_percent: int = 1) -> Rows:
    own: Counter[tuple[Any, ...]] = Counter()
    for value, share in dump.shares(memory_space).items():
        attribution = dump.attribution(value)
        stack: tuple[Any, ...] = (
            tuple(dump.module.stack(attribution.frame)) if attribution.frame else ()
        )
        own[stack or ((*attribution.source, None, None),)] += share
    whole = sum(own.values())
    cumulative: Counter[tuple[Any, ...]] = Counter()
    for stack, share in own.items():
        for depth in range(1, len(stack) + 1):
            cumulative[stack[:depth]] += share
    for stack in sorted(cumulative, key=str):
        if cumulative[stack] > 0 and 100 * cumulative[stack] >= min_percent * whole:
            file, line, function, column = stack[-1]
            yield len(stack), function, file, line, column, own[stack], cumulative[stack]


@in_order("step instruction opcode logicalBytes physicalBytes")
def timeline(dump: PlainDump) -> Rows:
    here = [value for value in dump.values if value.allocation.memory_space == 0]
    held = held_bytes(here)
    sizes: Counter[int] = Counter()
    for value in here:
        sizes.update(dict.fromkeys(value.steps, value.size))
    for step, name in enumerate(dump.schedule):
        yield step, name, dump.text(name).opcode, sizes[step], held.get(step, 0)


@largest_first("sizeBytes", "value printedBytes sizeBytes liveAtPhysicalPeak")
def printed(dump: PlainDump, memory_space: int) -> Rows:
    listed: dict[PlainValue, int] = {}
    peak = dump.plan.live_ranges and dump.plan.live_ranges.peak
    for entry in peak.entries if peak else ():
        for value in sorted(dump.values, key=lambda value: value.value_id):
            index = value.shape_index or "{}"
            # Without indices the k-th mention is the k-th value live then.
            is_meant = (
                peak and peak.step in value.steps
                if entry.shape_index is None
                else (entry.shape_index == index)
            )
            if value.name == entry.name and value not in listed and is_meant:
                listed[value] = entry.bytes
                break
    shares = dump.shares(memory_space)
    for value in dump.values:
        if value.allocation.memory_space == memory_space and (value in listed or value in shares):
            yield value.label, listed.get(value), value.size, value in shares
