"""The dimensions of an operation's operands and result."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from xlagraph.planner.dimensions.lengths import Lengths
from xlagraph.planner.dimensions.module_operations import ArrayShape, Operation, ShapeTree

Array: TypeAlias = tuple[int, ...]
"""The dimensions of an array."""
Tree: TypeAlias = Array | list["Tree"]
"""The dimensions of an array, or of the elements of a tuple."""


def fresh(lengths: Lengths, shape: ShapeTree) -> Tree:
    """Return dimensions of which nothing is known."""
    if isinstance(shape, ArrayShape):
        return tuple([lengths.add(length) for length in shape.lengths])
    return [fresh(lengths, each) for each in shape]


def element(tree: Tree | None, index: Sequence[int]) -> Tree | None:
    """Return an element of a tuple; None if there is none."""
    for number in index:
        if not isinstance(tree, list) or number >= len(tree):
            return None
        tree = tree[number]
    return tree


def arrays(tree: Tree) -> Iterator[Array]:
    """Yield the arrays of a tuple in order."""
    if isinstance(tree, tuple):
        yield tree
    else:
        for each in tree:
            yield from arrays(each)


def same(lengths: Lengths, one: Tree, other: Tree) -> None:
    """Make the dimensions of two results the same."""
    for some, others in zip(arrays(one), arrays(other), strict=False):
        if len(some) == len(others):
            lengths.all_equal(some, others)


@dataclass(eq=False)
class OperandDimensions:
    """An operation with the dimensions of its operands."""

    record: Operation
    operands: Sequence[Tree]
    shapes: Sequence[ShapeTree | None]
    """Shapes of the operands, if known."""
    lengths: Lengths

    def numbers(self, key: str) -> Sequence[int]:
        """Return the numbers of an attribute; none if it is missing."""
        return self.record.numbers.get(key, ())

    def array(self, number: int) -> Array:
        """Return the dimensions of an operand that is an array."""
        found = self.operands[number] if number < len(self.operands) else ()
        return found if isinstance(found, tuple) else ()

    def fresh(self) -> Tree:
        """Return dimensions of the result of which nothing is known."""
        return fresh(self.lengths, self.record.shape)

    def fresh_array(self) -> Array:
        """Return those of a result that is an array, else of its first array."""
        found = self.fresh()
        return found if isinstance(found, tuple) else next(arrays(found), ())

    def link(self, one: int, other: int, *, is_weak: bool = False, is_mutual: bool = False) -> None:
        """Link a dimension to another: equal to it, or a constant fraction or multiple of it."""
        lengths = self.lengths
        length, another = lengths.length(one), lengths.length(other)
        if length == another:
            lengths.equal(one, other)
        elif length > 1 and another > 1:
            factor = Fraction(length, another)
            lengths.follow(one, [other], factor, is_weak=is_weak, is_mutual=is_mutual)
