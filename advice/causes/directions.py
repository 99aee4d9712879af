"""Find out whether a mapped dimension counts directions in which derivatives are taken.

`jax.vmap` of products with a Jacobian or Hessian takes derivatives in several directions at once.
They are linear in the directions, unlike what a network computes of the examples of a batch.
"""

import re
from collections.abc import Collection
from typing import Final

from xlagraph.advice.causes.axes import Axes
from xlagraph.hlo.overwriting import ELEMENTWISE
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.dimension_trees import arrays, element
from xlagraph.planner.dimensions.module_operations import ModuleOperations, OperandName, Operation
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

OF_DIRECTIONS: Final = re.compile(r"vmap\((?:jit\()?(?:transpose\()?jvp\(")
"""Op names of derivatives in several directions, forward or backward."""
_LINEAR: Final = SAME_ELEMENTS | {
    "add", "subtract", "negate", "broadcast", "slice", "reverse", "concatenate", "pad", "real",
    "imag", "complex", "parameter", "tuple", "get-tuple-element", "fusion", "while", "conditional",
    "call", "dynamic-update-slice",
}  # fmt: skip
"""Opcodes whose result is linear in all operands, or of operations that are looked into."""
_PRODUCTS: Final = frozenset(("multiply", "dot", "convolution"))
_OF_FIRST: Final = frozenset(("divide", "dynamic-slice", "gather"))
"""Opcodes whose result is linear in the first operand alone."""
_SUMS: Final = frozenset(("reduce", "reduce-window"))
_REPEATING: Final = (ELEMENTWISE - {"rng"}) | SAME_ELEMENTS | {"broadcast"}
"""Opcodes whose result differs along a dimension only if an operand does."""


def are_directions(axes: Axes, dimensions: frozenset[int]) -> bool:
    """Return True if all derivatives are linear in what differs along the dimensions."""
    program = axes.program
    if program.module is None or not _have_counterparts(axes, dimensions):
        return False
    along = _Along(axes, program.module, dimensions)
    return all(
        along.is_linear(each)
        for name, values in program.made_by.items()
        if any(OF_DIRECTIONS.search(value.known_op_name or "") for value in values)
        and (operation := program.operations.get(name)) is not None
        for each in (operation, *program.fused_operations(operation))
    )


def _have_counterparts(axes: Axes, dimensions: frozenset[int]) -> bool:
    """Return True if each input with the dimensions has the shape of another input otherwise.

    Directions have that of the input for which derivatives are taken. Other inputs are data, such
    as points to transform.
    """
    inputs = axes.program.compilation.array_parameters
    shapes = {_lengths(axes, each, frozenset()) for each in inputs}
    given = (each for each in inputs if not dimensions.isdisjoint(axes.of(each)))
    return all(_lengths(axes, each, dimensions) in shapes for each in given)


def _lengths(axes: Axes, value: StoredValue, without: frozenset[int]) -> tuple[int, ...]:
    return tuple([axes.length(each) for each in axes.in_order(value) if each not in without])


class _Along:
    """The operations of a module, as far as their results differ along dimensions."""

    def __init__(self, axes: Axes, module: ModuleOperations, dimensions: frozenset[int]) -> None:
        self._axes = axes
        self._module = module
        self._dimensions = dimensions
        self._repeated: set[str] = set()
        """Operations whose results are the same everywhere along the dimensions."""
        fused = {
            name
            for operations in module.computations.values()
            for each in operations
            if each.opcode == "fusion"
            for name in each.callees.get("calls", ())
        }
        for name in module.computations.keys() - fused:
            self._read(name, ())

    def _read(self, computation: str, given: Collection[int]) -> None:
        """Note what is repeated in a computation; so are the parameters with these numbers."""
        for each in self._module.computations[computation]:
            if each.opcode == "parameter":
                is_repeated = not set(each.numbers.get("number", ())).isdisjoint(given)
            elif each.opcode == "fusion":
                called = each.callees["calls"][0]
                same = [at for at, read in enumerate(each.operands) if not self._differs(read)]
                self._read(called, same)
                is_repeated = self._module.roots.get(called) in self._repeated
            else:
                is_repeated = each.opcode in _REPEATING and not any(
                    map(self._differs, each.operands)
                )
            if is_repeated:
                self._repeated.add(each.name)

    def is_linear(self, operation: Operation) -> bool:
        """Return True if a result is linear in those operands that differ along the dimensions."""
        differ = [self._differs(each) for each in operation.operands]
        opcode = operation.opcode
        if opcode in _LINEAR or not any(differ):
            return True
        if opcode in _PRODUCTS or "lhs_contracting_dims" in operation.numbers:
            return sum(differ) == 1
        if opcode in _OF_FIRST:
            return not any(differ[1:])
        if opcode == "scatter":
            return not differ[1] and self._adds(operation)
        return self._adds(operation) if opcode in _SUMS else opcode == "select" and not differ[0]

    def _differs(self, read: OperandName) -> bool:
        found = element(self._axes.followed.results.get(read.name), read.element)
        return (
            read.name not in self._repeated
            and found is not None
            and any(
                not self._dimensions.isdisjoint(self._axes.parts(array)) for array in arrays(found)
            )
        )

    def _adds(self, operation: Operation) -> bool:
        return all(
            each.opcode in ("parameter", "add")
            for name in operation.callees.get("to_apply", ())
            for each in self._module.computations[name]
        )
