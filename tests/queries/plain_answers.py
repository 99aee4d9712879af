"""What queries of one compilation must answer, written from their words, not from Cypher.

Each function gives all rows of one query for a dump, as tuples of the columns that its
decorator names. `memorySpace` and other parameters come by name.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from plain_plan import PlainDump, PlainValue, alias_sets, held_bytes, peak_step, role, takeovers

Row = tuple[object, ...]
Rows = Iterable[Row]


@dataclass(frozen=True)
class PlainAnswer:
    """How the rows of one query are computed here."""

    columns: tuple[str, ...]
    compute: Callable[..., Rows]
    largest: str | None
    """The column by which rows fall; None where they must come in the very order given."""

    def rows(self, plain: object, parameters: Mapping[str, str | int]) -> list[Row]:
        """Compute the rows for parameters as the query has them."""
        snake = {re.sub("([A-Z])", r"_\1", name).lower(): parameters[name] for name in parameters}
        return list(self.compute(plain, **snake))


ANSWERS: dict[str, PlainAnswer] = {}


def answers(query: str, columns: str, *, largest: str | None = "sizeBytes") -> Callable[..., None]:
    """Register what gives the rows of a query."""

    def register(compute: Callable[..., Rows]) -> None:
        ANSWERS[query] = PlainAnswer(tuple(columns.split()), compute, largest)

    return register


def questions(query: str, dump: PlainDump) -> Iterator[dict[str, str | int]]:
    """Give the parameters with which a query is asked about a dump."""
    theme = query.partition("/")[0]
    if query in PER_SPACE:
        yield from ({"memorySpace": color} for color in dump.colors)
    elif query in ("alias/names", "alias/chain", "reuse/chain") or theme == "flow":
        for value in interesting(dump):
            yield {"value": value.label}
    elif query == "reuse/slot":
        for allocation in dump.plan.allocations[-2:]:
            for offset in sorted({0, allocation.size_bytes // 2}):
                yield {"allocation": allocation.number, "offsetBytes": offset}
    elif query in ("lifetime/across", "lifetime/live-at"):
        yield {}
        if dump.schedule:
            middle = len(dump.schedule) // 2
            yield {"step": middle}
            yield {"instruction": dump.schedule[middle]}
            yield {"instruction": dump.schedule[middle], "step": 1}
    else:
        yield {}


PER_SPACE = (
    *(f"peak/by-{group}" for group in ["op", "line", "opcode", "scope", "dtype", "shape"]),
    *("peak/contributors", "peak/printed", "reuse/same-shape", "waste/duplicates"),
    *("waste/gathered", "lifetime/kept-for-backward"),
)


def interesting(dump: PlainDump) -> list[PlainValue]:
    """Give a value of the longest alias chain, the busiest, the smallest."""
    joined = alias_sets(dump.values)
    by_chain = sorted(dump.values, key=lambda item: (-len(joined[item]), item.value_id))
    by_uses = sorted(dump.values, key=lambda item: (-len(item.uses), item.value_id))
    by_size = sorted(dump.values, key=lambda item: (-item.size, item.value_id))
    return list(dict.fromkeys((by_chain[0], by_uses[0], by_size[-1])))


@answers("overview/roles", "memorySpace role allocations allocationBytes", largest=None)
def _roles(dump: PlainDump) -> Rows:
    groups: dict[tuple[int, str | None], list[int]] = defaultdict(list)
    for item in dump.plan.allocations:
        groups[item.color, role(item)].append(item.size_bytes)
    rows = [(*group, len(sizes), sum(sizes)) for group, sizes in groups.items()]
    return sorted(rows, key=lambda row: (row[0], -row[3], row[1] or "~"))


@answers(
    "overview/spaces",
    "memorySpace allocationBytes logicalPeakBytes physicalPeakBytes idleBytes reservedBytes",
    largest=None,
)
def _spaces(dump: PlainDump) -> Rows:
    for color in dump.colors:
        taken = sum(item.size_bytes for item in dump.plan.allocations if item.color == color)
        peak = dump.physical_peak(color)
        idle = None if peak is None else taken - peak
        yield color, taken, dump.logical_peak(color), peak, idle, dump.reserved(color)


@answers(
    "peak/contributors",
    "value allocation offsetBytes sizeBytes physicalBytes liveFrom liveUntil",
    largest="physicalBytes",
)
def _contributors(dump: PlainDump, memory_space: int) -> Rows:
    for item, share in dump.shares(memory_space).items():
        number = item.allocation.number
        yield item.label, number, item.offset, item.size, share, item.first, item.last


def _grouped(shares: Mapping[PlainValue, int], group: Callable[[PlainValue], Row]) -> Rows:
    groups: dict[Row, list[tuple[int, int]]] = defaultdict(list)
    for item, share in shares.items():
        groups[group(item)].append((share, item.size))
    for name, members in groups.items():
        yield *name, len(members), sum(row[0] for row in members), sum(row[1] for row in members)


def scope(op_name: str | None, depth: int) -> str | None:
    """Cut an op name behind so many parts; a slash within brackets parts nothing."""
    if op_name is None:
        return None
    parts, nesting = [""], 0
    for character in op_name:
        nesting += character in "([{"
        nesting -= nesting > 0 and character in ")]}"
        if character == "/" and nesting == 0:
            parts.append("")
        else:
            parts[-1] += character
    return "/".join(parts[:depth])


GROUPS: dict[str, tuple[str, Callable[[PlainValue], Row]]] = {
    "op": ("opName", lambda item: (item.made.op_name,)),
    "line": ("sourceFile sourceLine", lambda item: item.made.source),
    "opcode": ("opcode", lambda item: (item.made.opcode,)),
    "scope": ("scope", lambda item: (scope(item.made.op_name, 3),)),
    "dtype": ("dtype", lambda item: (item.dtype,)),
    "shape": ("shape", lambda item: (item.shape,)),
}
for _name, (_columns, _group) in GROUPS.items():
    answers(
        f"peak/by-{_name}", f"{_columns} values physicalBytes sizeBytes", largest="physicalBytes"
    )(lambda dump, memory_space, group=_group: _grouped(dump.shares(memory_space), group))


@answers("peak/timeline", "step instruction opcode logicalBytes physicalBytes", largest=None)
def _timeline(dump: PlainDump) -> Rows:
    here = [item for item in dump.values if item.allocation.color == 0]
    held = held_bytes(here)
    sizes: Counter[int] = Counter()
    for item in here:
        sizes.update(dict.fromkeys(item.steps, item.size))
    for step, name in enumerate(dump.schedule):
        yield step, name, dump.text(name).opcode, sizes[step], held.get(step, 0)


@answers("peak/printed", "value printedBytes sizeBytes liveAtPhysicalPeak")
def _printed(dump: PlainDump, memory_space: int) -> Rows:
    listed: dict[PlainValue, int] = {}
    peak = dump.plan.live_ranges and dump.plan.live_ranges.peak
    for entry in peak.entries if peak else ():
        for item in sorted(dump.values, key=lambda item: item.value_id):
            index = item.shape_index or "{}"
            # Without indices the k-th mention is the k-th value live then.
            is_meant = (
                peak and peak.step in item.steps
                if entry.shape_index is None
                else (entry.shape_index == index)
            )
            if item.name == entry.name and item not in listed and is_meant:
                listed[item] = entry.bytes
                break
    shares = dump.shares(memory_space)
    for item in dump.values:
        if item.allocation.color == memory_space and (item in listed or item in shares):
            yield item.label, listed.get(item), item.size, item in shares


@answers(
    "alias/in-place", "earlier later allocation sharedBytes step instruction", largest="sharedBytes"
)
def _in_place(dump: PlainDump) -> Rows:
    for earlier, later, shared in _takeovers(dump, in_place=True):
        number = later.allocation.number
        yield earlier.label, later.label, number, shared, later.first, later.name


@answers(
    "reuse/pairs",
    "earlier later allocation sharedBytes freedAt reusedAt gapSteps",
    largest="sharedBytes",
)
def _pairs(dump: PlainDump) -> Rows:
    for earlier, later, shared in _takeovers(dump, in_place=False):
        gap = later.place[0] - earlier.place[1]
        number = later.allocation.number
        yield earlier.label, later.label, number, shared, earlier.last, later.first, gap


def _takeovers(dump: PlainDump, *, in_place: bool) -> Iterator[tuple[PlainValue, PlainValue, int]]:
    for one in takeovers(dump.values):
        if one.in_place == in_place:
            yield one.earlier, one.later, one.shared


@answers("alias/chain", "position value liveFrom liveUntil instruction", largest=None)
def _alias_chain(dump: PlainDump, value: str) -> Rows:
    one = called(dump, value)
    members = alias_sets(dump.values)[one]
    ordered = sorted(members, key=lambda item: item.place) if one.steps else [one]
    for position, item in enumerate(ordered):
        yield position, item.label, item.first, item.last, item.name


@answers("reuse/chain", "value sharedBytes liveFrom liveUntil inPlace", largest=None)
def _reuse_chain(dump: PlainDump, value: str) -> Rows:
    one = called(dump, value)
    if not one.steps:
        return
    joined = alias_sets(dump.values)[one]
    for item in sorted((item for item in dump.values if item.steps), key=lambda item: item.place):
        common = set(item.segments) & set(one.segments)
        if item.place > one.place and any(first < past for _, first, past in common):
            shared = sum(past - first for _, first, past in common)
            yield item.label, shared, item.first, item.last, item in joined


@answers("alias/names", "name shapeIndex opcode", largest=None)
def _names(dump: PlainDump, value: str) -> Rows:
    rows = []
    for name, index in called(dump, value).positions:
        step = dump.steps.get(name, len(dump.steps))
        rows.append((step, index or "~", name, (name, index, dump.text(name).opcode)))
    return [row[3] for row in sorted(rows)]


def called(dump: PlainDump, label: str) -> PlainValue:
    """Look a value up by its label."""
    (one,) = (item for item in dump.values if item.label == label)
    return one


@answers(
    "alias/not-donated",
    "parameterNumber shapeIndex shape sizeBytes lastUse candidateOutputs freeOutputs",
)
def _not_donated(dump: PlainDump) -> Rows:
    outputs = [
        item
        for item in dump.values
        if item.allocation.maybe_live_out
        and item.allocation.parameter is None
        and dump.live_to_the_end(item)
        and item.is_array
    ]
    for one in _inputs(dump, donated=False):
        alike = [item for item in outputs if item.shape == one.shape]
        free = [item for item in alike if item.place[0] >= (one.last_use or 0)]
        entry = one.allocation.parameter
        if alike and entry:
            place = (entry.number, entry.shape_index)
            yield *place, one.shape, one.size, one.last_use, len(alike), len(free)


@answers("alias/donated", "parameterNumber shapeIndex shape sizeBytes output inPlace")
def _donated(dump: PlainDump) -> Rows:
    joined = alias_sets(dump.values)
    for one in _inputs(dump, donated=True):
        entry = one.allocation.parameter
        assert entry is not None
        place = (entry.number, entry.shape_index, one.shape, one.size)
        outputs = [
            item
            for item in dump.values
            if item.allocation is one.allocation and item is not one and dump.live_to_the_end(item)
        ]
        yield from ((*place, item.label, item in joined[one]) for item in outputs)
        if not outputs:
            yield *place, None, None


def _inputs(dump: PlainDump, *, donated: bool) -> Iterator[PlainValue]:
    for allocation in dump.plan.allocations:
        if allocation.parameter is not None and allocation.maybe_live_out == donated:
            held = [item for item in dump.values if item.allocation is allocation]
            if held:
                yield min(held, key=lambda item: (item.first or 0, item.value_id))


@answers("alias/copies", "value sizeBytes copied copiedFrom usedBy users originalLive")
def _copies(dump: PlainDump) -> Rows:
    for one in dump.values:
        if one.made.opcode != "copy" and (one.made.opcode, one.shape_index) != (
            "copy-start",
            "{0}",
        ):
            continue
        copied = [
            item
            for item in dump.values
            for use in item.uses
            if use.instruction == one.name and use.operand_index in (None, "{}")
        ]
        steps = {dump.steps[name]: name for name in one.users if name in dump.steps}
        used_by = steps[min(steps)] if steps else None
        for item in copied or [None]:
            live = item and item.steps and one.steps and item.place[1] > one.place[0]
            yield (
                *(one.label, one.size, item and item.label, item and item.name),
                *(used_by, len(one.users), live if item and item.steps and one.steps else None),
            )


@answers("reuse/slot", "value offsetBytes sizeBytes liveFrom liveUntil", largest=None)
def _slot(dump: PlainDump, allocation: int, offset_bytes: int) -> Rows:
    here = [
        item
        for item in dump.values
        if item.allocation.number == allocation
        and item.offset <= offset_bytes < item.offset + item.size
    ]
    for item in sorted(
        here, key=lambda item: item.place if item.steps else (1 << 40, 0, item.value_id)
    ):
        yield item.label, item.offset, item.size, item.first, item.last


@answers("reuse/never", "value sizeBytes")
def _never(dump: PlainDump) -> Rows:
    involved = {item for one in takeovers(dump.values) for item in (one.earlier, one.later)}
    for item in dump.values:
        is_temporary = role(item.allocation) == "temp" and item.steps and item.size > 0
        if is_temporary and item not in involved:
            yield item.label, item.size


@answers(
    "reuse/fragmentation",
    "allocation sizeBytes physicalPeakBytes unusedBytes unusedShare largestHoleBytes",
    largest="unusedBytes",
)
def _fragmentation(dump: PlainDump) -> Rows:
    for allocation in dump.plan.allocations:
        if role(allocation) != "temp":
            continue
        number, size = allocation.number, allocation.size_bytes
        if dump.end is None:
            yield number, size, None, None, None, None
            continue
        here = [item for item in dump.values if item.allocation is allocation]
        held = held_bytes(here)
        peak = max(held.values(), default=0)
        step = peak_step(held)
        edges = {0, size}
        taken = [item for item in here if step in item.steps and item.size]
        for item in taken:
            edges |= {item.offset, item.offset + item.size}
        hole = longest = 0
        places = sorted(edges)
        for first, past in pairwise(places):
            covered = any(item.offset <= first < item.offset + item.size for item in taken)
            hole = 0 if covered else hole + past - first
            longest = max(longest, hole)
        yield number, size, peak, size - peak, (size - peak) / size if size else None, longest


@answers("reuse/same-shape", "shape values liveAtPeak sizeBytes totalBytes", largest="totalBytes")
def _same_shape(dump: PlainDump, memory_space: int) -> Rows:
    shares = dump.shares(memory_space)
    groups: dict[str, list[PlainValue]] = defaultdict(list)
    for item in dump.values:
        is_here = item.allocation.color == memory_space and item.is_array
        if is_here and role(item.allocation) != "threadLocal":
            groups[item.shape].append(item)
    for shape, members in groups.items():
        if len(members) > 1:
            live = [item for item in members if item in shares]
            size = max(item.size for item in members)
            known = dump.end is not None
            yield (
                *(shape, len(members), len(live) if known else None, size),
                sum(item.size for item in live) if known else None,
            )
