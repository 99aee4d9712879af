"""Follow the dimensions of a program's arrays through its operations.

    followed = follow(operations_of_text(text))
    followed.at("dot.3", "{}")      the dimensions of a value, as numbers of `Lengths`

Every operation says which dimensions of its operands and of its result are the same, by the rules
of `operation_rules`; fusions, calls, loops and branches are followed inside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from xlagraph.planner.dimensions.dimension_trees import Array, Tree, arrays, element, fresh, same
from xlagraph.planner.dimensions.lengths import Lengths
from xlagraph.planner.dimensions.module_operations import ModuleOperations, Operation, ShapeTree
from xlagraph.planner.dimensions.operation_rules import Unfollowed, result_of

_PRODUCT_OF_GPU: Final = "gemm_fusion"
"""Beginning of the names of computations with a matrix product of the GPU compiler."""


@dataclass(frozen=True, slots=True)
class FollowedDimensions:
    """The dimensions of all arrays of a program."""

    lengths: Lengths
    results: Mapping[str, Tree]
    """Dimensions of each operation's result, by name."""
    parameters: Mapping[int, Tree]
    """Dimensions of the entry's parameters, by number."""
    unfollowed: Sequence[Unfollowed]
    """Operations whose dimensions are not known to depend on their operands."""

    def at(self, name: str, index: Sequence[int]) -> Array | None:
        """Return the dimensions of a value; None if the operation is unknown."""
        found = element(self.results.get(name), index)
        return found if isinstance(found, tuple) else None


def follow(module: ModuleOperations) -> FollowedDimensions:
    """Follow all dimensions of a program; linear in its operations."""
    following = _Following(module)
    parameters = {
        each.numbers["number"][0]: fresh(following.lengths, each.shape)
        for each in module.computations.get(module.entry, ())
        if each.opcode == "parameter" and each.numbers.get("number")
    }
    for tree in parameters.values():
        following.lengths.give(chain.from_iterable(arrays(tree)))
    following.run(module.entry, parameters)
    return FollowedDimensions(
        following.lengths, following.results, parameters, following.unfollowed
    )


@dataclass
class _Following:
    module: ModuleOperations
    lengths: Lengths = field(default_factory=Lengths)
    results: dict[str, Tree] = field(default_factory=dict)
    unfollowed: list[Unfollowed] = field(default_factory=list)
    shapes: dict[str, ShapeTree] = field(default_factory=dict)
    _running: set[str] = field(default_factory=set)

    def run(self, computation: str, parameters: Mapping[int, Tree]) -> Tree | None:
        """Follow a computation; return the dimensions of its result, if its root is known."""
        if computation in self._running:  # a damaged text
            return None
        self._running.add(computation)
        for each in self.module.computations.get(computation, ()):
            given = None
            if each.opcode == "parameter" and each.numbers.get("number"):
                given = parameters.get(each.numbers["number"][0])
            self.shapes[each.name] = each.shape
            self.results[each.name] = self._result(each) if given is None else given
        self._running.discard(computation)
        return self.results.get(self.module.roots.get(computation, ""))

    def _result(self, each: Operation) -> Tree:
        operands = [element(self.results.get(name), index) for name, index in each.operands]
        known = [() if operand is None else operand for operand in operands]
        called = self._called(each, known)
        if called is not None:
            return called
        shapes = [self.shapes.get(name) for name, _ in each.operands]
        return result_of(each, known, shapes, self.lengths, self.unfollowed)

    def _called(self, each: Operation, operands: Sequence[Tree]) -> Tree | None:
        """Follow the computations that an operation runs; None if it runs none."""
        opcode, callees = each.opcode, each.callees
        if opcode == "while" and "body" in callees and operands:
            for name in (*callees.get("condition", ()), *callees["body"]):
                with self.lengths.loop():
                    state = self.run(name, {0: operands[0]})
                if name in callees["body"] and state is not None:
                    same(self.lengths, operands[0], state)
            return operands[0]
        if opcode == "conditional":
            result = fresh(self.lengths, each.shape)
            for name, operand in zip(callees.get("branches", ()), operands[1:], strict=False):
                if (branch := self.run(name, {0: operand})) is not None:
                    same(self.lengths, result, branch)
            return result
        names = callees.get("calls") or (callees.get("to_apply") if opcode == "call" else None)
        if not names or opcode.endswith(("-done", "-update")):
            return None
        used = [self.lengths.used(each) if isinstance(each, tuple) else each for each in operands]
        returned = self.run(names[0], dict(enumerate(used)))
        if names[0].startswith(_PRODUCT_OF_GPU):
            self._keep_parts(names[0])
        if not opcode.endswith("-start"):
            return returned
        started = fresh(self.lengths, each.shape)
        if isinstance(started, list) and len(started) > 1 and returned is not None:
            same(self.lengths, started[1], returned)
            for one, other in zip(arrays(started[0]), operands, strict=False):
                same(self.lengths, one, other)
        return started

    def _keep_parts(self, computation: str) -> None:
        """Note in how many parts a GPU computes products, to add them up: batch dimensions."""
        for each in self.module.computations.get(computation, ()):
            left = self.results.get(each.operands[0].name) if each.operands else None
            if each.opcode == "dot" and isinstance(left, tuple):
                of_parts = each.numbers.get("lhs_batch_dims", ())
                of_part = each.numbers.get("lhs_contracting_dims", ())
                self.lengths.keep_parts((left[x], left[y]) for x in of_parts for y in of_part)
