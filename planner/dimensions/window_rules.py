"""Which dimensions are the same in operations that read or write a part of an array.

The rules are those of XLA's shape inference (xla/service/shape_inference.cc).
"""

from collections.abc import Sequence
from fractions import Fraction

from xlagraph.planner.dimensions.dimension_trees import Array, OperandDimensions, Tree, arrays
from xlagraph.planner.dimensions.module_operations import NUMBERS_OF_WINDOW, is_of_product


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
            lengths.follow(one, [other], is_mutual=True)
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


def convolution_rule(operation: OperandDimensions) -> Tree:
    """Make the dimensions of a convolution's result those of its operands, or follow them."""
    result = operation.fresh()
    known = operation.array(0), operation.array(1), next(arrays(result), ())
    left, right, out = (known[place] for place in operation.numbers("roles") or (0, 1, 2))
    batch, feature, *spatial = operation.numbers("out")
    left_batch, left_feature, *left_spatial = operation.numbers("lhs")
    input_feature, output_feature, *right_spatial = operation.numbers("rhs")
    equal = operation.lengths.equal
    equal(out[batch], left[left_batch])  # of another length if batches are grouped
    equal(out[feature], right[output_feature])
    equal(left[left_feature], right[input_feature])  # of another length if features are grouped
    for number, (one, other) in enumerate(zip(spatial, left_spatial, strict=False)):
        kernel = right[right_spatial[number]] if number < len(right_spatial) else None
        _slide(operation, number, out[one], left[other], kernel)
    return result


def reduce_window_rule(operation: OperandDimensions) -> Tree:
    """Make the dimensions of what windows are reduced to those of the operands, or follow them."""
    count = len(operation.operands) // 2
    first, lengths = operation.array(0), operation.lengths
    result = operation.fresh()
    own = next(arrays(result), ())
    for number, (one, other) in enumerate(zip(own, first, strict=False)):
        _slide(operation, number, one, other)
    for number in range(1, count):
        lengths.all_equal(first, operation.array(number))
    for each in arrays(result):
        lengths.all_equal(own, each)
    return result


def _slide(
    operation: OperandDimensions, number: int, one: int, other: int, kernel: int | None = None
) -> None:
    """Let the number of places of a window follow the length over which it slides.

    The gradient of a kernel slides one activation over another, which is about as long. If both
    become shorter, there are as many places as before. A dimension of a TPU's product is the same
    in the operands and the result that have it.
    """
    lengths, numbers = operation.lengths, operation.numbers("window")[NUMBERS_OF_WINDOW * number :]
    window = [max(each, 1) for each in numbers[:NUMBERS_OF_WINDOW] or (1, 1, 1, 1)]
    size, stride, dilation, kernel_dilation = window
    places, length = lengths.length(one), lengths.length(other)
    factor = Fraction(dilation, stride)
    is_product = is_of_product(window, places)
    if kernel is not None and is_product and (dilation > 1 or 1 in (places, length)):
        for each in (one, other):
            if lengths.length(each) == lengths.length(kernel):
                lengths.equal(each, kernel)
    elif places == length:
        lengths.equal(one, other)
    elif kernel is not None and kernel_dilation * (size - 1) >= places:
        factors = factor, -Fraction(kernel_dilation, stride)
        lengths.follow(one, [other, kernel], factors, is_weak=True)
    elif places > 1 and length > 1:
        lengths.follow(one, [other], factor, is_mutual=True)
