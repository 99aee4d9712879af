"""Derive buffer sets: the values that must share an address.

The rules are those of XLA's `HloAliasAnalysis` (xla/hlo/analysis/hlo_alias_analysis.cc). At each
tuple index, the values at these positions are joined:

- loop: its result and operand, the root and parameter of its body, the parameter of its condition;
- conditional: its result and the root of each branch;
- update in place: the output and the operand that it overwrites;
- entry computation: a result and the parameter donated to it.

Values that may share but need not (sorts, elementwise operations) are not joined. The result of an
asynchronous start is not joined with the root of its computation.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.in_place import in_place_pairs, updating
from xlagraph.hlo.instruction import Aliasing, Instruction
from xlagraph.hlo.program import Program
from xlagraph.hlo.shapes import WHOLE, nested_index


class Positions:
    """The id of the value at each position: instruction and shape index.

    It is made from value ids, each with its positions and uses.
    """

    def __init__(
        self, used_values: Iterable[tuple[int, Iterable[tuple[str, str | None]], object]]
    ) -> None:
        self.arrays: dict[str, int] = {}
        """Value at each instruction that is an array."""
        self.tuples: dict[str, dict[str, int]] = {}
        """Value at each index of the others."""
        arrays, tuples = self.arrays, self.tuples
        for value_id, positions, _ in used_values:
            for name, index in positions:
                if not index:
                    arrays[name] = value_id
                elif name in tuples:
                    tuples[name][index] = value_id
                else:
                    tuples[name] = {index: value_id}

    def find(self, name: str, index: str) -> int | None:
        """Return the value at a position."""
        found = self.arrays.get(name) if index == WHOLE else None
        if found is None and name in self.tuples:
            return self.tuples[name].get(index)
        return found

    def of(self, name: str) -> Mapping[str, int]:
        """Return an instruction's values by index."""
        if name in self.tuples:
            return self.tuples[name]
        return {WHOLE: self.arrays[name]} if name in self.arrays else {}


def buffer_sets(
    value_ids: Iterable[int],
    positions: Positions,
    program: Program,
    computations: Iterable[Computation],
) -> dict[int, int]:
    """Return the set of each value: the smallest id in the set.

    `computations` are those in the schedule; fused ones are read at their callers.
    """
    pairs = (
        pair for computation in computations for pair in _pairs(computation, positions, program)
    )
    return connected_components(value_ids, chain(pairs, _donated(positions, program)))


def connected_components(
    value_ids: Iterable[int], pairs: Iterable[tuple[int, int]]
) -> dict[int, int]:
    """Return the smallest id of the connected component of each id."""
    parent = {value_id: value_id for value_id in value_ids}

    def root(value_id: int) -> int:
        while parent[value_id] != value_id:
            parent[value_id] = parent[parent[value_id]]
            value_id = parent[value_id]
        return value_id

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        parent[high] = low
    for value_id, above in parent.items():
        if above != value_id:
            parent[value_id] = root(value_id)
    return parent


def _pairs(
    computation: Computation, positions: Positions, program: Program
) -> Iterator[tuple[int, int]]:
    for loop in computation.by_opcode.get("while", ()):
        yield from _around_loop(loop, positions, program)
    for conditional in computation.by_opcode.get("conditional", ()):
        own = positions.of(conditional.name)
        for name in conditional.branches:
            root = program.computation(name).root
            yield from _at_each_index(own, positions.of(root.name))
    for instruction in updating(computation, program):
        for pair in in_place_pairs(instruction, program):
            yield from _in_place(pair, instruction, positions)


def _around_loop(
    loop: Instruction, positions: Positions, program: Program
) -> Iterator[tuple[int, int]]:
    own = positions.of(loop.name)
    operand = loop.operand(0)
    yield from _at_each_index(own, positions.of(operand.name), operand.element)
    body = program.computation(loop.callee("body"))
    condition = program.computation(loop.callee("condition"))
    for instruction in (
        *body.parameters.values(),
        body.root,
        *condition.parameters.values(),
    ):
        yield from _at_each_index(own, positions.of(instruction.name))


def _in_place(
    pair: Aliasing, instruction: Instruction, positions: Positions
) -> Iterator[tuple[int, int]]:
    if pair.operand >= len(instruction.operands):
        return
    operand = instruction.operands[pair.operand]
    written = positions.find(instruction.name, pair.output_index)
    index = nested_index(operand.element, pair.operand_index)
    over = positions.find(operand.name, index)
    if written is not None and over is not None:
        yield written, over


def _at_each_index(
    own: Mapping[str, int], others: Mapping[str, int], prefix: str = WHOLE
) -> Iterator[tuple[int, int]]:
    for index, value_id in own.items():
        other = others.get(nested_index(prefix, index))
        if other is not None:
            yield value_id, other


def _donated(positions: Positions, program: Program) -> Iterator[tuple[int, int]]:
    entry = program.entry
    result = positions.of(entry.root.name)
    for (number, index), output_index in program.output_by_donated.items():
        parameter = entry.parameters.get(number)
        if parameter is None:
            continue
        given = positions.find(parameter.name, index)
        made = result.get(output_index)
        if given is not None and made is not None:
            yield made, given
