"""Find values of equal parts of a program that are kept until one instruction adds them up.

A Python list of predictions that is stacked to be averaged keeps all of them; a sum needs one at a
time.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from xlagraph.advice.causes.added_gradients import of_equal_parts, op_of_parts
from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.joined_values import is_concatenation
from xlagraph.advice.causes.loop_inputs import MIXING
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.needed_only import readers_of_set
from xlagraph.advice.causes.old_values import is_ordered_before
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.returning import with_their_makers

_LEAST_VALUES: Final = 4
"""Least number of values; fewer are as often the branches of one layer."""
_REDUCTION: Final = 16
"""Least ratio of a value and of what else is computed from it, such as the sums of a softmax."""

_ADDED_VALUES: Final[Remedies] = {
    "jax": "Add each value to a sum as soon as it is made: stack the parameters or inputs of the"
    " parts and use jax.lax.scan over them, with the sum as carry, instead of a Python list that is"
    " stacked, or added up, in the end. Divide the sum for a mean.",
    "tensorflow": "Add each value to a sum as soon as it is made, in a tf.while_loop over parts,"
    " instead of tf.stack and tf.reduce_mean, or tf.add_n.",
    "pytorch": "Add each value to a sum as soon as it is made, with torch_xla.sync()"
    " (xm.mark_step()) after each part, instead of torch.stack(...).mean(0).",
}


def added_values(program: PeakProgram) -> Iterator[Cause]:
    """Yield values of one op that one instruction of the forward pass adds up, elementwise."""
    groups: defaultdict[tuple[str, str, str], list[StoredValue]] = defaultdict(list)
    for value in program.at_peak:
        if value.is_backward or not program.is_alone(value):
            continue
        adding = _added_by(program, value)
        if adding is not None:
            groups[adding, value.shape, op_of_parts(program, value)].append(value)
    found = [
        (adding, values)
        for (adding, _, _), values in groups.items()
        if len(values) >= _LEAST_VALUES
        and of_equal_parts(program, values)
        and _are_independent(program, values)
    ]
    rows = []
    removed: set[int] = set()
    for adding, values in found:
        line = place_name(program, adding)
        is_stack = is_concatenation(program, adding)
        verb = "stacks them for a reduction" if is_stack else "adds them"
        reason = f"one of {len(values)} values of an op, all kept until {line} {verb}"
        rows += [evidence_row(value, reason) for value in values[1:]]
        # what only the parts are computed from exists for one at a time, too
        sets = {program.program.by_id[value.value_id].buffer_set for value in values[1:]}
        removed |= with_their_makers(program.compilation, program.program, sets)
        removed |= {each.value_id for each in program.made_by[adding] if is_stack}
    if rows:
        yield of_removed(
            program.compilation,
            "peak/contributors",
            "Values of equal parts are kept until they are added up",
            [program.values[each].label for each in sorted(removed)],
            rows,
            _ADDED_VALUES,
        )


def _added_by(program: PeakProgram, value: StoredValue) -> str | None:
    """Return what adds a value to others, or stacks it with them for a reduction.

    None if something else of its size is computed from it.
    """
    readers = [
        name
        for name in program.readers_of.get(value.value_id, ())
        if any(
            made.size_bytes * _REDUCTION > value.size_bytes
            for made in program.made_by.get(name, ())
        )
    ]
    if len(readers) != 1:
        return None
    reader, made = program.instructions[readers[0]], program.made_by[readers[0]]
    if reader.loop is not None or len(made) != 1:
        return None
    if is_concatenation(program, reader.name):
        return reader.name if _is_summed(program, made[0], value) else None
    if not reader.computes_with("add") or made[0].size_bytes > value.size_bytes:
        return None
    return None if any(map(reader.computes_with, MIXING)) else reader.name


def _is_summed(program: PeakProgram, stack: StoredValue, part: StoredValue) -> bool:
    """Return True if a stack is only reduced, element by element, to the shape of its parts."""
    readers = readers_of_set(program, stack)
    return (
        bool(readers)
        and program.is_alone(stack)
        and all(
            program.computes_with(name, "reduce") and made.squeezed == part.squeezed
            for name in readers
            for made in program.made_by[name]
        )
    )


def _are_independent(program: PeakProgram, values: Sequence[StoredValue]) -> bool:
    """Return True if the last value is not computed from the first one, as in a chain of layers."""
    schedulable = program.schedulable
    rows = sorted(program.rows[each.name] for each in values if each.name in program.rows)
    return (
        schedulable is not None
        and len(rows) == len(values)
        and not is_ordered_before(schedulable, rows[0], rows[-1])
    )
