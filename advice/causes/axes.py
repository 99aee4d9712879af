"""The dimensions of a program's values, followed through the operations of its module."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.shapes import index_numbers
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.dimension_trees import arrays
from xlagraph.planner.dimensions.following import follow
from xlagraph.planner.dimensions.module_operations import ModuleOperations


class Axes:
    """The dimensions of values, each by its representative; products of several are taken apart.

    Dimensions of length 1 are left out.
    """

    def __init__(self, program: PeakProgram, module: ModuleOperations) -> None:
        self.program = program
        self.followed = follow(module)
        self._known: dict[int, frozenset[int]] = {}

    @cached_property
    def given(self) -> frozenset[int]:
        """Dimensions of inputs."""
        trees = self.followed.parameters.values()
        return frozenset(self.parts(chain.from_iterable(chain.from_iterable(map(arrays, trees)))))

    def length(self, axis: int) -> int:
        """Return the length of a dimension."""
        return self.followed.lengths.length(axis)

    def of(self, value: StoredValue) -> frozenset[int]:
        """Return the dimensions of a value."""
        known = self._known
        if value.value_id not in known:
            known[value.value_id] = frozenset(self.in_order(value))
        return known[value.value_id]

    def in_order(self, value: StoredValue) -> list[int]:
        """Return the dimensions of a value, the outermost first."""
        return self.parts(self._dimensions(value))

    @cached_property
    def alone(self) -> frozenset[int]:
        """Dimensions that some value has by themselves.

        A GPU adds up products in parts, which divide the dimension of the sum in its fusions alone.
        """
        values = self.program.values.values()
        dimensions = {each for value in values for each in self._dimensions(value)}
        parts = map(self.followed.lengths.parts, dimensions)
        return frozenset(each[0] for each in parts if len(each) == 1)

    def _dimensions(self, value: StoredValue) -> Sequence[int]:
        return self.followed.at(value.name, index_numbers(value.shape_index)) or ()

    def parts(self, dimensions: Iterable[int]) -> list[int]:
        """Return dimensions with each product replaced by its factors."""
        lengths = self.followed.lengths
        parts = (part for each in dimensions for part in lengths.parts(each))
        return [part for part in parts if lengths.length(part) > 1]
