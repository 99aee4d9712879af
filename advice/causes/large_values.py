"""Find values at the peak that wait to be read, and the line that takes most of the peak."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.recomputing import Move
from xlagraph.queries.catalogue.declarations import ChangeKind

_LEAST_IDLE: Final = 0.1
"""Least share of the peak for an idle value."""
_LEAST_WAIT: Final = 0.1
"""Least share of the schedule between the write and the first read of an idle value."""
_LEAST_OF_LINE: Final = 0.4
"""Least share of the peak for which a line is reported only because it is large."""
_LIKELIHOOD_OF_LINE: Final = 0.2
"""Part of a line's bytes that are expected to be saved: a large line need not be reducible."""
_UPDATING: Final = ("dynamic-update-slice", "scatter", "while")
"""Opcodes of instructions that change a part of a state, which cannot be computed in parts."""
_HANDED_ON: Final = frozenset(
    (
        "parameter", "constant", "while", "conditional", "call", "get-tuple-element", "tuple",
        "copy", "copy-start", "slice-start", "async-start",
    )
)  # fmt: skip
_IDLE: Final[Remedies] = {
    "jax": "Compute it just before it is read: move the line, and tie one of its inputs to the"
    " previous step with x, prev = jax.lax.optimization_barrier((x, prev)); or wrap it in"
    " jax.checkpoint to recompute it; or keep it on the host meanwhile (jax.device_put).",
    "tensorflow": "Compute it just before it is read: move the line and order it with"
    " tf.control_dependencies, or wrap it in tf.recompute_grad.",
    "pytorch": "Compute it just before it is read: move the line, and, if it may run"
    " separately, cut the graph before it with torch_xla.sync() (xm.mark_step()).",
}
_LARGE: Final[Remedies] = {
    "jax": "Compute it in parts and reduce each part immediately: jax.lax.map(f, xs,"
    " batch_size=...) or jax.lax.scan; write a sum of products as jnp.einsum or a matrix product,"
    " so that the product is never stored; or split the batch.",
    "tensorflow": "Compute it in parts (tf.map_fn, tf.while_loop) and reduce each part"
    " immediately; use tf.einsum instead of a product and a sum; or split the batch.",
    "pytorch": "Compute it in parts and reduce each part immediately; use torch.einsum instead"
    " of a product and a sum; or split the batch.",
}


def idle_values(program: PeakProgram) -> Iterator[Cause]:
    """Yield values written before the peak that nothing reads until after it."""
    peak = program.peak_step
    if peak is None:
        return
    least = _LEAST_IDLE * program.temp_bytes_at_peak
    steps = program.stored.totals.schedule_length or 0
    found: list[tuple[StoredValue, int]] = []
    for value in program.at_peak:
        if value.size_bytes < least or value.live_from is None or value.live_from >= peak:
            continue
        reads = program.read_steps.get(value.value_id, [])
        if not reads or reads[0] <= peak or value.opcode in _HANDED_ON or value.is_phi:
            continue
        if reads[0] - value.live_from < _LEAST_WAIT * steps:
            continue
        if not program.is_alone(value) or _is_of_backward_pass(program, value):
            continue
        together = program.made_by.get(value.name, ())
        if any(min(program.read_steps.get(each.value_id, [peak + 1])) <= peak for each in together):
            continue  # one fusion computes it with what is needed earlier
        if program.is_copy_of_input(value.label):
            continue  # the compiler changes the layout
        found.append((value, reads[0]))
    if found:
        rows = tuple(
            evidence_row(
                value,
                f"written at step {value.live_from}, first read at {read}; the peak is at {peak}",
            )
            for value, read in found
        )
        yield Cause(
            "lifetime/longest",
            "A value is computed long before it is read, and is live at the peak",
            ChangeKind.MOVE,
            Move(tuple(value.label for value, _ in found)),
            rows,
            _IDLE,
            likelihood=0.0 if program.compilation.platform == "cpu" else None,
        )


def largest_line(program: PeakProgram, explained: Collection[str]) -> Iterator[Cause]:
    """Yield the line or op that takes most of the peak, unless other findings explain it."""
    groups: defaultdict[str, list[StoredValue]] = defaultdict(list)
    for value in program.at_peak:
        line = file_and_line(value.user_file, value.user_line)
        groups[line or value.attributed_op_name or value.label].append(value)
    if not groups:
        return
    where, found = max(groups.items(), key=lambda group: _bytes(group[1]))
    held = _bytes(found)
    reserved = program.compilation.reserved_bytes.get(program.memory_space, 0)
    if held < _LEAST_OF_LINE * reserved:
        return
    sets = {program.set_of(program.by_label.get(label)) for label in explained}
    if _bytes([value for value in found if program.set_of(value) in sets]) * 2 > held:
        return
    share = held / reserved
    title = "One value takes" if len(found) == 1 else "One line takes"
    yield Cause(
        "peak/by-line" if found[0].user_file else "peak/by-op",
        f"{title} {share:.0%} of reserved memory",
        None,
        None,
        tuple(evidence_row(value, f"computed by {where}") for value in found),
        {} if any(_is_state(program, value) for value in found) else _LARGE,
        "this is where the memory is, and no cause was found",
        likelihood=_LIKELIHOOD_OF_LINE,
    )


def _is_state(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a state of which an instruction changes a part."""
    return any(program.computes_with(value.name, opcode) for opcode in _UPDATING)


def _is_of_backward_pass(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if the backward pass computes a value, which no line can move, or reads it first.

    A value that the forward pass has yet to read, such as the inputs of a later minibatch that one
    fusion computes for all, is early, although the backward pass reads it too.
    """
    if value.is_backward:
        return True
    readers = program.compilation.readers.get(value.value_id, ())
    backward = {name for each in readers if (name := _backward_name(program, each))}
    first = program.read_steps[value.value_id][0]
    names = program.readers_of.get(value.value_id, ())
    return bool(backward) and not any(
        program.instructions[name].step == first for name in names if name not in backward
    )


def _backward_name(program: PeakProgram, value_id: int) -> str | None:
    reader = program.values[value_id]
    return reader.name if reader.is_backward else None


def _bytes(found: Sequence[StoredValue]) -> int:
    return sum(value.size_bytes for value in found)
