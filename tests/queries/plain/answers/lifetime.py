"""Expected rows of the queries of theme lifetime."""

from tests.queries.plain.answer import Rows, in_any_order, largest_first
from tests.queries.plain.measures import held_bytes, peak_step
from tests.queries.plain.plan import PlainDump


@largest_first("byteSteps", "value sizeBytes liveFrom liveUntil steps byteSteps")
def longest(dump: PlainDump) -> Rows:
    for value in dump.values:
        if value.steps:
            steps = len(value.steps)
            yield value.label, value.size, value.first, value.last, steps, value.size * steps


@largest_first("sizeBytes", "value sizeBytes liveFrom liveUntil")
def across(dump: PlainDump, instruction: str = "", step: int = -1) -> Rows:
    if step < 0 and instruction:
        step = dump.steps[instruction]
    elif step < 0:
        backward = (
            place
            for place, name in enumerate(dump.schedule)
            if is_backward(dump.text(name).op_name or "")
        )
        step = next(backward, -1)
    for value in dump.values:
        if step >= 0 and step - 1 in value.steps and step + 1 in value.steps:
            yield value.label, value.size, value.first, value.last


def is_recomputed(op_name: str) -> bool:
    """Return True if a checkpoint recomputes it."""
    return "rematted_computation" in op_name or "recompute_grad" in op_name


@largest_first(
    "physicalBytes",
    "value sizeBytes physicalBytes liveFrom liveUntil neededAt recomputed ofCheckpoint",
)
def kept_for_backward(dump: PlainDump, memory_space: int) -> Rows:
    here = [value for value in dump.values if value.allocation.memory_space == memory_space]
    peak = peak_step(held_bytes(here))
    for value, share in dump.shares(memory_space).items():
        leaves = dump.live_to_the_end(value) or value.allocation.parameter is not None
        if leaves or share == 0 or value.made.opcode in (None, "constant"):
            continue
        op_name = dump.attribution(value).op_name
        if op_name is None or (is_backward(op_name) and not is_recomputed(op_name)):
            continue
        readers = [(name, op) for name in value.users for op in _ops_of(dump, name)]
        needed = [
            dump.steps[name]
            for name, op in readers
            if dump.steps.get(name, -1) > peak and is_backward(op) and not is_recomputed(op)
        ]
        again = is_recomputed(op_name)
        if needed and (again or not any(is_recomputed(op) for _, op in readers)):
            inside = any(is_backward(op) and "/checkpoint/" in op for _, op in readers)
            row = (value.label, value.size, share, value.first, value.last, min(needed))
            yield *row, again, inside


def _ops_of(dump: PlainDump, instruction: str) -> set[str]:
    """Return the ops of an instruction, or else those of its values."""
    if op_name := dump.text(instruction).op_name:
        return {op_name}
    made = (value for value in dump.values if value.name == instruction)
    return {dump.attribution(value).op_name or "" for value in made}


@in_any_order("value sizeBytes physicalBytes liveFrom neededAt liveUntil")
def recomputed(dump: PlainDump, memory_space: int) -> Rows:
    for value in dump.values:
        if value.allocation.memory_space != memory_space:
            continue
        attribution = dump.attribution(value)
        if attribution.op_name is None or attribution.rule == "reader" or not value.is_array:
            continue
        if is_recomputed(attribution.op_name) and value.made.opcode not in (
            "parameter",
            "constant",
        ):
            readers = [
                (dump.steps[name], op)
                for name in value.users
                if name in dump.steps
                for op in _ops_of(dump, name) or {""}
                if not is_recomputed(op)
            ]
            backward = [step for step, op in readers if is_backward(op)]
            first = min(backward or [step for step, _ in readers], default=None)
            yield value.label, value.size, dump.share(value), value.first, first, value.last


@largest_first(
    "sizeBytes", "value sizeBytes liveFrom liveUntil memorySpace stepLogicalBytes stepPhysicalBytes"
)
def live_at(dump: PlainDump, instruction: str = "", step: int = -1) -> Rows:
    if step < 0 and instruction:
        step = dump.steps[instruction]
    elif step < 0:
        step = peak_step(
            held_bytes([value for value in dump.values if value.allocation.memory_space == 0])
        )
    here = [value for value in dump.values if value.allocation.memory_space == 0]
    sums: tuple[int | None, int | None] = (None, None)
    if step < len(dump.schedule):
        sizes = sum(value.size for value in here if step in value.steps)
        sums = (sizes, held_bytes(here).get(step, 0))
    for value in dump.values:
        if step in value.steps:
            yield (
                value.label,
                value.size,
                value.first,
                value.last,
                value.allocation.memory_space,
                *sums,
            )


@largest_first("sizeBytes", "value sizeBytes lastUse liveUntil idleSteps")
def late_free(dump: PlainDump) -> Rows:
    states = {one.earlier for one in dump.takeovers if one.in_place and one.later.is_phi}
    for value in dump.values:
        if value.last is None or value.last_use is None or dump.live_to_the_end(value):
            continue
        if value in states:
            continue
        if value.last_use < value.last:
            yield value.label, value.size, value.last_use, value.last, value.last - value.last_use


@largest_first("sizeBytes", "value sizeBytes instruction step")
def last_users(dump: PlainDump) -> Rows:
    for value in dump.values:
        last = None if value.last_use is None else dump.schedule[value.last_use]
        yield value.label, value.size, last, value.last_use


def is_backward(op_name: str | None) -> bool:
    """Return True if JAX or TensorFlow made it to compute a gradient."""
    return any(mark in (op_name or "") for mark in ("transpose(", "gradient_tape/", "gradients/"))
