"""Which dimensions of an operation's operands and result are the same, by opcode.

The rules are those of XLA's shape inference (xla/service/shape_inference.cc). An operation without
a rule that keeps the shape of an operand keeps its dimensions: all elementwise ones.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from xlagraph.planner.dimensions.dimension_trees import (
    Array,
    OperandDimensions,
    Tree,
    arrays,
    element,
    same,
)
from xlagraph.planner.dimensions.lengths import Lengths
from xlagraph.planner.dimensions.module_operations import ArrayShape, Operation, ShapeTree
from xlagraph.planner.dimensions.window_rules import (
    convolution_rule,
    dynamic_slice_rule,
    dynamic_update_slice_rule,
    gather_rule,
    pad_rule,
    reduce_window_rule,
    scatter_rule,
    slice_rule,
)


class Unfollowed(NamedTuple):
    """An operation whose result has dimensions that its operands do not explain."""

    name: str
    opcode: str
    read: tuple[int, ...]
    """Dimensions of its operands that the result does not have."""


def result_of(
    record: Operation,
    operands: Sequence[Tree],
    shapes: Sequence[ShapeTree | None],
    lengths: Lengths,
    unfollowed: list[Unfollowed],
) -> Tree:
    """Return the dimensions of an operation's result; add to `unfollowed` what has no rule."""
    used = [lengths.used(each) if isinstance(each, tuple) else each for each in operands]
    operation = OperandDimensions(record, used, shapes, lengths)
    try:
        rule = _rule(record)
        result = _elementwise(operation, unfollowed) if rule is None else rule(operation)
    except (IndexError, ValueError):  # numbers that do not fit the shapes: a damaged text
        return operation.fresh()
    if isinstance(result, tuple) and record.opcode != "get-tuple-element":
        is_constant = record.opcode in _CONSTANT or (
            bool(used) and all(map(_is_free, operands, [lengths] * len(used)))
        )
        if is_constant:
            lengths.free(result)
    return result


def _is_free(tree: Tree, lengths: Lengths) -> bool:
    return isinstance(tree, tuple) and all(map(lengths.is_free, tree))


def _rule(record: Operation) -> Callable[[OperandDimensions], Tree] | None:
    opcode, numbers = record.opcode, record.numbers
    if opcode == "custom-call":  # of a library, with the attributes of what it computes
        if "lhs_contracting_dims" in numbers:
            return _dot
        if "overwritten" in numbers:
            return _overwriting
        return convolution_rule if "lhs" in numbers else None
    if opcode.endswith("-start"):
        return _started
    return _done if opcode.endswith("-done") else _RULES.get(opcode)


def _elementwise(operation: OperandDimensions, unfollowed: list[Unfollowed]) -> Tree:
    """Return the operand's dimensions if it has the shape of the result."""
    record, lengths = operation.record, operation.lengths
    result: Tree | None = None
    if isinstance(record.shape, ArrayShape):
        alike = [
            each
            for each in operation.operands
            if isinstance(each, tuple) and tuple(map(lengths.length, each)) == record.shape.lengths
        ]
        if alike and record.opcode != "custom-call":
            for other in alike[1:]:
                lengths.all_equal(alike[0], other)
            result = alike[0]
    if result is None:
        result = operation.fresh()
        if operation.operands and _leading(result, operation.operands[0], lengths):
            read = tuple(
                number
                for operand in operation.operands
                for array in arrays(operand)
                for number in array
            )
            unfollowed.append(Unfollowed(record.name, record.opcode, read))
    return result


def _leading(result: Tree, operand: Tree, lengths: Lengths) -> bool:
    """Take equal leading dimensions for the same; return False if there is nothing to follow.

    Library calls have no rule: most keep the leading dimensions of their first operand.
    """
    first = next(arrays(operand), ())
    has_any = False
    for array in arrays(result):
        has_any = has_any or any(lengths.length(each) > 1 for each in array)
        for one, other in zip(array, first, strict=False):
            if lengths.length(one) != lengths.length(other):
                break
            lengths.equal(one, other)
    return has_any


def _operand(number: int) -> Callable[[OperandDimensions], Tree]:
    return lambda operation: operation.operands[number]


def _fresh(operation: OperandDimensions) -> Tree:
    return operation.fresh()


def _tuple(operation: OperandDimensions) -> Tree:
    return list(operation.operands)


def _element_of_tuple(operation: OperandDimensions) -> Tree:
    found = element(operation.operands[0], operation.numbers("index"))
    return operation.fresh() if found is None else found


def _sort(operation: OperandDimensions) -> Tree:
    first = operation.operands[0]
    for other in operation.operands[1:]:
        same(operation.lengths, first, other)
    return first if len(operation.operands) == 1 else list(operation.operands)


def _broadcast(operation: OperandDimensions) -> Tree:
    result, places = operation.fresh_array(), operation.numbers("dimensions")
    for own, place in zip(operation.array(0), places, strict=False):
        operation.lengths.equal(result[place], own)
    operation.lengths.free(each for place, each in enumerate(result) if place not in places)
    return result


def _reshape(operation: OperandDimensions) -> Tree:
    result = operation.fresh_array()
    operation.lengths.products(operation.array(0), result)
    return result


def _transpose(operation: OperandDimensions) -> Tree:
    own = operation.array(0)
    return tuple([own[number] for number in operation.numbers("dimensions")])


def _reduce(operation: OperandDimensions) -> Tree:
    count = len(operation.operands) // 2
    first, removed = operation.array(0), frozenset(operation.numbers("dimensions"))
    for number in range(1, count):
        operation.lengths.all_equal(first, operation.array(number))
    kept = tuple([each for number, each in enumerate(first) if number not in removed])
    return kept if count == 1 else [kept] * count


def _dot(operation: OperandDimensions) -> Tree:
    result = operation.fresh()
    left, right = operation.array(0), operation.array(1)
    numbers, equal = operation.numbers, operation.lengths.all_equal
    used = []
    for side, array in (("lhs", left), ("rhs", right)):
        batch, contracting = numbers(f"{side}_batch_dims"), numbers(f"{side}_contracting_dims")
        free = [n for n in range(len(array)) if n not in batch and n not in contracting]
        used.append([[array[n] for n in each] for each in (batch, contracting, free)])
    equal(used[0][0], used[1][0])
    equal(used[0][1], used[1][1])
    product = next(arrays(result), ())
    # a library's product may add its other operands, and reserves a workspace
    equal(product, (*used[0][0], *used[0][2], *used[1][2]))
    return result


def _concatenate(operation: OperandDimensions) -> Tree:
    result = operation.fresh_array()
    (along,) = operation.numbers("dimensions")[:1]
    parts = [operation.array(number) for number in range(len(operation.operands))]
    for part in parts:
        for number, each in enumerate(part):
            if number != along:
                operation.lengths.equal(result[number], each)
    if len(parts) == 1:
        operation.lengths.equal(result[along], parts[0][along])
    else:
        operation.lengths.follow(result[along], [part[along] for part in parts], is_mutual=True)
    return result


def _by_part(operation: OperandDimensions) -> Tree:
    """Make dimensions equal to the operand's, or a constant part or multiple of it."""
    result = operation.fresh()
    pairs = zip(arrays(result), map(operation.array, range(len(operation.operands))), strict=False)
    for own, others in pairs:
        if len(own) == len(others):
            for one, other in zip(own, others, strict=False):
                operation.link(one, other)
    return result


def _solve(operation: OperandDimensions) -> Tree:
    matrix, sides = operation.array(0), operation.array(1)
    operation.lengths.all_equal(matrix[:-2], sides[:-2])
    return sides


def _overwriting(operation: OperandDimensions) -> Tree:
    """Return what a solver or a factorization writes over an operand, and what it finds beside it.

    Other operands have only the leading dimensions, which count matrices, in common with it.
    """
    result = operation.fresh()
    place, number = operation.numbers("overwritten")
    given = operation.array(number)
    for at, array in enumerate(arrays(result)):
        if at == place and len(array) == len(given):
            operation.lengths.all_equal(array, given)
        else:
            _leading(array, given, operation.lengths)
    for other in operation.operands:
        _leading(other, given[:-2], operation.lengths)
    return result


def _bitcast(operation: OperandDimensions) -> Tree:
    """Split the same bytes into other dimensions, in the order of the layouts."""
    result = operation.fresh_array()
    operation.lengths.products(
        _outermost_first(operation.array(0), operation.shapes[0]),
        _outermost_first(result, operation.record.shape),
    )
    return result


def _outermost_first(array: Array, shape: ShapeTree | None) -> list[int]:
    """Return dimensions from the outermost to the innermost of the layout."""
    order = shape.minor_to_major if isinstance(shape, ArrayShape) else ()
    if len(order) != len(array):
        return list(array)
    return [array[number] for number in reversed(order)]


def _started(operation: OperandDimensions) -> Tree:
    """Return operands and results of a copy or collective that was started."""
    result = operation.fresh()
    for own in result if isinstance(result, list) else [result]:
        for one, operand in zip(arrays(own), operation.operands, strict=False):
            for other in arrays(operand):
                for mine, theirs in zip(one, other, strict=False):
                    operation.link(mine, theirs)
                break
    return result


def _done(operation: OperandDimensions) -> Tree:
    """Return the result of what was started: the element of its shape."""
    result = operation.fresh()
    given = operation.operands[0]
    found = [tuple(map(operation.lengths.length, each)) for each in arrays(result)]
    for each in given if isinstance(given, list) else [given]:
        shapes = [tuple(map(operation.lengths.length, array)) for array in arrays(each)]
        if shapes == found:
            same(operation.lengths, result, each)
    return result


_CONSTANT: Final = ("constant", "iota")
_RULES: Final[Mapping[str, Callable[[OperandDimensions], Tree]]] = {
    **dict.fromkeys(("parameter", "constant", "iota", "infeed", "partition-id", "rng"), _fresh),
    **dict.fromkeys(
        ("optimization-barrier", "add-dependency", "while", "domain", "reverse", "cholesky",
         "set-dimension-size", "copy", "convert"),
        _operand(0),
    ),
    **dict.fromkeys(
        ("all-gather", "reduce-scatter", "all-to-all", "fft", "all-reduce",
         "collective-permute", "select-and-scatter"),
        _by_part,
    ),
    "tuple": _tuple,
    "get-tuple-element": _element_of_tuple,
    "sort": _sort,
    "broadcast": _broadcast,
    "reshape": _reshape,
    "bitcast": _bitcast,
    "transpose": _transpose,
    "reduce": _reduce,
    "dot": _dot,
    "concatenate": _concatenate,
    "slice": slice_rule,
    "pad": pad_rule,
    "dynamic-slice": dynamic_slice_rule,
    "dynamic-update-slice": dynamic_update_slice_rule,
    "gather": gather_rule,
    "scatter": scatter_rule,
    "reduce-window": reduce_window_rule,
    "convolution": convolution_rule,
    "triangular-solve": _solve,
}  # fmt: skip
