"""Tell from shapes and operands which values carry the batch.

A value carries the batch if one of its dimensions is the batch, or the batch merged with its
neighbours (tokens = batch x length), and if it is computed from a parameter that carries the batch,
or from no parameter at all. A value with the shape of another parameter, or of a slice of one, does
not carry the batch: it is a gradient.
"""

from collections.abc import Iterable
from typing import NamedTuple

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation

__all__ = ["BatchDimension", "ShapeRule"]


class BatchDimension(NamedTuple):
    """A dimension of an entry parameter that is the batch."""

    parameter: int
    """Value id."""
    dimension: int
    length: int


class ShapeRule:
    """A rule that tells from shapes and operands which values carry the batch."""

    def __init__(self, compilation: PlannableCompilation, found: list[BatchDimension]) -> None:
        self._compilation = compilation
        carriers = {each.parameter for each in found}
        self._carriers = carriers
        self._lengths = {each.length for each in found} - {1}
        self._others = _shapes_of_parameters(compilation, carriers)
        self._reached = _reached(compilation, carriers)
        given = {value.value_id for value in compilation.array_parameters}
        self._of_others = _reached(compilation, given - carriers)
        self._lengths |= _merged_lengths(compilation, self._lengths, self._reached)

    def carries(self, value_id: int) -> bool:
        """Return True if a value carries the batch."""
        if value_id in self._carriers:
            return True
        lengths = self._compilation.values[value_id].dimensions
        if self._lengths.isdisjoint(lengths) or _without_ones(lengths) in self._others:
            return False
        return value_id in self._reached or value_id not in self._of_others


def _without_ones(lengths: Iterable[int]) -> tuple[int, ...]:
    """Return the lengths other than 1, sorted, so that a transposed shape is equal."""
    return tuple(sorted(length for length in lengths if length != 1))


def _shapes_of_parameters(
    compilation: PlannableCompilation, carriers: Iterable[int]
) -> set[tuple[int, ...]]:
    """Return the shapes of the other parameters, and those of their slices."""
    excluded = frozenset(carriers)
    shapes: set[tuple[int, ...]] = set()
    for value in compilation.array_parameters:
        lengths = value.dimensions
        if value.value_id not in excluded and lengths:
            shapes |= {_without_ones(lengths), _without_ones(lengths[1:])}
    return shapes - {()}


def _reached(compilation: PlannableCompilation, value_ids: Iterable[int]) -> frozenset[int]:
    """Return these values, and all values computed from them or sharing their bytes."""
    by_id = compilation.program.by_id
    reached = set(value_ids)
    waiting = list(reached)
    while waiting:
        value_id = waiting.pop()
        value = by_id.get(value_id)
        members = compilation.program.sets[value.buffer_set] if value is not None else ()
        following = [member.value_id for member in members if not member.is_table]
        for next_id in (*following, *compilation.readers.get(value_id, ())):
            if next_id not in reached:
                reached.add(next_id)
                waiting.append(next_id)
    return frozenset(reached)


def _merged_lengths(
    compilation: PlannableCompilation, lengths: Iterable[int], reached: Iterable[int]
) -> set[int]:
    """Return the products of the batch and its neighbours in shapes that carry the batch."""
    batch_lengths = frozenset(lengths)
    merged: set[int] = set()
    for value_id in reached:
        value = compilation.values.get(value_id)
        shape = value.dimensions if value is not None else ()
        for at, length in enumerate(shape):
            if length in batch_lengths:
                after = before = length
                for neighbour in shape[at + 1 : -1]:
                    after *= neighbour
                    merged.add(after)
                for neighbour in reversed(shape[:at]):
                    before *= neighbour
                    merged.add(before)
    return merged
