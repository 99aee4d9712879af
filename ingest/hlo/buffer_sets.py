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

from xlagraph.ingest.hlo.in_place import in_place_pairs
from xlagraph.ingest.model.program import (
    WHOLE,
    Aliasing,
    Computation,
    Instruction,
    Program,
    nested_index,
)

__all__ = ["Positions", "buffer_sets", "connected_components"]

Positions = Mapping[str, Mapping[str, int]]
"""Id of the value at each position, by instruction and shape index."""


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
    return {value_id: root(value_id) for value_id in parent}


def _pairs(
    computation: Computation, positions: Positions, program: Program
) -> Iterator[tuple[int, int]]:
    for instruction in computation.instructions:
        if instruction.opcode == "while":
            yield from _around_loop(instruction, positions, program)
        elif instruction.opcode == "conditional":
            own = positions.get(instruction.name, {})
            for name in instruction.branches:
                root = program.computation(name).root
                yield from _at_each_index(own, positions.get(root.name, {}))
        else:
            for pair in in_place_pairs(instruction, program):
                yield from _in_place(pair, instruction, positions)


def _around_loop(
    loop: Instruction, positions: Positions, program: Program
) -> Iterator[tuple[int, int]]:
    own = positions.get(loop.name, {})
    operand = loop.operand(0)
    yield from _at_each_index(own, positions.get(operand.name, {}), operand.element)
    body = program.computation(loop.callee("body"))
    condition = program.computation(loop.callee("condition"))
    for instruction in (
        *body.parameters.values(),
        body.root,
        *condition.parameters.values(),
    ):
        yield from _at_each_index(own, positions.get(instruction.name, {}))


def _in_place(
    pair: Aliasing, instruction: Instruction, positions: Positions
) -> Iterator[tuple[int, int]]:
    if pair.operand >= len(instruction.operands):
        return
    operand = instruction.operands[pair.operand]
    written = positions.get(instruction.name, {}).get(pair.output_index)
    index = nested_index(operand.element, pair.operand_index)
    over = positions.get(operand.name, {}).get(index)
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
    result = positions.get(program.entry.root.name, {})
    for (number, index), output_index in program.output_by_donated.items():
        parameter = program.entry.parameters.get(number)
        if parameter is None:
            continue
        given = positions.get(parameter.name, {}).get(index)
        made = result.get(output_index)
        if given is not None and made is not None:
            yield made, given
