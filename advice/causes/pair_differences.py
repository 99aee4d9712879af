"""Find differences of all pairs of rows that are stored, although only their sums are read."""

from collections.abc import Collection, Iterator
from math import prod
from typing import Final

from xlagraph.advice.causes.axes import Axes
from xlagraph.advice.causes.cause import Cause, Remedies, of_all_at_once
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_INFLATION: Final = 16
"""Least ratio between the elements of the differences and those of the rows."""
_REPEATING: Final = SAME_ELEMENTS | {"broadcast", "constant"}
_SCALING: Final = frozenset(("multiply", "divide", "slice"))
"""Opcodes with which rows or differences are scaled, as by a length scale."""

_PAIR_DIFFERENCES: Final[Remedies] = {
    "jax": "Compute squared distances without the differences: (a**2).sum(-1)[:, None]"
    " + (b**2).sum(-1) - 2 * a @ b.T; or take a part of the rows at a time: jax.lax.map("
    "jax.checkpoint(lambda row: distances of row to b), a, batch_size=k).",
    "tensorflow": "Compute squared distances without the differences, from squares and a matrix"
    " product; or take a part of the rows at a time in a tf.while_loop.",
    "pytorch": "Use torch.cdist, or squares and a matrix product, instead of the differences.",
}


def pair_differences(program: PeakProgram) -> Iterator[Cause]:
    """Yield differences of rows, or the repeated rows that a library's kernel subtracts."""
    repeated = {
        value.value_id
        for value in program.temporaries
        if _is_made_of(program, value, 1, _REPEATING)
    }
    found: list[tuple[StoredValue, str]] = []
    axes: Axes | None = None
    for value in program.temporaries:
        readers = program.readers_of.get(value.value_id, ())
        is_difference = _is_difference(program, value)
        if (
            readers
            and (is_difference or value.value_id in repeated)
            and all(_sums(program, name, value) for name in readers)
            and (
                is_difference or all(_subtracts(program, each, value, repeated) for each in readers)
            )
        ):
            if program.module is not None:
                axes = axes or Axes(program, program.module)
                if not _are_of_rows(axes, value, repeated):
                    continue
            line = place_name(program, readers[0])
            pairs = prod(value.dimensions[:-1])
            found.append((value, f"for {pairs} pairs of rows, of which {line} reads only sums"))
    if found:
        yield of_all_at_once(
            "Differences of all pairs of rows are stored, although only their sums are read",
            found,
            _PAIR_DIFFERENCES,
            likelihood=0.9,
        )


def _is_made_of(
    program: PeakProgram, value: StoredValue, count: int, opcodes: Collection[str]
) -> bool:
    """Return True if these opcodes make a value of so many much smaller arrays."""
    maker = program.instructions.get(value.name)
    if maker is None or len(value.dimensions) <= 2:
        return False
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    rows = [each for each in read if len(each.dimensions) > 1]  # others only scale
    return (
        maker.computes_only(opcodes)
        and len(rows) == count
        and all(prod(each.dimensions) * _INFLATION <= prod(value.dimensions) for each in rows)
    )


def _is_difference(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for the differences of the rows of two arrays, or of one array with itself.

    With a gradient of their size, `expanded_values` names both: without one, the other remains.
    """
    opcodes = _REPEATING | _SCALING | {"subtract"}
    if not program.computes_with(value.name, "subtract"):
        return False
    if _is_made_of(program, value, 2, opcodes):
        return True
    return (
        _is_made_of(program, value, 1, opcodes)
        and value.dimensions[-3] == value.dimensions[-2]
        and not any(
            each.is_backward and each.dimensions == value.dimensions for each in program.temporaries
        )
    )


def _are_of_rows(axes: Axes, value: StoredValue, repeated: set[int]) -> bool:
    """Return True if both rows have a dimension that all readers of differences sum over.

    Without one, the differences of all pairs of numbers are summed over the pairs.
    """
    program = axes.program
    readers = program.readers_of.get(value.value_id, ())
    sides = {each for name in readers for each in program.read_by.get(name, ())} & repeated
    shared = axes.of(value)
    for name in {value.name, *(program.values[each].name for each in sides)}:
        for each in program.read_by.get(name, ()):
            if len(program.values[each].dimensions) > 1:
                shared &= axes.of(program.values[each])
    for name in readers:
        for made in program.made_by.get(name, ()):
            shared -= axes.of(made)
    return bool(shared)


def _sums(program: PeakProgram, reader: str, value: StoredValue) -> bool:
    """Return True if an instruction reduces a value to at most half of its elements."""
    return program.computes_with(reader, "reduce") and all(
        2 * prod(made.dimensions) <= prod(value.dimensions)
        for made in program.made_by.get(reader, ())
    )


def _subtracts(program: PeakProgram, reader: str, value: StoredValue, repeated: set[int]) -> bool:
    """Return True if an instruction subtracts repeated rows from each other."""
    sides = [
        each
        for each in program.read_by.get(reader, ())
        if program.values[each].dimensions == value.dimensions
    ]
    return (
        program.computes_with(reader, "subtract") and len(sides) > 1 and repeated.issuperset(sides)
    )
