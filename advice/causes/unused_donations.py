"""Find inputs whose bytes no result takes over: unused donations, or results of another type.

If no result has the shape and type of a donated input, JAX drops the donation and only warns, so
the dump does not show the request. It does show a result of the same dimensions with another type.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from xlagraph.advice.causes.cause import Cause, evidence_row, file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.returned_values import source_of_copies
from xlagraph.graph.engine import Cell
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.instruction import first_number
from xlagraph.hlo.op_names import is_backward
from xlagraph.hlo.shapes import WHOLE
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.resizing import Remove
from xlagraph.queries.catalogue.declarations import ChangeKind

_TYPES: Final = {
    "jax": "Return the result in the type of the input (x.astype(old.dtype)) and donate the input"
    " (donate_argnums): JAX drops a donation if no result has its type, and only warns. Or keep the"
    " input in the type of the result.",
    "tensorflow": "Keep the type of the tf.Variable that holds the state: tf.cast the new value"
    " before assigning it.",
    "pytorch": "Write the new value into the tensor with the type of the tensor (x.copy_(new)), or"
    " keep the tensor in the type of the result.",
}
_UNUSED: Final = {
    "jax": "Return a result of the same shape and type, or remove the argument from"
    " donate_argnums; do not return the old value; read the old value before its update.",
    "tensorflow": "Assign to the variable inside the function, with its shape and type.",
    "pytorch": "Update the tensor in place, with its shape and type.",
}
_SHARDED: Final = {
    "jax": "Give the input the sharding of its result: in_shardings of jax.jit, or jax.device_put"
    " of the state when it is made. A device reuses only a buffer of the same part.",
    "tensorflow": "Give the variable the DTensor layout of its new value.",
    "pytorch": "Call mark_sharding on the state with the sharding of its new value.",
}
_LIKELIHOOD_OF_PARTS: Final = 0.9
"""Part to expect of inputs of which each device keeps a part only: the new ones take no bytes."""
_NARROW: Final = frozenset(("pred",))


def unused_donations(program: PeakProgram, rows: Sequence[Mapping[str, Cell]]) -> Iterator[Cause]:
    """Yield a cause for donated inputs whose bytes no result takes over."""
    found = []
    left = list(program.own_results)
    is_sharded = False
    for row in rows:
        value = program.by_label.get(str(row["value"]))
        if value is None or value.memory_space != program.memory_space:
            continue
        reader = file_and_line(row["readerFile"], row["readerLine"])
        reason = str(row["reason"]) + (f", by {reader}" if reader else "")
        is_split = int(str(row.get("partitions") or 1)) > 1
        part = next((each for each in left if is_split and _is_part(each, value)), None)
        if part is not None:
            left.remove(part)
            is_sharded = True
            reason = f"its result is only a part on each device, {part.shape}"
        found.append(evidence_row(value, f"donated but not used: {reason}"))
    if found:
        yield Cause(
            "alias/donated",
            "Inputs are donated but not used",
            None,
            None,
            tuple(sorted(found, key=lambda row: -int(str(row["sizeBytes"])))),
            _SHARDED if is_sharded else _UNUSED,
            likelihood=_LIKELIHOOD_OF_PARTS if is_sharded else None,
        )


def results_of_another_type(program: PeakProgram) -> Iterator[Cause]:
    """Yield a cause for results that match an input in dimensions but not in type."""
    results = [
        value
        for value_id in dict.fromkeys(program.compilation.results)
        if (value := program.values.get(value_id)) is not None and _is_own(program, value)
    ]
    taken = {value.shape for value in results}
    left: defaultdict[tuple[int, ...], list[StoredValue]] = defaultdict(list)
    for value in sorted(program.compilation.array_parameters, key=lambda each: each.value_id):
        is_free = not program.compilation.is_donated(value.value_id) and value.shape not in taken
        if is_free and value.memory_space == program.memory_space:
            left[value.dimensions].append(value)
    rows: list[dict[str, Cell]] = []
    labels: list[str] = []
    for result in results:
        waiting = left[result.dimensions]
        donor = next((each for each in waiting if _could_be(each, result)), None)
        if donor is None:
            continue
        waiting.remove(donor)
        reason = f"the result is {result.dtype}, but the input {donor.label} is {donor.dtype}"
        rows.append(evidence_row(result, reason))
        labels.append(result.label)
    if rows:
        yield Cause(
            "alias/not-donated",
            "Inputs cannot be donated: results of the same dimensions have another type",
            ChangeKind.WITHOUT,
            Remove.of(program.compilation, labels),
            tuple(sorted(rows, key=lambda row: -int(str(row["sizeBytes"])))),
            _TYPES,
            "this is safe only if the caller does not need the input afterwards",
            is_exact=True,
        )


def needed_after_gradients(program: PeakProgram) -> frozenset[str]:
    """Return the inputs whose bytes only gradients could take.

    A caller needs the parameters after their gradients, so that they cannot be donated.
    """
    takers = grouped((each.shape, _is_gradient(program, each)) for each in program.own_results)
    only_gradients = {shape for shape, are_gradients in takers.items() if all(are_gradients)}
    return frozenset(
        value.label
        for value in program.compilation.array_parameters
        if value.shape in only_gradients
    )


def _is_gradient(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a result of the backward pass.

    A fusion that computes a gradient and an update has the op name of the gradient; its root tells
    which of them a result is.
    """
    if not value.is_backward:
        return False
    source = source_of_copies(program, value) or value
    fusion = program.operations.get(source.name)
    runs = () if fusion is None else fusion.callees.get("calls", ())
    if program.module is None or program.module.program is None or not runs:
        return True
    inside = program.module.program.computations[runs[0]]
    made = inside.find_root()
    index = source.shape_index or WHOLE
    if made is not None and made.opcode == "tuple" and index != WHOLE:
        made = inside.find(made.operand_names[first_number(index)])
    op_name = None if made is None else made.attributes.op_name
    return op_name is None or is_backward(op_name)


def _is_part(result: StoredValue, value: StoredValue) -> bool:
    """Return True if a result has the shape of one device's part of an input."""
    return (
        result.dtype == value.dtype
        and len(result.dimensions) == len(value.dimensions)
        and result.dimensions != value.dimensions
        and all(
            part and whole % part == 0
            for part, whole in zip(result.dimensions, value.dimensions, strict=True)
        )
    )


def _is_own(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if no input gives its bytes to a result."""
    planned = program.planned(value)
    if planned is None or planned.is_table or planned.memory_space != program.memory_space:
        return False
    return not any(member.is_stored for member in program.members_of(value))


def _could_be(donor: StoredValue, result: StoredValue) -> bool:
    """Return True if a result could have the type of an input of its dimensions."""
    return (
        result.dimensions != ()
        and donor.is_float == result.is_float
        and not _NARROW & {donor.dtype, result.dtype}
    )
