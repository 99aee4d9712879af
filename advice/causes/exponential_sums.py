"""Find sums of exponentials of each row, from which a softmax follows."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import ArrayShape, Operation
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_REDUCING: Final = frozenset(("reduce", "reduce-window"))
_LEAST_REDUCED: Final = 16
"""Fewest elements for each of a row's partial results: a GPU reduces long rows in two steps."""


def is_of_rows(value: StoredValue, rows: int, size: int) -> bool:
    """Return True for one element, or a few partial results, of each row of `size` elements."""
    elements = math.prod(value.dimensions)
    if elements == size // rows and rows not in value.dimensions:  # a sum over the rows
        return elements == rows
    if elements == rows:
        return True
    is_small = elements % rows == 0 and _LEAST_REDUCED * elements <= size
    return is_small and _has_rows(value.dimensions, rows)


def _has_rows(lengths: Sequence[int], rows: int) -> bool:
    """Return True if some of the dimensions are those of the rows, or if the array is flat.

    Products of the rows with another matrix have as many elements by chance.
    """
    parts = (each for count in range(len(lengths)) for each in combinations(lengths, count))
    return len(lengths) == 1 or any(math.prod(each) == rows for each in parts)


def sums_exponentials(program: PeakProgram, instruction: str, rows: int, size: int) -> bool:
    """Return True if an instruction reduces exponentials, not other functions of them, to rows.

    A sigmoid computes exponentials too, and its gradient is summed for a bias. A fusion of a whole
    softmax makes as many elements as it reads.
    """
    made = program.made_by.get(instruction, ())
    has_rows = any(is_of_rows(each, rows, size) for each in made)
    is_whole = any(math.prod(each.dimensions) == size for each in made)
    if not (has_rows or is_whole) or not program.computes_with(instruction, "reduce"):
        return False
    if instruction not in program.operations:
        if not has_rows:
            return False
        read = (program.values[each].name for each in program.read_by.get(instruction, ()))
        return any(program.computes_with(name, "exponential") for name in (instruction, *read))
    reduced = reduced_exponentials(program, instruction)
    return bool(reduced) if has_rows else rows in reduced


def reduced_exponentials(program: PeakProgram, instruction: str) -> list[int]:
    """Return the elements of each sum of exponentials in an instruction, or in its fusion."""
    if not program.computes_with(instruction, "reduce"):
        return []  # reading the whole module takes seconds
    made = program.operations.get(instruction)
    if made is None:
        return []
    inside = program.fused_operations(made) or (made,)
    return [
        math.prod(each.shape.lengths) if isinstance(each.shape, ArrayShape) else 0
        for each in inside
        if each.opcode == "reduce" and _is_exponential(program, each, made, inside)
    ]


def _is_exponential(
    program: PeakProgram, reader: Operation, fusion: Operation, inside: Sequence[Operation]
) -> bool:
    """Return True if an operation of a fusion reads exponentials, or itself makes them."""
    by_name = {each.name: each for each in inside}
    while reader.opcode in SAME_ELEMENTS | _REDUCING and reader.operands:
        name, element = reader.operands[0]
        found = by_name.get(name)
        if found is not None and found.opcode == "parameter":
            (number,) = found.numbers.get("number") or (0,)
            name, element = fusion.operands[number]
            found = None
        if found is None:
            found = program.operations.get(name)
        if found is not None and found.opcode == "get-tuple-element" and found.operands:
            element = tuple(found.numbers.get("index", ()))
            found = program.operations.get(found.operands[0].name)
        if found is None:
            return False
        if called := program.fused_operations(found):
            fusion, inside = found, called
            by_name = {each.name: each for each in inside}
            found = called[-1]
            if found.opcode == "tuple" and element:
                found = by_name[found.operands[element[0]].name]
        reader = found
    return reader.opcode == "exponential"
