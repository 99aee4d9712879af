"""What the queries of theme lifetime must answer."""

from tests.queries.plain.answer import Rows, largest_first
from tests.queries.plain.measures import held_bytes, peak_step, takeovers
from tests.queries.plain.plan import PlainDump


@largest_first("byteSteps", "value sizeBytes liveFrom liveUntil steps byteSteps")
def longest(dump: PlainDump) -> Rows:
    for item in dump.values:
        if item.steps:
            steps = len(item.steps)
            yield item.label, item.size, item.first, item.last, steps, item.size * steps


@largest_first("sizeBytes", "value sizeBytes liveFrom liveUntil")
def across(dump: PlainDump, instruction: str = "", step: int = -1) -> Rows:
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


REMATTED = "rematted_computation"


@largest_first(
    "physicalBytes",
    "value sizeBytes physicalBytes liveFrom liveUntil neededAt recomputed ofCheckpoint",
)
def kept_for_backward(dump: PlainDump, memory_space: int) -> Rows:
    here = [item for item in dump.values if item.allocation.color == memory_space]
    peak = peak_step(held_bytes(here))
    for item, share in dump.shares(memory_space).items():
        leaves = dump.live_to_the_end(item) or item.allocation.parameter is not None
        if leaves or share == 0 or item.made.opcode in (None, "constant"):
            continue
        op_name = dump.belonging(item).op_name
        if op_name is None or (is_backward(op_name) and REMATTED not in op_name):
            continue
        readers = [(name, op) for name in item.users for op in _ops_of(dump, name)]
        needed = [
            dump.steps[name]
            for name, op in readers
            if dump.steps.get(name, -1) > peak and is_backward(op) and REMATTED not in op
        ]
        again = REMATTED in op_name
        if needed and (again or not any(REMATTED in op for _, op in readers)):
            inside = any(is_backward(op) and "/checkpoint/" in op for _, op in readers)
            row = (item.label, item.size, share, item.first, item.last, min(needed))
            yield *row, again, inside


def _ops_of(dump: PlainDump, instruction: str) -> set[str]:
    """Name the op of an instruction, else those that its values belong to."""
    if op_name := dump.text(instruction).op_name:
        return {op_name}
    made = (item for item in dump.values if item.name == instruction)
    return {dump.belonging(item).op_name or "" for item in made}


@largest_first("sizeBytes", "value sizeBytes physicalBytes liveFrom neededAt liveUntil")
def recomputed(dump: PlainDump) -> Rows:
    for item in dump.values:
        belongs = dump.belonging(item)
        if belongs.op_name is None or belongs.rule == "reader" or not item.is_array:
            continue
        if REMATTED in belongs.op_name and item.made.opcode not in ("parameter", "constant"):
            needed = [
                dump.steps[name]
                for name in item.users
                if name in dump.steps
                if not all(REMATTED in op for op in _ops_of(dump, name) or {""})
            ]
            first = min(needed, default=None)
            yield item.label, item.size, dump.share(item), item.first, first, item.last


@largest_first(
    "sizeBytes", "value sizeBytes liveFrom liveUntil memorySpace stepLogicalBytes stepPhysicalBytes"
)
def live_at(dump: PlainDump, instruction: str = "", step: int = -1) -> Rows:
    if step < 0 and instruction:
        step = dump.steps[instruction]
    elif step < 0:
        step = peak_step(held_bytes([item for item in dump.values if item.allocation.color == 0]))
    here = [item for item in dump.values if item.allocation.color == 0]
    sums: tuple[int | None, int | None] = (None, None)
    if step < len(dump.schedule):
        sizes = sum(item.size for item in here if step in item.steps)
        sums = (sizes, held_bytes(here).get(step, 0))
    for item in dump.values:
        if step in item.steps:
            yield item.label, item.size, item.first, item.last, item.allocation.color, *sums


@largest_first("sizeBytes", "value sizeBytes lastUse liveUntil idleSteps")
def late_free(dump: PlainDump) -> Rows:
    states = {one.earlier for one in takeovers(dump.values) if one.in_place and one.later.is_phi}
    for item in dump.values:
        if item.last is None or item.last_use is None or dump.live_to_the_end(item):
            continue
        if item in states:
            continue
        if item.last_use < item.last:
            yield item.label, item.size, item.last_use, item.last, item.last - item.last_use


@largest_first("sizeBytes", "value sizeBytes instruction step")
def last_users(dump: PlainDump) -> Rows:
    for item in dump.values:
        last = None if item.last_use is None else dump.schedule[item.last_use]
        yield item.label, item.size, last, item.last_use


def is_backward(op_name: str | None) -> bool:
    """Return whether JAX or TensorFlow made it to compute a gradient."""
    return any(mark in (op_name or "") for mark in ("transpose(", "gradient_tape/", "gradients/"))
