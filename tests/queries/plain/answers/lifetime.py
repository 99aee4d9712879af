"""What the queries of theme lifetime must answer."""

from tests.queries.plain.answer import Rows, largest_first
from tests.queries.plain.plan import PlainDump, held_bytes, peak_step


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


@largest_first("physicalBytes", "value sizeBytes physicalBytes liveFrom liveUntil neededAt")
def kept_for_backward(dump: PlainDump, memory_space: int) -> Rows:
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


@largest_first("sizeBytes", "value sizeBytes liveFrom liveUntil memorySpace")
def live_at(dump: PlainDump, instruction: str = "", step: int = -1) -> Rows:
    if step < 0 and instruction:
        step = dump.steps[instruction]
    elif step < 0:
        step = peak_step(held_bytes([item for item in dump.values if item.allocation.color == 0]))
    for item in dump.values:
        if step in item.steps:
            yield item.label, item.size, item.first, item.last, item.allocation.color


@largest_first("sizeBytes", "value sizeBytes lastUse liveUntil idleSteps")
def late_free(dump: PlainDump) -> Rows:
    for item in dump.values:
        if item.last is None or item.last_use is None or dump.live_to_the_end(item):
            continue
        if item.last_use < item.last:
            yield item.label, item.size, item.last_use, item.last, item.last - item.last_use


@largest_first("sizeBytes", "value sizeBytes instruction step")
def last_users(dump: PlainDump) -> Rows:
    for item in dump.values:
        last = None if item.last_use is None else dump.schedule[item.last_use]
        yield item.label, item.size, last, item.last_use


def is_backward(op_name: str | None) -> bool:
    """Tell whether JAX or TensorFlow made it to compute a gradient."""
    return any(mark in (op_name or "") for mark in ("transpose(", "gradient_tape/", "gradients/"))
