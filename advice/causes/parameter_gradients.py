"""Find gradients of parameters that need not be kept, or not as a whole.

The kinds: gradients of each example, gradients that are only added to each other, and gradients of
tables of which few rows were read.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes import remedies
from xlagraph.advice.causes.cause import Cause, evidence_row, file_and_line
from xlagraph.advice.causes.names import pattern_of
from xlagraph.advice.causes.old_values import is_ordered_before
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.op_names import is_backward, is_per_example
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.resizing import ComputeInParts, Remove
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = ["added_gradients", "dense_gradients", "per_example_gradients"]

_PARTS: Final = 8
"""Parts in which per-example gradients could be computed."""
_MOST_GROUPS: Final = 32
"""Groups of forward values that are compared, the largest ones."""
_LEAST_ADDED: Final = 3
"""Least number of gradients that one instruction adds; two belong to a residual connection."""
_EXAMPLES_FORWARD: Final = re.compile(r"vmap\((?:jit\()?jvp\(|pfor/|vectorized_map")
_TWICE_VECTORIZED: Final = re.compile(r"vmap\(vmap\(")
_FILLING: Final = frozenset(("broadcast", "constant", "copy", "bitcast", "reshape"))
"""Opcodes of instructions that fill an array with zeros, or copy one."""


def per_example_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield per-example gradients: a batch dimension followed by a parameter's dimensions.

    The forward pass is vectorized over the examples too; in a Jacobian only the backward pass is,
    or there are two dimensions more.
    """
    names = (each.op_name or "" for each in program.instructions.values())
    if not any(_EXAMPLES_FORWARD.search(name) for name in names):
        return
    names_by_shape = {
        lengths: value.op_name or value.label
        for value in reversed(program.compilation.array_parameters)
        for lengths in (value.dimensions, value.dimensions[::-1])
        if len(lengths) > 1
    }
    found = [
        value
        for value in program.temporaries
        # without the mark, batch × sequence × width looks the same
        if value.dimensions[1:] in names_by_shape and _is_example_gradient(program, value)
    ]
    if not found:
        return
    factors = {
        value.label: max(Fraction(1, value.dimensions[0]), Fraction(1, _PARTS)) for value in found
    }
    rows = tuple(
        evidence_row(
            value,
            f"gradients for each of {value.dimensions[0]} examples, each of the shape of"
            f" {names_by_shape[value.dimensions[1:]]}",
        )
        for value in found
    )
    yield Cause(
        "peak/contributors",
        "Gradients are kept for each example",
        ChangeKind.PARTS,
        ComputeInParts(factors),
        rows,
        remedies.PER_EXAMPLE,
    )


def added_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield gradients of one op that are all kept until one instruction adds them."""
    inputs = program.compilation.array_parameters
    names = {
        lengths: value.op_name or value.label
        for value in reversed(inputs)
        for lengths in (value.dimensions, value.dimensions[::-1])
        if len(lengths) > 1
    }
    groups: defaultdict[tuple[str, str, str], list[StoredValue]] = defaultdict(list)
    for value in program.temporaries:
        readers = program.readers_of.get(value.value_id, ())
        adding = [name for name in readers if program.computes_with(name, "add")]
        if value.is_backward and value.dimensions in names and program.is_alone(value) and adding:
            key = adding[0], value.shape, value.attributed_op_name or ""
            groups[key].append(value)
    found = {key: each for key, each in groups.items() if len(each) >= _LEAST_ADDED}
    if found:
        rows = []
        for (reader, _, _), values in found.items():
            line = file_and_line(*program.place_of(reader)) or reader
            reason = (
                f"one of {len(values)} gradients of the shape of {names[values[0].dimensions]},"
                f" all kept until {line} adds them"
            )
            rows += [evidence_row(value, reason) for value in values[1:]]
        counts = {len(values) for values in found.values()}
        parts = counts.pop() if len(counts) == 1 else 0
        yield Cause(
            "peak/contributors",
            "Gradients of the same parameter are kept until they are added",
            ChangeKind.WITHOUT,
            Remove.of(
                program.compilation,
                [str(row["value"]) for row in rows] + _of_other_parts(program, parts),
            ),
            tuple(sorted(rows, key=lambda row: -int(str(row["sizeBytes"])))),
            remedies.ADDED_GRADIENTS,
        )


def _of_other_parts(program: PeakProgram, parts: int) -> list[str]:
    """Return the forward values of all parts of a batch but the first, which a loop makes in turn.

    Parts are independent; repeated layers that share a parameter depend on each other.
    """
    schedulable = program.schedulable
    if schedulable is None or not parts:
        return []
    groups: defaultdict[tuple[str, str], list[StoredValue]] = defaultdict(list)
    for value in program.temporaries:
        if not value.is_backward and program.is_alone(value) and value.name in program.rows:
            groups[value.attributed_op_name or "", value.shape].append(value)
    largest = sorted(groups.values(), key=lambda group: -sum(each.size_bytes for each in group))
    found: list[str] = []
    for group in largest[:_MOST_GROUPS]:
        if len(group) % parts:
            continue
        group.sort(key=lambda value: program.rows[value.name])
        each_part = len(group) // parts
        rows = [program.rows[value.name] for value in group]
        ends = rows[:: len(rows) - 1] if each_part == 1 else ()
        if ends and is_ordered_before(schedulable, *ends):
            return []
        found += [value.label for value in group[each_part:]]
    return found


def dense_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield gradients of whole tables that are scattered from a few rows.

    An optimizer with a state of the table's shape needs all rows.
    """
    inputs = program.compilation.array_parameters
    counts = Counter(value.dimensions for value in inputs)
    names: dict[tuple[int, ...], str] = {
        value.dimensions: value.op_name or value.label
        for value in inputs
        if len(value.dimensions) == 2 and counts[value.dimensions] == 1
    }
    found, removed = [], []
    for value in program.temporaries:
        planned = program.planned(value)
        if planned is None or value.dimensions not in names:
            continue
        joined = program.program.sets[planned.buffer_set]
        members = [program.values[each.value_id] for each in joined]
        scattered = [
            each
            for each in members
            if program.computes_with(each.name, "scatter") and program.is_backward(each.name)
        ]
        others = [each for each in members if each not in scattered]
        if (
            scattered
            and all(each.dimensions == value.dimensions for each in members)
            and all(_is_empty(program, each) for each in others)
            and _updates_table(program, members)
        ):
            found.append(scattered[0])
            removed += [each.label for each in members]
    if found:
        text = pattern_of(names[value.dimensions] for value in found)
        reason = f"a gradient of all rows of {text}, scattered from the rows that were read"
        yield Cause(
            "peak/contributors",
            "The gradient of a table has all its rows",
            ChangeKind.WITHOUT,
            Remove.of(program.compilation, removed),
            tuple(evidence_row(value, reason) for value in found),
            remedies.DENSE_GRADIENTS,
            "only if the optimizer may update just the rows that were read",
            is_exact=True,
            likelihood=0.7,
        )


def _is_example_gradient(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a gradient of each example, or what is computed from one."""
    sources = [program.values[each] for each in program.read_by.get(value.name, ())]
    names = [each.attributed_op_name or "" for each in (value, *sources)]
    return (
        value.dimensions[:1] > (1,)
        and is_per_example(names[0])
        and any(is_backward(name) and is_per_example(name) for name in names)
        and not any(_TWICE_VECTORIZED.search(name) for name in names)
    )


def _is_empty(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for the zeros that rows are added to, and for their copies."""
    maker = program.instructions.get(value.name)
    return maker is not None and maker.computes_only(_FILLING)


def _updates_table(program: PeakProgram, gradients: Sequence[StoredValue]) -> bool:
    """Return True if a table is updated by these gradients, and by no other values of its size.

    A tied table also has a gradient of its product, which has all rows.
    """
    ids = {each.value_id for each in gradients}
    dimensions = gradients[0].dimensions
    tables = {
        each.value_id
        for each in program.compilation.array_parameters
        if each.dimensions == dimensions
    }
    for name in {name for each in ids for name in program.readers_of.get(each, ())}:
        read = {
            each
            for each in program.read_by[name]
            if program.values[each].dimensions == dimensions and each not in ids
        }
        if read and all(_origin(program, each) in tables for each in read):
            return True
    return False


def _origin(program: PeakProgram, value_id: int) -> int:
    """Return the first of a chain of copies."""
    planned = program.program.by_id.get(value_id)
    while planned is not None and planned.is_copy and planned.operands:
        value_id = planned.operands[0]
        planned = program.program.by_id.get(value_id)
    return value_id
