"""Find gradients of whole tables of which few rows were read."""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.names import input_name, pattern_of
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue

_FILLING: Final = frozenset(("broadcast", "constant", "copy", "bitcast", "reshape", "tuple"))
"""Opcodes of instructions that fill arrays with zeros, or copy one."""
_LEAST_RATIO: Final = 4
"""Least rows of a table for each row that was read, if an optimizer has a state of its shape."""
_LEAST_SHARE: Final = Fraction(1, 8)
"""Least share of the reserved bytes of such gradients: another optimizer may learn otherwise."""

_DENSE_GRADIENTS: Final[Remedies] = {
    "jax": "Differentiate with respect to the rows that were read (rows = table[ids], outside of"
    " jax.grad) and update only these: table.at[ids].add(-rate * gradient_of_rows).",
    "tensorflow": "Keep tf.IndexedSlices: update the rows with tf.Variable.scatter_sub instead of"
    " converting the gradient to a dense tensor.",
    "pytorch": "Update only the rows that were read (table.index_add_) instead of the whole table.",
}
_DENSE_GRADIENTS_WITH_STATE: Final[Remedies] = {
    "jax": "Differentiate with respect to the rows that were read (rows = table[ids], outside of"
    " jax.grad), and update only these, and their state, as a lazy Adam does:"
    " m.at[ids].set(b1 * m[ids] + (1 - b1) * gradient_of_rows), and so on.",
    "tensorflow": "Keep tf.IndexedSlices, and let a lazy optimizer update the rows and their state"
    " (tf.Variable.scatter_update).",
    "pytorch": "Update only the rows that were read, and their state (torch.optim.SparseAdam).",
}


def dense_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield gradients of whole tables that are scattered from a few rows.

    An optimizer with a state of the table's shape updates all rows, unless it may leave the state
    of the others as it is. A gradient in the bytes of a result takes none: without it, a copy of
    the table, whose rows are updated, lies there. To scatter rows into bf16, XLA for CPU converts
    the whole table to f32, which takes the bytes of the gradient.
    """
    is_cpu = program.compilation.platform == "cpu"
    results = {program.values[each].allocation for each in program.compilation.results}
    matrices = {
        each.dimensions
        for each in program.compilation.array_parameters
        if len(each.dimensions) == 2
    }
    gradients: list[tuple[list[StoredValue], list[StoredValue]]] = []
    for value in program.temporaries:
        if value.dimensions not in matrices or value.allocation in results:
            continue
        members = [program.values[each.value_id] for each in program.members_of(value)]
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
        ):
            gradients.append((scattered, members))
    of_all = {each.value_id for _, members in gradients for each in members}
    found: dict[bool, list[tuple[StoredValue, StoredValue]]] = {False: [], True: []}
    removed: dict[bool, list[str]] = {False: [], True: []}
    for scattered, members in gradients:
        table = _updated_table(program, members, of_all)
        has_state = table is None
        table = table or _table_with_states(program, members, scattered, of_all)
        if table is not None and not (is_cpu and table.dtype == "bf16"):
            found[has_state].append((scattered[0], table))
            removed[has_state] += [each.label for each in members]
            removed[has_state] += _computed_of_it(program, members)
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    for has_state, pairs in found.items():
        if not pairs or (has_state and sum(value.size_bytes for value, _ in pairs) < least):
            continue
        text = pattern_of(input_name(table) for _, table in pairs)
        ids = {table.value_id for _, table in pairs}
        is_read = any(program.computes_with(each, "gather") for each in _readers(program, ids))
        place = f"of {text}" if is_read else f"that is added to {text}"  # as a sum of gradients
        reason = f"a gradient of all rows {place}, scattered from the rows that were read"
        doubt = "only if the optimizer may update just the rows that were read"
        yield of_removed(
            program.compilation,
            "peak/contributors",
            "The gradient of a table has all its rows",
            removed[has_state],
            (evidence_row(value, reason) for value, _ in pairs),
            _DENSE_GRADIENTS_WITH_STATE if has_state else _DENSE_GRADIENTS,
            f"{doubt}, and leave the state of the others as it is" if has_state else doubt,
            is_exact=True,
            likelihood=0.4 if has_state else 0.7,
        )


def _computed_of_it(program: PeakProgram, gradients: Sequence[StoredValue]) -> Iterator[str]:
    """Yield labels of arrays of its size that a gradient alone gives, as its squares for a norm."""
    ids = {each.value_id for each in gradients}
    for name in {name for each in ids for name in program.readers_of.get(each, ())}:
        read = (program.values[each] for each in program.read_by[name])
        if all(each.value_id in ids or not each.dimensions for each in read):
            for made in program.made_by.get(name, ()):
                if made.dimensions == gradients[0].dimensions and made.value_id not in ids:
                    yield made.label


def _is_empty(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for the zeros that rows are added to, and for their copies."""
    maker = program.instructions.get(value.name)
    return maker is not None and maker.computes_only(_FILLING)


def _updated_table(
    program: PeakProgram, gradients: Sequence[StoredValue], of_all: Collection[int]
) -> StoredValue | None:
    """Return the only input that these gradients update, if it is a table of rows.

    Its rows are gathered, or nothing reads its new value. An optimizer's state of the same shape
    would be another input, other gradients of scattered rows (`of_all`) are not. A tied table also
    has the gradient of its product, which has all rows. What scatters may gather rows again.
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
            program.origin_of(each)
            for each in program.read_by[name]
            if program.values[each].dimensions == dimensions and each not in of_all
        }
        made = [each for each in program.made_by.get(name, ()) if each.value_id not in ids]
        if (
            made
            and len(read) == 1
            and read <= tables
            and (
                any(program.computes_with(each, "gather") for each in _readers(program, read))
                or not any(program.read_steps.get(each.value_id) for each in made)
            )
        ):
            return program.values[read.pop()]
    return None


def _table_with_states(
    program: PeakProgram,
    gradients: Sequence[StoredValue],
    scattered: Sequence[StoredValue],
    of_all: Collection[int],
) -> StoredValue | None:
    """Return the table that gradients of few rows update next to states of its shape.

    Its rows are gathered. An instruction reads the gradient next to the states alone, or makes new
    states from it, which another one reads next to the table.
    """
    dimensions = gradients[0].dimensions
    tables = {
        each.value_id
        for each in program.compilation.array_parameters
        if each.dimensions == dimensions
    }
    read_rows = [
        prod(program.values[each].dimensions) // dimensions[1]
        for value in scattered
        for each in program.read_by.get(value.name, ())
        if program.values[each].dimensions != dimensions
    ]
    if not read_rows or _LEAST_RATIO * max(read_rows) > dimensions[0]:
        return None
    new = {each.value_id for each in gradients}
    updated: set[int] = set()
    waiting = list(new)
    while waiting:
        for name in program.readers_of.get(waiting.pop(), ()):
            read = {
                program.origin_of(each)
                for each in program.read_by[name]
                if program.values[each].dimensions == dimensions and each not in new
            }.difference(of_all)
            made = {each.value_id for each in program.made_by.get(name, ())} - new
            if made and read and read <= tables:
                updated |= read
                new |= made
                waiting += made
    gathered = [
        each
        for each in updated
        if any(program.computes_with(name, "gather") for name in _readers(program, {each}))
    ]
    return program.values[min(gathered)] if gathered and len(updated) > 1 else None


def _readers(program: PeakProgram, value_ids: Collection[int]) -> set[str]:
    """Return the instructions that read these values, or copies of them."""
    copies = {
        each.value_id
        for each in program.program.values
        if each.is_copy and program.origin_of(each.value_id) in value_ids
    }
    return {
        name
        for value_id in copies | set(value_ids)
        for name in program.readers_of.get(value_id, ())
    }
