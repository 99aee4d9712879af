"""Expected rows of the queries of theme flow."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from tests.queries.plain.answer import Rows, in_order
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import PlainValue, role

REASONS = {
    **dict.fromkeys(("sort", "topk"), "sort"),
    **dict.fromkeys(("custom-call", "dot", "ragged-dot", "scaled-dot"), "library call"),
    **dict.fromkeys(("convolution", "fft", "cholesky", "triangular-solve"), "library call"),
    **dict.fromkeys(("while", "conditional", "call", "async-start"), "loop boundary"),
    **dict.fromkeys(("copy-start", "copy-done", "send", "outfeed"), "transfer"),
    **dict.fromkeys(("transpose", "bitcast-convert"), "layout change"),
    **dict.fromkeys(("scatter", "select-and-scatter"), "scatter"),
    "pad": "padding",
    "dynamic-update-slice": "update in place",
}
COLLECTIVES = ("all-", "collective-", "reduce-scatter", "ragged-all-to-all")
HAND_ON = ("tuple", "get-tuple-element", "bitcast", "opt-barrier", "add-dependency")


@in_order("hop value instruction opcode")
def users(dump: PlainDump, value: str, hops: int = 3) -> Rows:
    made: dict[str, list[PlainValue]] = defaultdict(list)
    for result in dump.values:
        made[result.name].append(result)
    return _walk(
        dump, value, hops, lambda read: [result for name in read.users for result in made[name]]
    )


@in_order("hop value instruction opcode")
def producers(dump: PlainDump, value: str, hops: int = 3) -> Rows:
    read: dict[str, list[PlainValue]] = defaultdict(list)
    for reader in dump.values:
        for name in reader.users:
            read[name].append(reader)
    return _walk(dump, value, hops, lambda made: read[made.name])


def _walk(
    dump: PlainDump, value: str, hops: int, neighbours: Callable[[PlainValue], Iterable[PlainValue]]
) -> Rows:
    one = dump.value(value)
    seen, at = {one}, [one]
    for hop in range(1, hops + 1):
        reached = {found for here in at for found in neighbours(here)} - seen
        at = list(reached)
        seen |= reached
        ordered = sorted(at, key=lambda found: found.label)
        yield from ((hop, found.label, found.name, found.made.opcode) for found in ordered)


@in_order("value sizeBytes reason reader readerStep readerFile readerLine")
def why(dump: PlainDump, value: str = "", memory_space: int = 0) -> Rows:
    one = dump.value(value) if value else _largest_at_peak(dump, memory_space)
    if one is None:
        return
    scheduled = [name for name in one.users if name in dump.steps or dump.end is None]
    readers = [name for name in scheduled if dump.text(name).opcode not in HAND_ON]
    for name in sorted(readers, key=lambda name: (dump.steps.get(name, 0), name)):
        is_again = len(readers) > 1 and not one.is_phi
        reason = _reason(dump, one, name) or ("several readers" if is_again else None)
        yield one.label, one.size, reason, name, dump.steps.get(name), *_line_of(dump, name)
    reason = _own_reason(dump, one)
    if reason or not readers:
        yield one.label, one.size, reason, None, None, None, None


@in_order(
    "value other overlapFrom overlapUntil overlapBy earlier keptBy keptByStep keptByFile keptByLine"
)
def apart(dump: PlainDump, value: str = "", memory_space: int = 0) -> Rows:
    one = dump.value(value) if value else _last_of_largest_group(dump, memory_space)
    if one is None or not one.steps:
        return
    color = one.allocation.memory_space
    others = [other for other in dump.values if other.shape == one.shape and other is not one]
    rows = []
    for other in others:
        together = sorted({*one.steps} & {*other.steps})
        if together and other.allocation.memory_space == color and _lie_apart(one, other):
            earlier, later = sorted((one, other), key=lambda each: (each.place[0], each.value_id))
            kept = _last_reader(dump, earlier, since=together[0])
            made = (later.name, earlier.label)
            if other.steps[-1] > one.steps[0] or not _is_overwritten(dump, other, beside=one):
                rows.append((one.label, other.label, together[0], together[-1], *made, *kept))
    yield from sorted(rows, key=lambda row: (row[2], row[1]))


def _is_overwritten(dump: PlainDump, value: PlainValue, *, beside: PlainValue) -> bool:
    """Return True if a third value of its shape overwrites it in its last step."""
    return any(
        one.in_place
        and one.earlier == value
        and one.later not in (value, beside)
        and one.later.shape == value.shape
        and one.later.steps[0] == value.steps[-1]
        for one in dump.takeovers
    )


def _last_reader(
    dump: PlainDump, value: PlainValue, *, since: int
) -> tuple[str | None, int | None, str | None, int | None]:
    """Return the last reader with its step and line; all None if it precedes a step."""
    if value.last_use is None or value.last_use < since:
        return None, None, None, None
    name = dump.schedule[value.last_use]
    return name, value.last_use, *_line_of(dump, name)


def _last_of_largest_group(dump: PlainDump, memory_space: int) -> PlainValue | None:
    """Return the last value of the shape with two values and most bytes at the peak."""
    shares = dump.shares(memory_space) if dump.end is not None else {}
    groups: dict[str, list[PlainValue]] = defaultdict(list)
    for value, share in shares.items():
        if share > 0 and value.is_array:
            groups[value.shape].append(value)
    sums = {
        shape: sum(shares[value] for value in members)
        for shape, members in groups.items()
        if len(members) > 1
    }
    if not sums:
        return None
    largest = min(sums, key=lambda shape: (-sums[shape], shape))
    return min(groups[largest], key=lambda value: (-value.place[0], value.label))


def _lie_apart(one: PlainValue, other: PlainValue) -> bool:
    return bool(one.size and other.size) and not {*one.segments} & {*other.segments}


def _largest_at_peak(dump: PlainDump, memory_space: int) -> PlainValue | None:
    shares = dump.shares(memory_space) if dump.end is not None else {}
    return min(shares, key=lambda value: (-shares[value], value.label), default=None)


def _reason(dump: PlainDump, read: PlainValue, reader: str) -> str | None:
    made = [value for value in dump.values if value.name == reader]
    called = dump.called(reader) if dump.opcode(reader) == "fusion" else []
    fused = {
        dump.opcode(name)
        for name, computation in dump.module.computations.items()
        if computation in called
    }
    opcode, target = dump.text(reader).opcode or "", dump.text(reader).target or ""
    if "Sort" in target or "TopK" in target:
        return "sort"
    if opcode == "fusion" and "kind=kCustom" in dump.line(reader):
        return "library call"
    if opcode.startswith(COLLECTIVES):
        return "collective"
    if opcode == "copy":
        if any(value.allocation.memory_space != read.allocation.memory_space for value in made):
            return "transfer"
        alike = any(value.printed_shape == read.printed_shape for value in made)
        return "copy" if alike else "layout change"
    for updating in ("scatter", "dynamic-update-slice"):
        if updating in fused and any(
            one.in_place and one.earlier == read and one.later in made for one in dump.takeovers
        ):
            return REASONS[updating]
    return REASONS.get(opcode)


def _own_reason(dump: PlainDump, value: PlainValue) -> str | None:
    leaves = dump.live_to_the_end(value) if value.steps else value.allocation.parameter is None
    if value.allocation.maybe_live_out and leaves:
        return "result"
    if value.is_phi:
        return "loop boundary"
    if role(value.allocation) == "parameter" and value.made.opcode == "parameter":
        return "input"
    return "constant" if role(value.allocation) == "constant" else None


def _line_of(dump: PlainDump, instruction: str) -> tuple[str | None, int | None]:
    """Return the file and line of the first value that it makes, or else of itself."""
    made = [value for value in dump.values if value.name == instruction]
    if made:
        file, line, _ = dump.attribution(min(made, key=lambda value: value.value_id)).user
        if file is not None:
            return file, line
    return dump.text(instruction).source
