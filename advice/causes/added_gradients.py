"""Find gradients of one parameter that are only added to each other, but all kept until then."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.names import input_name, place_name
from xlagraph.advice.causes.old_values import is_ordered_before
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.op_names import is_recomputed, without_numbers
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue

_MOST_GROUPS: Final = 256
"""Groups of values of the parts that are compared, the largest ones."""
_LEAST_ADDED: Final = 3
"""Least number of gradients that one instruction adds; two belong to a residual connection."""

_ADDED_GRADIENTS: Final[Remedies] = {
    "jax": "Add each gradient to a sum as soon as it is made: jax.lax.scan over the parts of the"
    " batch (or over the repeated layers or time steps that share the parameter), with the sum as"
    " carry, instead of a Python loop or comprehension that collects gradients. Wrap the body of a"
    " loop over layers or time steps in jax.checkpoint: its backward pass would stack what it reads"
    " of all of them.",
    "tensorflow": "Add each gradient to a sum as soon as it is made, in a tf.while_loop over the"
    " parts of the batch; where repeated steps share the parameter, run them in a tf.while_loop,"
    " whose gradient does so, and which reads tf.identity(variable) from before the loop.",
    "pytorch": "Accumulate into .grad, one part of the batch after another, with torch_xla.sync()"
    " (xm.mark_step()) in between.",
}


def added_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield gradients of one op that are all kept until one instruction adds them.

    Gradients of equal parts of a program are made of values of the same ops. Those of an outer
    gradient are not: it has one of each use of a parameter, which no loop can make in turn.
    """
    names = _names_of_parameters(program)
    groups: defaultdict[tuple[str, str, str], list[StoredValue]] = defaultdict(list)
    for first in program.temporaries:
        value = _gradient(program, first)
        if value is None or value.dimensions not in names:
            continue
        adding = _added_by(program, value)
        if adding is not None:
            key = adding, value.shape, op_of_parts(program, value)
            groups[key].append(value)
    found = {
        key: each
        for key, each in groups.items()
        if of_equal_parts(program, each) and not _is_multiplied(program, key[0])
    }
    alike = _values_of_equal_ops(program) if found else []
    by_count = grouped((len(each), each) for each in found.values())
    joined = {
        count
        for count, each in by_count.items()
        if _are_joined(program, each[0]) or _cost_less_than_layers(program, each, alike)
    }
    found = {key: each for key, each in found.items() if len(each) not in joined}
    if found:
        rows = []
        for (reader, _, _), values in found.items():
            line = place_name(program, reader)
            reason = (
                f"one of {len(values)} gradients of the shape of {names[values[0].dimensions]},"
                f" all kept until {line} adds them"
            )
            rows += [evidence_row(value, reason) for value in values[1:]]
        # a GPU adds all to the last gradient within its product
        counts = {
            len(values) + program.computes_with(key[0], "dot") for key, values in found.items()
        }
        parts = counts.pop() if len(counts) == 1 else 0
        added = [value for values in found.values() for value in values]
        yield of_removed(
            program.compilation,
            "peak/contributors",
            "Gradients of the same parameter are kept until they are added",
            [
                program.values[each].label
                for values in found.values()
                for value in values[1:]
                for each in _members(program, value)
            ]
            + _of_other_parts(program, parts, [each for each in alike if each[0] not in added]),
            sorted(rows, key=lambda row: -int(str(row["sizeBytes"]))),
            _ADDED_GRADIENTS,
        )


def _names_of_parameters(program: PeakProgram) -> dict[tuple[int, ...], str]:
    """Return the names of inputs by their dimensions, also in reverse order.

    Only those of which the program returns an array of the same shape, a new parameter or its
    gradient: other inputs, such as a batch, have no gradients to be added.
    """
    returned = {
        _lengths(value)
        for each in program.program.values
        if each.lives_out and (value := program.values.get(each.value_id)) is not None
    }
    return {
        lengths: input_name(value)
        for value in reversed(program.compilation.array_parameters)
        if len(value.dimensions) > 1 and _lengths(value) in returned
        for lengths in (value.dimensions, value.dimensions[::-1])
    }


def op_of_parts(program: PeakProgram, value: StoredValue) -> str:
    """Return the op name of a value, which equal parts of a program have in common."""
    name = value.attributed_op_name or ""
    return without_numbers(name) if program.framework == "tensorflow" else name


def _lengths(value: StoredValue) -> tuple[int, ...]:
    return tuple(sorted(value.dimensions))


def _members(program: PeakProgram, value: StoredValue) -> list[int]:
    """Return the values that must share the address of a value, itself included."""
    return [each.value_id for each in program.members_of(value)]


def _gradient(program: PeakProgram, first: StoredValue) -> StoredValue | None:
    """Return a gradient that is alone, or that a loop adds up or stacks in its buffer set."""
    members = [program.values[each] for each in _members(program, first)]
    if len(members) > 1 and not any(each.opcode == "while" for each in members):
        return None
    made = [
        each
        for each in members
        if each.is_backward
        and not is_recomputed(each.attributed_op_name)
        and not program.computes_with(each.name, "pad")  # of a part of the parameter
        and (len(members) == 1 or program.instructions[each.name].loop is not None)
    ]
    return made[0] if made else None


def _added_by(program: PeakProgram, value: StoredValue) -> str | None:
    """Return what adds a gradient to others: in a loop only its results are gradients."""
    members = _members(program, value)
    own = {program.values[each].name for each in members}
    loops = {
        program.values[each].name for each in members if program.values[each].opcode == "while"
    }
    around = {program.instructions[each].loop for each in loops}
    return next(
        (
            name
            for each in members
            for name in program.readers_of.get(each, ())
            if name not in own
            and program.computes_with(name, "add")
            and (not loops or program.instructions[name].loop in around)
        ),
        None,
    )


def _is_multiplied(program: PeakProgram, adding: str) -> bool:
    """Return True for a sum that the backward pass multiplies: of gradients of an activation."""
    return any(
        program.computes_with(name, opcode)
        for made in program.made_by.get(adding, ())
        for name in program.readers_of.get(made.value_id, ())
        if program.is_backward(name)
        for opcode in ("dot", "convolution")
    )


def of_equal_parts(program: PeakProgram, gradients: Sequence[StoredValue]) -> bool:
    """Return True if enough gradients are made of values of the same ops and shapes."""
    made_of = Counter(
        frozenset(
            (op_of_parts(program, program.values[read]), program.values[read].shape)
            for each in _members(program, value)
            if program.values[each].opcode not in ("while", "parameter")
            for read in program.read_by.get(program.values[each].name, ())
            if program.values[read].opcode != "copy"
        )
        for value in gradients
    )
    return max(made_of.values()) >= _LEAST_ADDED


def _values_of_equal_ops(program: PeakProgram) -> list[list[StoredValue]]:
    """Return the values of each op and shape in order, the largest groups first.

    Those of an optimizer, one for each of several parameters, are left out.
    """
    groups: defaultdict[tuple[str, str], list[StoredValue]] = defaultdict(list)
    for value in program.temporaries:
        op = op_of_parts(program, value)
        if value.name in program.rows and ("jvp(" in op or program.framework != "jax"):
            groups[op, value.shape].append(value)
    for group in groups.values():
        group.sort(key=lambda value: program.rows[value.name])
    return sorted(groups.values(), key=lambda group: -_bytes(group))


def _are_joined(program: PeakProgram, gradients: Sequence[StoredValue]) -> bool:
    """Return True if a loss joins independent parts, as views of one batch: no loop runs over them.

    The gradient of each part then depends on the forward pass of another one. What the backward
    pass reads for one gradient alone tells the parts apart; layers and steps share all of it.
    """
    schedulable = program.schedulable
    if schedulable is None:
        return False
    read = [_forward_rows_read(program, value) for value in gradients]
    times = Counter(row for rows in read for row in rows)
    firsts = [
        (own, program.rows[value.name])
        for value, rows in zip(gradients, read, strict=True)
        if value.name in program.rows
        and (own := min((r for r in rows if times[r] == 1), default=0))
    ]
    return any(
        is_ordered_before(schedulable, own, gradient)
        and not is_ordered_before(schedulable, own, other)
        for own, _ in firsts
        for other, gradient in firsts
        if own != other
    )


def _forward_rows_read(program: PeakProgram, gradient: StoredValue) -> set[int]:
    """Return the rows of forward values that the backward pass reads to make a gradient."""

    def backward(name: str) -> Iterator[str]:
        read = (program.values[each] for each in program.read_by.get(name, ()))
        return (value.name for value in read if value.is_backward)

    made = (program.values[each].name for each in _members(program, gradient))
    read = (
        program.values[each]
        for name in reached((gradient.name, *made), backward)
        for each in program.read_by.get(name, ())
    )
    return {
        program.rows[value.name]
        for value in read
        if not value.is_backward and value.name in program.rows
    }


def _cost_less_than_layers(
    program: PeakProgram,
    gradients: Sequence[Sequence[StoredValue]],
    alike: Sequence[Sequence[StoredValue]],
) -> bool:
    """Return True if the gradients of repeated layers take less than what the layers keep.

    Each parameter of the layers has as many gradients. A loop over layers stacks all that the
    backward pass of a layer reads, until its last layer.
    """
    count, added = len(gradients[0]), [value for group in gradients for value in group]
    layers = [
        group
        for group in alike
        if count - 1 <= len(group) <= count
        and group[0] not in added
        and _depend_on_each_other(program, group)
    ]
    stacked = sum(
        _bytes(group)
        for group in layers
        if not group[0].is_backward
        and any(map(program.is_backward, program.readers_of.get(group[0].value_id, ())))
    )
    is_small_part = 2 * _bytes(added) < program.temp_bytes_at_peak
    return bool(layers) and (is_small_part or 2 * stacked >= _bytes(added))


def _depend_on_each_other(program: PeakProgram, group: Sequence[StoredValue]) -> bool:
    """Return True if the last of equal values is computed from the first one.

    A GPU may compute those of independent parts in one fusion.
    """
    first, last = program.rows[group[0].name], program.rows[group[-1].name]
    schedulable = program.schedulable
    return schedulable is not None and first != last and is_ordered_before(schedulable, first, last)


def _bytes(values: Sequence[StoredValue]) -> int:
    return sum(value.size_bytes for value in values)


def _of_other_parts(
    program: PeakProgram, parts: int, alike: Sequence[Sequence[StoredValue]]
) -> list[str]:
    """Return the values of all parts of a batch but the first, which a loop makes in turn.

    Parts are independent; repeated layers that share a parameter depend on each other.
    """
    if program.schedulable is None or not parts:
        return []
    found: list[str] = []
    for group in alike[:_MOST_GROUPS]:
        if len(group) % parts:
            continue
        each_part = len(group) // parts
        if each_part == 1 and _depend_on_each_other(program, group):
            return []
        by_maker: defaultdict[str, list[StoredValue]] = defaultdict(list)
        for value in group:
            by_maker[value.name].append(value)
        fused = [made for made in by_maker.values() if len(made) == parts > 1]
        merged = [value for made in fused for value in _of_all_parts(program, made)]
        found += [
            program.values[each].label
            for value in (*group[each_part:], *merged)
            for each in _members(program, value)
        ]
    return found


def _of_all_parts(program: PeakProgram, made: Sequence[StoredValue]) -> list[StoredValue]:
    """Return the values that consist of the parts that one fusion makes or reads.

    A GPU multiplies all parts by a parameter at once, and splits the product in one fusion.
    """
    size = sum(each.size_bytes for each in made)
    joining = set.intersection(*({*program.readers_of.get(each.value_id, ())} for each in made))
    near = {each.value_id for name in joining for each in program.made_by.get(name, ())}
    near.update(program.read_by.get(made[0].name, ()))
    return [
        each for each in program.temporaries if each.value_id in near and each.size_bytes == size
    ]
