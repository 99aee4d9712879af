"""Inputs whose bytes no result takes over: donated but not used, or of another type.

JAX drops a donation for which no result has the shape and type, with a warning alone: the dump
does not show that it was asked for. What it does show is a result of the same dimensions in
another type.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from xlagraph.graph.engine import Cell
from xlagraph.queries.advice.causes.cause import Cause, evidence_row, file_and_line
from xlagraph.queries.advice.causes.peak_values import PeakProgram, dimensions
from xlagraph.queries.advice.donors import is_donated
from xlagraph.queries.advice.savings import Change
from xlagraph.queries.catalogue.declarations import ChangeKind
from xlagraph.queries.stored_compilation.records import StoredValue

__all__ = ["results_of_another_type", "unused_donations"]

_TYPES: Final = {
    "jax": "Return the result in the type of the input (x.astype(old.dtype)) and donate the input"
    " (donate_argnums): JAX drops a donation whose type no result has, and only warns. Or keep the"
    " input in the type of the result.",
    "tensorflow": "Keep the state in a tf.Variable of the type that is assigned to it: tf.cast the"
    " new value.",
    "pytorch": "Write the new value into the tensor in its own type (x.copy_(new)), or keep the"
    " tensor in the type of the result.",
}
_UNUSED: Final = {
    "jax": "Return a result of the same shape and type, or leave the argument out of"
    " donate_argnums; return the old value no more; read it before its update.",
    "tensorflow": "Assign to the variable inside of the function, in its shape and type.",
    "pytorch": "Update the tensor in place, in its shape and type.",
}
_NARROW: Final = frozenset(("pred",))


def unused_donations(program: PeakProgram, rows: Sequence[Mapping[str, Cell]]) -> Iterator[Cause]:
    """Yield the donated inputs that no result takes over, of the rows of alias/donated."""
    found = []
    for row in rows:
        value = program.by_label.get(str(row["value"]))
        if value is None or row["outcome"] != "never used" or value.memory_space != program.color:
            continue
        reader = file_and_line(row["readerFile"], row["readerLine"])
        reason = str(row["reason"]) + (f", by {reader}" if reader else "")
        found.append(evidence_row(value, f"donated but not used: {reason}"))
    if found:
        yield Cause(
            "alias/donated",
            "Inputs are donated but not used",
            None,
            tuple(sorted(found, key=lambda row: -int(str(row["sizeBytes"])))),
            _UNUSED,
        )


def results_of_another_type(program: PeakProgram) -> Iterator[Cause]:
    """Yield the results whose dimensions an input has that could be donated but for its type."""
    results = [
        value
        for value_id in dict.fromkeys(program.stored.results)
        if (value := program.values.get(value_id)) is not None and _is_own(program, value)
    ]
    taken = {value.shape for value in results}
    left: defaultdict[tuple[int, ...], list[StoredValue]] = defaultdict(list)
    for value in program.parameters:
        is_free = not is_donated(program.stored, value.value_id) and value.shape not in taken
        if is_free and value.memory_space == program.color:
            left[dimensions(value)].append(value)
    rows: list[dict[str, Cell]] = []
    labels: list[str] = []
    for result in results:
        waiting = left[dimensions(result)]
        donor = next((each for each in waiting if _could_be(each, result)), None)
        if donor is None:
            continue
        waiting.remove(donor)
        reason = f"result of {result.dtype}, while the input {donor.label} is {donor.dtype}"
        rows.append(evidence_row(result, reason))
        labels.append(result.label)
    if rows:
        yield Cause(
            "alias/not-donated",
            "Results have the dimensions of an input, but another type: it cannot be donated",
            Change(ChangeKind.WITHOUT, tuple(labels)),
            tuple(sorted(rows, key=lambda row: -int(str(row["sizeBytes"])))),
            _TYPES,
            "only if the caller does not need the input afterwards",
            is_exact=True,
        )


def _is_own(program: PeakProgram, value: StoredValue) -> bool:
    """Return whether a result has bytes that no input gives it."""
    planned = program.planned(value)
    if planned is None or planned.is_table or planned.color != program.color:
        return False
    return not any(member.is_stored for member in program.program.sets[planned.buffer_set])


def _could_be(donor: StoredValue, result: StoredValue) -> bool:
    """Return whether a result could be of the type of an input that has its dimensions."""
    return (
        dimensions(result) != ()
        and _is_float(donor.dtype) == _is_float(result.dtype)
        and not _NARROW & {donor.dtype, result.dtype}
    )


def _is_float(dtype: str | None) -> bool:
    return (dtype or "").startswith(("f", "bf"))
