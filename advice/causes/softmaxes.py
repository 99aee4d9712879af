"""Find softmaxes: exponentials that are reduced over one dimension, next to their rows."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from xlagraph.advice.causes.exponential_sums import (
    is_of_rows,
    reduced_exponentials,
    sums_exponentials,
)
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.opcodes import COPYING
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import ArrayShape, Operation
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

LEAST_GROWTH: Final = 4
"""Least elements of the scores for each one of the queries or keys: fewer are not worth a block."""
_LEAST_WIDTH: Final = 8
"""Least elements of the result for each query: what picks one of the keys is no attention."""

_KERNEL: Final = "online-softmax"
"""Op name of the TPU compiler's kernel for a softmax and the product that reads it."""
_KERNEL_OF_LIBRARY: Final = ("dot", "reduce", "subtract")
"""Opcodes, in this order, of a library's kernel: a product, its maximum, their difference."""
_COMPARING: Final = SAME_ELEMENTS | {"broadcast", "iota", "compare", "constant"}


@dataclass(frozen=True)
class Scores:
    """Values that one softmax reads or makes."""

    value_ids: frozenset[int]
    elements: int
    """Elements that the softmax reads of each value."""
    length: int
    """Length of the dimension that it reduces."""

    @property
    def rows(self) -> int:
        """Sums of exponentials: one for each element of the other dimensions."""
        return self.elements // self.length


def elements_made(program: PeakProgram, operation: str) -> int:
    """Return the elements of the array that an operation makes; 0 if it makes none."""
    found = program.operations.get(operation)
    shape = None if found is None else found.shape
    return math.prod(shape.lengths) if isinstance(shape, ArrayShape) else 0


def scores_like(program: PeakProgram, value: StoredValue, length: int) -> Scores:
    """Return a value with those connected to it, for a softmax over a dimension of this length."""
    alike = connected(program, value, length)
    return Scores(frozenset(alike), math.prod(value.dimensions), length)


def parts_of_rows(program: PeakProgram, scores: Scores) -> Iterator[Scores]:
    """Yield the scores with those of a slice of their rows, largest slice first.

    A loss of the next token does not read the last row of each sequence: the slice is stored, or
    made in the fusions that read the whole. Its gradient is padded to all rows again.
    """
    slicing = [
        operation
        for each in scores.value_ids
        for name in program.readers_of.get(each, ())
        if program.computes_with(name, "slice")
        and (operation := program.operations.get(name)) is not None
    ]
    slices = {
        math.prod(inside.shape.lengths)
        for operation in slicing
        for inside in program.fused_operations(operation) or (operation,)
        if inside.opcode == "slice"
        and isinstance(inside.shape, ArrayShape)
        and scores.length in inside.shape.lengths
        and elements_made(program, inside.operands[0].name) == scores.elements
    }
    for elements in sorted(slices - {scores.elements}, reverse=True):
        found = set(scores.value_ids)
        for size in (elements, scores.elements):  # of the slice, and of what is padded
            readers = [name for each in found for name in program.readers_of.get(each, ())]
            for value in [each for name in readers for each in program.made_by.get(name, ())]:
                if scores.length in value.dimensions and math.prod(value.dimensions) == size:
                    found |= connected(program, value, scores.length)
        yield Scores(frozenset(found), elements, scores.length)


def connected(program: PeakProgram, value: StoredValue, length: int) -> set[int]:
    """Return a value, and those of its size that are made with it, from it, or from the same.

    All have a dimension of this length, or are copies or flat, as a TPU scatters into. What is
    reduced with it over this dimension counts, too: the noise that a sample adds to logits is made
    for the same rows. A loop reads and makes its whole state, values that have nothing in common.
    """
    size = math.prod(value.dimensions)
    found, waiting = {value.value_id}, [value]
    while waiting:
        each = waiting.pop()
        near: list[int] = []
        if each.opcode != "while":
            near += program.read_by.get(each.name, ())
            near += [made.value_id for made in program.made_by.get(each.name, ())]
        for reader in program.readers_of.get(each.value_id, ()):
            made_of = program.made_by.get(reader, ())
            if any(made.opcode == "while" for made in made_of):
                continue
            near += [made.value_id for made in made_of]
            if any(math.prod(made.dimensions) * length == size for made in made_of):
                near += program.read_by.get(reader, ())
        for value_id in near:
            other = program.values[value_id]
            lengths = other.dimensions
            is_like = length in lengths or len(lengths) == 1 or other.opcode in COPYING
            if value_id not in found and is_like and math.prod(lengths) == size:
                found.add(value_id)
                waiting.append(other)
    return found


def softmax_of(program: PeakProgram, scores: Scores) -> str | None:
    """Return the instruction that reduces these values over their dimension for a softmax.

    A softmax reads the maximum or the sum of each row next to the row itself; a sum of a
    function of each element, such as a softplus, does not. The first sum of exponentials is named:
    the maximum is often fused with what computes the scores, and has the line of that, not its own.
    """
    around = {name for each in scores.value_ids for name in program.readers_of.get(each, ())}
    makers = {program.values[each].name for each in scores.value_ids}
    if not any(program.computes_with(name, "exponential") for name in around | makers):
        return None
    rows, size = scores.rows, scores.elements
    summing = {name for name in around if sums_exponentials(program, name, rows, size)}
    if not summing:
        return None
    reducing = []
    for name in around:
        made = program.made_by.get(name, ())
        if not program.computes_with(name, "reduce"):
            continue
        reduced = [each for each in made if is_of_rows(each, rows, size)]
        of_rows = _computed_by_row(program, reduced, rows)
        is_read_with_rows = any(
            not of_rows.isdisjoint(program.read_by.get(reader, ())) for reader in around | makers
        )
        is_complete = program.computes_with(name, "exponential") and any(
            math.prod(each.dimensions) == size for each in made
        )
        if (of_rows and is_read_with_rows) or is_complete:
            reducing.append(name)
    order = {name: (name not in summing, program.rows.get(name, 0)) for name in reducing}
    return min(order, key=order.__getitem__, default=None)


def _computed_by_row(program: PeakProgram, values: Sequence[StoredValue], rows: int) -> set[int]:
    """Return values with those of one element for each row that are computed from them."""
    found, waiting = {each.value_id for each in values}, [each.value_id for each in values]
    while waiting:
        for name in program.readers_of.get(waiting.pop(), ()):
            for made in program.made_by.get(name, ()):
                if made.value_id not in found and math.prod(made.dimensions) == rows:
                    found.add(made.value_id)
                    waiting.append(made.value_id)
    return found


def normalizes_columns(program: PeakProgram, scores: Scores) -> bool:
    """Return True if scores are made with sums over all rows, as batch normalization makes them.

    No part of the rows can be computed alone then.
    """
    around = {name for each in scores.value_ids for name in program.readers_of.get(each, ())}
    sums = [
        made
        for name in around
        if program.computes_with(name, "reduce")
        for made in program.made_by.get(name, ())
        if made.dimensions == (scores.length,) != (scores.rows,)
    ]
    of_columns = _computed_by_row(program, sums, scores.length)
    makers = {program.values[each].name for each in scores.value_ids}
    return any(not of_columns.isdisjoint(program.read_by.get(name, ())) for name in makers)


def loops_of_sums(program: PeakProgram, scores: Scores) -> set[str | None]:
    """Return the names of the loops that sum exponentials of these values; None outside of one."""
    return {
        program.instructions[name].loop
        for each in scores.value_ids
        for name in program.readers_of.get(each, ())
        if sums_exponentials(program, name, scores.rows, scores.elements)
    }


def softmax_of_kernel(program: PeakProgram, value: StoredValue, length: int) -> str | None:
    """Return the instruction that sums the exponentials of a product less its rows' maximum.

    A library's kernel makes the product, reduces it and subtracts the result in one instruction;
    a fusion for a TPU also makes the exponentials and their sums.
    """
    if _sums_own_exponentials(program, value, math.prod(value.dimensions) // length):
        return value.name
    if not all(program.computes_with(value.name, opcode) for opcode in _KERNEL_OF_LIBRARY):
        return None
    made = program.operations.get(value.name)
    if made is not None and not _contains_in_order(program.fused_operations(made)):
        return None
    size = math.prod(value.dimensions)
    summing = [
        name
        for name in program.readers_of.get(value.value_id, ())
        if sums_exponentials(program, name, size // length, size)
    ]
    return min(summing, key=lambda name: program.rows.get(name, 0), default=None)


def _sums_own_exponentials(program: PeakProgram, value: StoredValue, rows: int) -> bool:
    """Return True if a product is made with the sums of exponentials of its rows."""
    made = program.made_by.get(value.name, ())
    return (
        value.name in program.products
        and any(math.prod(each.dimensions) == rows for each in made)
        and rows in reduced_exponentials(program, value.name)
    )


def _contains_in_order(inside: Sequence[Operation]) -> bool:
    """Return True if a product has its maximum subtracted; a sum of the factors is no maximum."""
    found = frozenset[str]()
    for opcode in _KERNEL_OF_LIBRARY:
        after = set(found)
        for each in inside:  # operands first
            if not after.isdisjoint(operand.name for operand in each.operands):
                after.add(each.name)
        found = frozenset(
            each.name
            for each in inside
            if each.opcode == opcode and (not found or each.name in after)
        )
        if not found:
            return False
    return True


def softmax_with_product(program: PeakProgram, scores: Scores) -> str | None:
    """Return the instruction that makes the softmax of scores and multiplies it, in one.

    It is a fusion, or the kernel that the TPU's compiler has for it.
    """
    readers = {name for each in scores.value_ids for name in program.readers_of.get(each, ())}
    found = [
        name
        for name in readers
        if name in program.products
        if _is_fused(program, name, scores) or _is_kernel(program, name, scores)
    ]
    return min(found, key=lambda name: program.rows.get(name, 0), default=None)


def _is_fused(program: PeakProgram, instruction: str, scores: Scores) -> bool:
    is_possible = program.computes_with(instruction, "exponential")
    return is_possible and scores.rows in reduced_exponentials(program, instruction)


def _is_kernel(program: PeakProgram, instruction: str, scores: Scores) -> bool:
    """Return True for the kernel, whose other factor has the dimension over which it sums."""
    called = program.instructions[instruction]
    if called.target != "tpu_custom_call" or not (called.op_name or "").startswith(_KERNEL):
        return False
    others = program.wholes_read_by(instruction) - set(scores.value_ids)
    return any(scores.length in program.values[each].dimensions for each in others)


def sums_over(program: PeakProgram, scores: Scores) -> bool:
    """Return True if a product of the forward pass sums scores over their dimension.

    Up to jaxlib 0.8, only ops in a function of their own have marks of the backward pass: a product
    with a gradient belongs to it, too. A product with a one-hot matrix selects scores.
    """
    size, keys = scores.elements, scores.length
    sizes = [
        math.prod(made.dimensions)
        for each in scores.value_ids
        if not program.values[each].is_backward
        for name in program.readers_of.get(each, ())
        if name in program.products and not _selects(program, name)
        for made in program.made_by.get(name, ())
        if not made.is_backward
    ]
    return any(
        keys * each % size == 0
        and keys * each >= _LEAST_WIDTH * size
        and each * LEAST_GROWTH <= size
        for each in sizes
    )


def _selects(program: PeakProgram, product: str) -> bool:
    """Return True if a factor of a product is a comparison, such as with numbers of columns."""
    read = (program.values[each].name for each in program.read_by.get(product, ()))
    makers = (program.instructions[each] for each in read if each in program.instructions)
    return any(each.computes_with("compare") and each.computes_only(_COMPARING) for each in makers)
