"""Expected rows of the queries of theme alias."""

from collections.abc import Iterator

from tests.queries.plain.answer import Rows, in_order, largest_first
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import PlainValue


@largest_first("sharedBytes", "earlier later allocation sharedBytes step instruction")
def in_place(dump: PlainDump) -> Rows:
    for one in dump.takeovers:
        if one.in_place:
            earlier, later = one.earlier, one.later
            number = later.allocation.number
            yield earlier.label, later.label, number, one.shared, later.first, later.name


@in_order("position value liveFrom liveUntil instruction")
def chain(dump: PlainDump, value: str) -> Rows:
    one = dump.value(value)
    members = dump.alias_sets[one]
    ordered = sorted(members, key=lambda member: member.place) if one.steps else [one]
    for position, member in enumerate(ordered):
        yield position, member.label, member.first, member.last, member.name


@in_order("name shapeIndex opcode")
def names(dump: PlainDump, value: str) -> Rows:
    rows = []
    for name, index in dump.value(value).positions:
        step = dump.steps.get(name, len(dump.steps))
        rows.append((step, index or "~", name, (name, index, dump.text(name).opcode)))
    return [row[3] for row in sorted(rows)]


@largest_first(
    "sizeBytes",
    "parameterNumber shapeIndex shape sizeBytes lastUse candidateOutputs freeOutputs savedBytes",
)
def not_donated(dump: PlainDump) -> Rows:
    outputs = [
        output
        for output in dump.values
        if output.allocation.maybe_live_out
        and output.allocation.parameter is None
        and dump.live_to_the_end(output)
        and output.is_array
    ]
    for one in _inputs(dump, donated=False):
        alike = [output for output in outputs if output.shape == one.shape]
        free = [output for output in alike if output.place[0] >= (one.last_use or 0)]
        entry = one.allocation.parameter
        if alike and entry:
            place = (entry.number, entry.shape_index)
            saved = _saved_by_donating(dump, one, free)
            yield *place, one.shape, one.size, one.last_use, len(alike), len(free), saved


def _saved_by_donating(dump: PlainDump, one: PlainValue, outputs: list[PlainValue]) -> int:
    """Return its size less the other bytes in the buffers of its outputs, on average."""
    here = [
        output
        for output in outputs
        if output.allocation.memory_space == one.allocation.memory_space
    ]
    joined = dump.alias_sets
    held = [
        sum(
            dump.share(other) or 0
            for other in dump.values
            if other.allocation is output.allocation and other not in joined[output]
        )
        for output in here
    ]
    return max(0, one.size - sum(held) // len(held)) if held else 0


@largest_first("sizeBytes", "parameterNumber shapeIndex shape sizeBytes outcome output inPlace")
def donated(dump: PlainDump) -> Rows:
    joined = dump.alias_sets
    for one in _inputs(dump, donated=True):
        entry = one.allocation.parameter
        assert entry is not None
        place = (entry.number, entry.shape_index, one.shape, one.size)
        outputs = [
            output
            for output in dump.values
            if output.allocation is one.allocation
            and output is not one
            and dump.live_to_the_end(output)
        ]
        for output in outputs:
            same = output in joined[one]
            yield *place, _outcome(dump, one, in_place=same), output.label, same
        if not outputs:
            yield *place, _outcome(dump, one, in_place=True), None, None


def _outcome(dump: PlainDump, one: PlainValue, *, in_place: bool) -> str:
    """Return the outcome of a donated input, given that its output overwrites it or not."""
    if not one.allocation.maybe_live_out:
        return "never used"
    after = [
        value
        for value in dump.values
        if value.allocation is one.allocation and value is not one and value.steps
        if one.steps and value.place[0] >= one.place[1]
    ]
    first = min((value.place[0] for value in after), default=None)
    kept = [value for value in _copies_of(dump, one) if value.printed_shape == one.printed_shape]
    brought = [value for value in after if value.place[0] == first and value.made.opcode == "copy"]
    return "copied first" if (kept or brought) and not in_place else "in place"


def _copies_of(dump: PlainDump, one: PlainValue) -> list[PlainValue]:
    return [
        value for value in dump.values if value.name in one.users and value.made.opcode == "copy"
    ]


COMPUTES_NOTHING = (
    *("copy", "copy-start", "copy-done", "tuple", "get-tuple-element", "bitcast"),
    *("while", "call", "conditional"),
)


def _forced_by(dump: PlainDump, copy: PlainValue, original: PlainValue | None) -> str | None:
    """Name the last instruction that computes with the old value."""
    if not copy.steps:
        return None
    old = copy
    if original is not None and original.steps and original.place[1] > copy.place[0]:
        old = original
    readers = {
        dump.steps[name]: name
        for name in old.users
        if name in dump.steps and dump.steps[name] > copy.place[0]
        if dump.text(name).opcode not in COMPUTES_NOTHING
    }
    return readers[max(readers)] if readers else None


@largest_first("sizeBytes", "value sizeBytes copied copiedFrom usedBy users originalLive forcedBy")
def copies(dump: PlainDump) -> Rows:
    for one in dump.values:
        if one.made.opcode != "copy" and (one.made.opcode, one.shape_index) != (
            "copy-start",
            "{0}",
        ):
            continue
        copied = [
            value
            for value in dump.values
            for use in value.uses
            if use.instruction == one.name and use.operand_index in (None, "{}")
        ]
        steps = {dump.steps[name]: name for name in one.users if name in dump.steps}
        used_by = steps[min(steps)] if steps else None
        for value in copied:
            live = value.place[1] > one.place[0] if value.steps and one.steps else None
            forced = _forced_by(dump, one, value)
            yield (
                one.label,
                one.size,
                value.label,
                value.name,
                used_by,
                len(one.users),
                live,
                forced,
            )
        if not copied:
            forced = _forced_by(dump, one, None)
            yield one.label, one.size, None, None, used_by, len(one.users), None, forced


def _inputs(dump: PlainDump, *, donated: bool) -> Iterator[PlainValue]:
    for allocation in dump.plan.allocations:
        entry = allocation.parameter
        if entry is None:
            continue
        given_up = (entry.number, entry.shape_index or "{}") in dump.module.donated
        if (allocation.maybe_live_out or given_up) if donated else not allocation.maybe_live_out:
            held = [value for value in dump.values if value.allocation is allocation]
            if held:
                yield min(held, key=lambda value: (value.first or 0, value.value_id))
