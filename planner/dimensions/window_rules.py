"""Which dimensions are the same in operations that read or write a part of an array.

The rules are those of XLA's shape inference (xla/service/shape_inference.cc).
"""

from collections.abc import Sequence
from fractions import Fraction

from xlagraph.planner.dimensions.dimension_trees import Array, OperandDimensions, Tree

__all__ = [
    "dynamic_slice_rule",
    "dynamic_update_slice_rule",
    "gather_rule",
    "pad_rule",
    "scatter_rule",
    "slice_rule",
]


def slice_rule(operation: OperandDimensions) -> Tree:
    """Make the dimensions of a slice equal to parts of the whole, or follow it."""
    result, own, bounds = operation.fresh_array(), operation.array(0), operation.numbers("slice")
    lengths = operation.lengths
    for number, (one, other) in enumerate(zip(result, own, strict=False)):
        start, _, stride = bounds[3 * number : 3 * number + 3]
        length, whole = lengths.length(one), lengths.length(other)
        if length == whole or (_is_part(length, whole, start) and stride == 1):
            operation.link(one, other)
        elif stride > 1:
            lengths.follow(one, [other], Fraction(1, stride))
        elif 2 * length > whole:  # all but a few: x[:-1]
            lengths.follow(one, [other])
    return result


def _is_part(length: int, whole: int, start: int) -> bool:
    """Return True if a whole is split in equal parts, and this is one of them."""
    return length > 0 and whole % length == 0 and start % length == 0


def pad_rule(operation: OperandDimensions) -> Tree:
    """Make the padded dimensions equal to the operand's, or follow them."""
    result, own, padding = operation.fresh_array(), operation.array(0), operation.numbers("padding")
    lengths = operation.lengths
    for number, (one, other) in enumerate(zip(result, own, strict=False)):
        low, _, interior = padding[3 * number : 3 * number + 3]
        length, whole = lengths.length(other), lengths.length(one)
        if interior:
            lengths.follow(one, [other], Fraction(1 + interior))
        elif length == whole or (length > 1 and _is_part(length, whole, low)):
            operation.link(one, other, is_mutual=True)
        elif length > 1:
            lengths.follow(one, [other], is_mutual=True)
    return result


def dynamic_slice_rule(operation: OperandDimensions) -> Tree:
    """Make the dimensions of a slice at a variable start those of the whole."""
    result = operation.fresh_array()
    for one, other in zip(result, operation.array(0), strict=False):
        operation.link(one, other, is_weak=True)
        if operation.lengths.length(one) == 1:
            operation.lengths.iterate(other)
    return result


def dynamic_update_slice_rule(operation: OperandDimensions) -> Tree:
    """Make the dimensions of an updated slice those of the whole."""
    for whole, part in zip(operation.array(0), operation.array(1), strict=False):
        operation.link(whole, part, is_weak=True)
        if operation.lengths.length(part) == 1:
            operation.lengths.iterate(whole, written=operation.array(0))
    return operation.operands[0]


def gather_rule(operation: OperandDimensions) -> Tree:
    """Make the dimensions of gathered windows those of the operand and its indices."""
    result, own, indices = operation.fresh_array(), operation.array(0), operation.array(1)
    numbers, lengths = operation.numbers, operation.lengths
    offsets = numbers("offset_dims")
    inside = {*numbers("collapsed_slice_dims"), *numbers("operand_batching_dims")}
    kept = [each for number, each in enumerate(own) if number not in inside]
    for place, each in zip(offsets, kept, strict=False):
        lengths.equal(result[place], each)
    _of_indices(operation, indices, result, offsets)
    _batching(operation, own, indices, "operand_batching_dims", "start_indices_batching_dims")
    _rows(operation, own, indices, "start_index_map")
    return result


def scatter_rule(operation: OperandDimensions) -> Tree:
    """Make the dimensions of updates those of the operands and their indices."""
    count = (len(operation.operands) - 1) // 2
    indices, numbers = operation.array(count), operation.numbers
    windows = numbers("update_window_dims")
    inside = {*numbers("inserted_window_dims"), *numbers("input_batching_dims")}
    for number in range(count):
        own, update = operation.array(number), operation.array(count + 1 + number)
        kept = [each for place, each in enumerate(own) if place not in inside]
        for place, each in zip(windows, kept, strict=False):
            operation.lengths.equal(update[place], each)
        _of_indices(operation, indices, update, windows)
        _batching(operation, own, indices, "input_batching_dims", "scatter_indices_batching_dims")
        _rows(operation, own, indices, "scatter_dims_to_operand_dims")
    return operation.operands[0] if count == 1 else list(operation.operands[:count])


def _of_indices(
    operation: OperandDimensions, indices: Array, array: Array, windows: Sequence[int]
) -> None:
    """Link the dimensions of an array that are in no window to the dimensions of the indices."""
    (vector,) = operation.numbers("index_vector_dim")[:1] or (len(indices),)
    own = [each for number, each in enumerate(indices) if number != vector]
    outside = [each for number, each in enumerate(array) if number not in windows]
    operation.lengths.all_equal(outside, own)


def _rows(operation: OperandDimensions, own: Array, indices: Array, indexed: str) -> None:
    """Link the rows of an array to the indices if there is an index for each.

    `jax.vmap` puts the number of the example before the other indices. An index alone, as of a
    table, may be any row; as many of them as there are rows are an order, as of a shuffle, and
    rows that become fewer have a shorter one. Indices that are an input are chosen by the caller,
    as the edges of a graph.
    """
    lengths, places = operation.lengths, operation.numbers(indexed)
    if not (places and indices) or lengths.length(own[places[0]]) != lengths.length(indices[0]):
        return
    if len(places) > 1:
        lengths.follow(own[places[0]], [indices[0]], is_weak=True, is_mutual=True)
    elif not lengths.is_given(indices[0]):
        lengths.follow(indices[0], [own[places[0]]], is_weak=True)


def _batching(
    operation: OperandDimensions, own: Array, indices: Array, of_operand: str, of_indices: str
) -> None:
    pairs = zip(operation.numbers(of_operand), operation.numbers(of_indices), strict=False)
    for one, other in pairs:
        operation.lengths.equal(own[one], indices[other])
