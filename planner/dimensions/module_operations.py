"""Operations of a module, as far as they decide about dimensions."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, TypeAlias, TypeVar

from xlagraph.hlo.program import Program
from xlagraph.hlo.shapes import Shape

NUMBER: Final = re.compile(r"-?\d+")
DIMENSIONS_OF_PRODUCT: Final = tuple(
    (f"{side}_{kind}_dims", re.compile(rf'\\?"{side}_{kind}_dimensions\\?":\[([^\]]*)\]'))
    for side in ("lhs", "rhs")
    for kind in ("batch", "contracting")
)
"""Attributes of a matrix product, by their pattern in the backend config of a custom call."""

ROLES_OF_CONVOLUTION: Final = {
    "__cudnn$convBackwardFilter": (0, 2, 1),
    "__cudnn$convBackwardInput": (2, 1, 0),
}
"""Places of operand, kernel and result of a forward convolution among the first two operands and
the result, by target of a custom call whose attributes are those of the forward one."""

OVERWRITTEN_BY_SOLVER: Final = {"__cublas$triangularSolve": (0, 1), "__cusolver$cholesky": (0, 0)}
"""Element of the result with the dimensions of an operand, and that operand, by target of a custom
call that does not say so, as others do with ``output_to_operand_aliasing``."""


class ArrayShape(NamedTuple):
    """Lengths of an array's dimensions."""

    lengths: tuple[int, ...]
    minor_to_major: tuple[int, ...]
    """Dimensions in the order of the layout, innermost first; empty if unknown."""


ShapeTree: TypeAlias = ArrayShape | list["ShapeTree"]
"""An array, or the elements of a tuple."""


NUMBERS_OF_WINDOW: Final = 4
"""Size, stride and two dilations of a window in each dimension."""


class OperandName(NamedTuple):
    """An operation that another one reads."""

    name: str
    element: tuple[int, ...] = ()
    """Tuple index within it."""


class Operation(NamedTuple):
    """An operation; names of attributes are those of XLA's text."""

    name: str
    opcode: str
    shape: ShapeTree
    operands: Sequence[OperandName]
    callees: Mapping[str, Sequence[str]]
    """Called computations by attribute: calls, to_apply, condition, body, branches."""
    numbers: Mapping[str, Sequence[int]]
    """Numbers of each attribute, in order: of a slice start, limit and stride of each
    dimension, of padding low, high and interior, of a window size, stride and dilation of
    operand and window; 1 for a comparison's direction EQ, else 0. `lhs`, `rhs` and `out` of a
    convolution are the places of batch and feature, or of input and output feature, then of
    each spatial dimension. `roles` of a gradient as in `ROLES_OF_CONVOLUTION`. `overwritten` of
    a custom call are the element of its result that has the dimensions of an operand, as it lies
    in its bytes, and that operand."""
    op_name: str | None = None
    """As the framework set it, of a comparison in a text; None for others, which none asks for."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of an array's dimensions, outermost first; none of a scalar or a tuple."""
        return self.shape.lengths if isinstance(self.shape, ArrayShape) else ()

    @property
    def has_window(self) -> bool:
        """True for a convolution with a window; without one, it is a product, as on a TPU."""
        numbers, out = (self.numbers.get(name, ()) for name in ("window", "out"))
        windows = (
            numbers[at : at + NUMBERS_OF_WINDOW] for at in range(0, len(numbers), NUMBERS_OF_WINDOW)
        )
        return self.opcode == "convolution" and any(
            window[0] > 1 and not is_of_product(window, self.lengths[place])
            for window, place in zip(windows, out[2:], strict=False)
        )


def is_of_product(window: Sequence[int], places: int) -> bool:
    """Return True if a window of some places is only the form of a dimension of a TPU's product.

    A batch dimension moves over the dilated operand by one element less than its size. One that
    only the kernel has moves over a single element; a contracted one does not move.
    """
    size, stride, dilation, _ = window
    is_batch = stride == size - 1 and dilation == size
    return size > 1 and (is_batch or (stride == dilation == 1 and places in (1, size)))


_Read = TypeVar("_Read")


class ReadOnAccess(Mapping[str, _Read]):
    """A mapping of known names, of which each is read once, when it is asked for."""

    def __init__(self, names: Collection[str], read: Callable[[str], _Read]) -> None:
        self._names, self._read = names, read
        self._known: dict[str, _Read] = {}

    def __getitem__(self, name: str) -> _Read:
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            self._known[name] = self._read(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True)
class ModuleOperations:
    """The operations of each computation, operands first.

    Most computations are bodies of fusions, of which few matter; those of a text are read when
    they are asked for.
    """

    entry: str
    computations: Mapping[str, Sequence[Operation]]
    roots: Mapping[str, str]
    """Name of the operation that returns the result of each computation; empty if unknown."""
    program: Program | None = None
    """The program with call stacks from which they were read; None for a message."""

    @cached_property
    def by_name(self) -> Mapping[str, Operation]:
        """All operations, by name."""
        if self.program is None or not isinstance(self.computations, ReadOnAccess):
            found = self.computations.values()
            return {each.name: each for operations in found for each in operations}
        owners = {
            row[0]: name
            for name, computation in self.program.computations.items()
            for row in computation.outline().rows
        }
        in_owner = ReadOnAccess(self.computations, self._of_computation)
        return ReadOnAccess(owners, lambda name: in_owner[owners[name]][name])

    def _of_computation(self, computation: str) -> Mapping[str, Operation]:
        return {each.name: each for each in self.computations[computation]}

    def may_have(self, opcode: str) -> bool:
        """Return False if certainly no operation has an opcode."""
        if self.program is None:
            found = self.computations.values()
            return any(each.opcode == opcode for operations in found for each in operations)
        return any(each.has_any((opcode,)) for each in self.program.computations.values())


@lru_cache(maxsize=1 << 13)  # a program has few shapes and repeats them
def shape_tree(shape: Shape) -> ShapeTree:
    """Return the lengths in a shape."""
    if shape.is_tuple:
        return [shape_tree(element) for element in shape.elements]
    order = (shape.layout or "{}")[1:].partition("}")[0].partition(":")[0]
    numbers = tuple(map(int, order.split(","))) if order.replace(",", "").isdecimal() else ()
    return ArrayShape(shape.dimensions or (), numbers)


def maker_of(operations: Mapping[str, Operation], name: str) -> str:
    """Return the name of the operation that makes the elements of another one."""
    while operations[name].opcode in ("get-tuple-element", "bitcast"):
        name = operations[name].operands[0].name
    return name
