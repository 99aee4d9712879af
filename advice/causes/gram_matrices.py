"""Find matrices that are stored only for the product with themselves, such as J.T @ J.

A sum over rows can be computed in parts: a loop over blocks of rows adds their products.
"""

from collections.abc import Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, of_all_at_once
from xlagraph.advice.causes.loop_inputs import made_for
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_LEAST_SHARE: Final = 0.02
"""Smallest share of the reserved bytes for which a matrix is searched."""
_LEAST_ROWS: Final = 8
"""Least rows for each column: the product of a matrix with fewer rows is not much smaller."""
_MOST_OF_ROW: Final = 16
"""Most rows that belong to one row of an input, such as residuals of a measurement."""

_PRODUCTS_WITH_THEMSELVES: Final[Remedies] = {
    "jax": "Add the products of blocks of rows: jax.lax.scan over the blocks, whose body computes"
    " the rows of one block (for a Jacobian, jax.jacfwd of the residuals of one block) and adds"
    " a.T @ a to the carry; or solve with products only: jax.scipy.sparse.linalg.cg with"
    " jax.linearize and jax.vjp.",
    "tensorflow": "Add the products of blocks of rows in a tf.while_loop.",
    "pytorch": "Add the products of blocks of rows, one block after another.",
}


def products_with_themselves(program: PeakProgram) -> Iterator[Cause]:
    """Yield tall matrices of which the program reads only sums over all rows."""
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    seen: set[int] = set()
    found: list[tuple[StoredValue, str]] = []
    kept: list[StoredValue] = []
    for value in program.temporaries:
        if value.size_bytes < least:
            break
        if value.value_id in seen or len(value.dimensions) != 2:
            continue
        forms, product = _forms_and_product(program, value)
        made = made_for(program, [program.values[each] for each in sorted(forms)])
        if product is None or made is None or program.instructions[product].loop is not None:
            continue
        seen |= forms
        rows, columns = sorted(value.dimensions, reverse=True)
        line = place_name(program, product)
        reason = f"of its {rows} rows {line} reads only the product with itself"
        reason += f", {columns} × {columns}"
        found.append((value, reason))
        kept += made
    if found:
        yield of_all_at_once(
            "A matrix is stored whole for its product with itself",
            found,
            _PRODUCTS_WITH_THEMSELVES,
            made=kept,
            likelihood=0.9,
        )


def _forms_and_product(program: PeakProgram, value: StoredValue) -> tuple[set[int], str | None]:
    """Return a matrix with its copies and transposes, and what multiplies two of them.

    No product if anything reads a part of the matrix, or makes a value for each of its rows.
    """
    rows, columns = sorted(value.dimensions, reverse=True)
    if rows < _LEAST_ROWS * columns or not _are_of_data(program, rows):
        return {value.value_id}, None
    forms = {each.value_id for each in _computed_alike(program, value)}
    waiting = list(forms)
    readers: set[str] = set()
    while waiting:
        for name in program.readers_of.get(waiting.pop(), ()):
            if program.instructions[name].computes_only(SAME_ELEMENTS):
                new = {each.value_id for each in program.made_by.get(name, ())} - forms
                forms |= new
                waiting += new
            else:
                readers.add(name)
    product = None
    for name in sorted(readers):
        made = program.made_by.get(name, ())
        is_sum = any(program.computes_with(name, opcode) for opcode in ("dot", "reduce"))
        if not is_sum or any(rows in each.dimensions for each in made):
            return forms, None
        is_square = any(each.dimensions == (columns, columns) for each in made)
        if is_square and forms.issuperset(program.read_by.get(name, ())):
            product = name
    return forms, product


def _are_of_data(program: PeakProgram, rows: int) -> bool:
    """Return True for rows of an input, or a few for each: parameters have no blocks of rows."""
    leading = {
        each.dimensions[0]
        for each in program.compilation.array_parameters
        if len(each.dimensions) > 1
    }
    return any(each and rows % each == 0 and rows // each <= _MOST_OF_ROW for each in leading)


def _computed_alike(program: PeakProgram, value: StoredValue) -> Iterator[StoredValue]:
    """Yield a matrix and those that the same ops compute from the same values, as its transpose."""
    ops = _ops(program, value)
    for each in program.temporaries:
        if sorted(each.dimensions) == sorted(value.dimensions) and ops == _ops(program, each):
            yield each


def _ops(program: PeakProgram, value: StoredValue) -> tuple[set[int], set[str]]:
    """Return what the maker of a value reads, and its opcodes other than those of layouts."""
    maker = program.instructions[value.name]
    opcodes = {maker.opcode or ""} if maker.fused_opcodes is None else {*maker.fused_opcodes}
    return set(program.read_by.get(value.name, ())), opcodes - SAME_ELEMENTS
