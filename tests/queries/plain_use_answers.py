"""What queries of themes lifetime, waste and flow must answer, as in `plain_answers`."""

from collections import defaultdict
from collections.abc import Callable

from plain_answers import Rows, answers, called
from plain_plan import PlainDump, PlainValue, held_bytes, peak_step, role, takeovers


@answers(
    "lifetime/longest", "value sizeBytes liveFrom liveUntil steps byteSteps", largest="byteSteps"
)
def _longest(dump: PlainDump) -> Rows:
    for item in dump.values:
        if item.steps:
            steps = len(item.steps)
            yield item.label, item.size, item.first, item.last, steps, item.size * steps


@answers("lifetime/across", "value sizeBytes liveFrom liveUntil")
def _across(dump: PlainDump, instruction: str = "", step: int = -1) -> Rows:
    if step < 0 and instruction:
        step = dump.steps[instruction]
    elif step < 0:
        backward = (
            place
            for place, name in enumerate(dump.schedule)
            if "transpose(" in (dump.text(name).op_name or "")
        )
        step = next(backward, -1)
    for item in dump.values:
        if step >= 0 and step - 1 in item.steps and step + 1 in item.steps:
            yield item.label, item.size, item.first, item.last


def is_backward(op_name: str | None) -> bool:
    """Tell whether JAX or TensorFlow made it to compute a gradient."""
    return any(mark in (op_name or "") for mark in ("transpose(", "gradient_tape/", "gradients/"))


@answers(
    "lifetime/kept-for-backward",
    "value sizeBytes physicalBytes liveFrom liveUntil neededAt",
    largest="physicalBytes",
)
def _kept_for_backward(dump: PlainDump, memory_space: int) -> Rows:
    here = [item for item in dump.values if item.allocation.color == memory_space]
    peak = peak_step(held_bytes(here))
    for item, share in dump.shares(memory_space).items():
        leaves = dump.live_to_the_end(item) or item.allocation.parameter is not None
        if leaves or share == 0 or item.made.opcode in (None, "constant"):
            continue
        if item.made.op_name is None or is_backward(item.made.op_name):
            continue
        readers = {name: dump.text(name).op_name or "" for name in item.users}
        needed = [
            dump.steps[name]
            for name, op_name in readers.items()
            if dump.steps.get(name, -1) > peak and is_backward(op_name)
        ]
        if needed and not any("rematted_computation" in op_name for op_name in readers.values()):
            yield item.label, item.size, share, item.first, item.last, min(needed)


@answers("lifetime/live-at", "value sizeBytes liveFrom liveUntil memorySpace")
def _live_at(dump: PlainDump, instruction: str = "", step: int = -1) -> Rows:
    if step < 0 and instruction:
        step = dump.steps[instruction]
    elif step < 0:
        step = peak_step(held_bytes([item for item in dump.values if item.allocation.color == 0]))
    for item in dump.values:
        if step in item.steps:
            yield item.label, item.size, item.first, item.last, item.allocation.color


@answers("lifetime/late-free", "value sizeBytes lastUse liveUntil idleSteps")
def _late_free(dump: PlainDump) -> Rows:
    for item in dump.values:
        if item.last is None or item.last_use is None or dump.live_to_the_end(item):
            continue
        if item.last_use < item.last:
            yield item.label, item.size, item.last_use, item.last, item.last - item.last_use


@answers("lifetime/last-users", "value sizeBytes instruction step")
def _last_users(dump: PlainDump) -> Rows:
    for item in dump.values:
        last = None if item.last_use is None else dump.schedule[item.last_use]
        yield item.label, item.size, last, item.last_use


@answers(
    "waste/padding",
    "value shape denseBytes sizeBytes paddingBytes ratio",
    largest="paddingBytes",
)
def _padding(dump: PlainDump) -> Rows:
    for item in dump.values:
        if item.dense is not None and item.size > item.dense:
            ratio = item.size / item.dense if item.dense else None
            yield item.label, item.shape, item.dense, item.size, item.size - item.dense, ratio


@answers("waste/scratch", "value sizeBytes instruction target")
def _scratch(dump: PlainDump) -> Rows:
    reading = {user for item in dump.values for user in item.users}
    for item in dump.values:
        is_result = item.made.opcode == "custom-call" and item.shape_index and item.is_array
        leaves = dump.live_to_the_end(item) if item.steps else item.allocation.maybe_live_out
        is_unread = not item.uses and not leaves
        if is_result and is_unread and item.name in reading:
            yield item.label, item.size, item.name, item.made.target


LIBRARY_OR_CONTROL = frozenset(
    (
        *("custom-call", "while", "conditional", "call", "sort", "fft", "cholesky"),
        *("triangular-solve", "all-reduce", "all-gather", "all-to-all", "reduce-scatter"),
        *("collective-permute", "collective-broadcast", "ragged-all-to-all"),
    )
)
NEVER_FUSED = LIBRARY_OR_CONTROL | frozenset(
    ["scatter", "rng-bit-generator", "infeed", "recv", "parameter", "constant"]
)
NEVER_FUSING = LIBRARY_OR_CONTROL | frozenset(["outfeed", "send"])


def is_async(opcode: str) -> bool:
    """Tell whether it is one half of a pair."""
    return opcode.endswith(("-start", "-done"))


@answers("waste/single-use", "value sizeBytes producer consumer")
def _single_use(dump: PlainDump) -> Rows:
    making = {item.name for item in dump.values}
    carried = {one.earlier for one in takeovers(dump.values) if one.in_place and one.later.is_phi}
    for item in dump.values:
        opcode = item.made.opcode
        passes = bool(item.steps) and not dump.live_to_the_end(item)
        is_temporary = (role(item.allocation) == "temp" or passes) and item.size > 0
        if not is_temporary or not item.is_array or item.is_phi or item in carried:
            continue
        if opcode in NEVER_FUSED or is_async(opcode or ""):
            continue
        readers = [
            name for name in item.users if name in making and dump.text(name).opcode != "tuple"
        ]
        if len(readers) == 1 and opcode is not None:
            reading = dump.text(readers[0]).opcode
            if reading is not None and reading not in NEVER_FUSING and not is_async(reading):
                yield item.label, item.size, item.name, readers[0]


@answers("waste/broadcasts", "value sizeBytes")
def _broadcasts(dump: PlainDump) -> Rows:
    for item in dump.values:
        made = dump.root(item.name) if item.made.opcode == "fusion" else item.made.opcode
        if made in ("constant", "iota", "broadcast") and item.size > 0:
            yield item.label, item.size


@answers("waste/wide-types", "value dtype sizeBytes")
def _wide_types(dump: PlainDump) -> Rows:
    for item in dump.values:
        if item.dtype in ("f32", "f64", "s64"):
            yield item.label, item.dtype, item.size


@answers("waste/duplicates", "opName shape copies sizeBytes totalBytes", largest="totalBytes")
def _duplicates(dump: PlainDump, memory_space: int) -> Rows:
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for item, share in dump.shares(memory_space).items():
        if share > 0 and item.is_array and item.made.op_name is not None:
            groups[item.made.op_name, item.shape].append(item.size)
    for group, sizes in groups.items():
        if len(sizes) > 1:
            yield *group, len(sizes), max(sizes), sum(sizes)


@answers("waste/gathered", "value sizeBytes physicalBytes", largest="physicalBytes")
def _gathered(dump: PlainDump, memory_space: int) -> Rows:
    for item, share in dump.shares(memory_space).items():
        made = dump.root(item.name) if item.made.opcode == "fusion" else item.made.opcode
        if made in ("all-gather", "all-gather-start") and item.is_array:
            yield item.label, item.size, share


def _walk(dump: PlainDump, value: str, hops: int, neighbours: Callable[[PlainValue], Rows]) -> Rows:
    one = called(dump, value)
    seen, at = {one}, [one]
    for hop in range(1, hops + 1):
        reached = {item for here in at for item in neighbours(here)} - seen
        at = list(reached)
        seen |= reached
        ordered = sorted(at, key=lambda item: item.label)
        yield from ((hop, item.label, item.name, item.made.opcode) for item in ordered)


@answers("flow/users", "hop value instruction opcode", largest=None)
def _users(dump: PlainDump, value: str, hops: int = 3) -> Rows:
    made: dict[str, list[PlainValue]] = defaultdict(list)
    for item in dump.values:
        made[item.name].append(item)
    return _walk(
        dump, value, hops, lambda item: [other for name in item.users for other in made[name]]
    )


@answers("flow/producers", "hop value instruction opcode", largest=None)
def _producers(dump: PlainDump, value: str, hops: int = 3) -> Rows:
    read: dict[str, list[PlainValue]] = defaultdict(list)
    for item in dump.values:
        for name in item.users:
            read[name].append(item)
    return _walk(dump, value, hops, lambda item: read[item.name])
