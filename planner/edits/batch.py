"""Find the values that carry the batch, and the part of their bytes that a smaller batch keeps.

The user names dimensions of parameters, or another compilation of the same program shows them:
those of the entry parameters that differ. All other dimensions are followed through the operations
of the module (`xlagraph.planner.dimensions`); lengths alone decide nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, prod
from typing import Final, NamedTuple

from xlagraph.hlo.shapes import parse_shape
from xlagraph.hlo.tiles import tiled_bytes
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.following import FollowedDimensions
from xlagraph.planner.dimensions.scaling import Scaled
from xlagraph.planner.edits.batch_assumptions import (
    assumptions,
    dimensions_of,
    followed_parameter,
    uneven_lengths,
)
from xlagraph.planner.edits.chosen_again import chosen_again
from xlagraph.planner.edits.donating import name_of, named_parameters
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.resizing import NOTHING_CHANGES, resized, resized_text
from xlagraph.planner.orders.ordered_program import Reordering
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.value_changes import with_shrunk_values
from xlagraph.queries.errors import BadParameter

_MOST_NAMED: Final = 4


class BatchDimension(NamedTuple):
    """A dimension of an entry parameter, or of another value, that is the batch."""

    value_id: int
    dimension: int
    length: int


@dataclass(frozen=True, slots=True)
class ScaleBatch(Edit):
    """Shrink the values that carry the batch."""

    kept: Fraction
    """Part of the batch that is kept."""
    kept_by_id: Mapping[int, Fraction]
    """Part of its bytes that each value keeps, by id; only values that carry the batch."""
    introduction: str
    """Sentence that names the batch dimension and counts the values that carry it."""
    assumptions: tuple[str, ...]
    named_by: tuple[str, ...] = ()
    """Arguments that name the batch dimension."""
    reordering: Reordering | None = None
    """The orders of a GPU's program, of which XLA chooses one again; None if it is not known."""

    @property
    def arguments(self) -> tuple[str, ...]:
        return "--batch", str(self.kept), *self.named_by

    @property
    def name(self) -> str:
        return f"--batch {self.kept}"

    @property
    def matched(self) -> frozenset[int]:
        return frozenset(self.kept_by_id)

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        scaled = with_shrunk_values(program, self.kept_by_id)
        edited = replace(
            resized(program, frozenset(self.kept_by_id), scaled), assumptions=self.assumptions
        )
        if self.reordering is None or program.values != self.reordering.planned.values:
            return edited
        ordered = chosen_again(self.reordering, compilation, scaled)
        return replace(edited, program=ordered.program, compilation=ordered)

    def sentence(self, after: Replanned, before: Replanned) -> str:
        if self.kept == 1:
            return NOTHING_CHANGES
        return resized_text(after, before, self.kept_by_id.keys(), "smaller", self.introduction)


def compared_dimensions(
    compilation: PlannableCompilation, other: PlannableCompilation
) -> tuple[list[BatchDimension], Fraction] | None:
    """Return the dimensions of parameters that differ, and their ratio; None if ratios differ."""
    theirs = {other.parameters[each.value_id]: each.full_shape for each in other.array_parameters}
    ours = {compilation.parameters[each.value_id]: each for each in compilation.array_parameters}
    ratio = batch_ratio({place: each.full_shape for place, each in ours.items()}, theirs)
    if ratio is None:
        return None
    found = [
        BatchDimension(value.value_id, number, length)
        for place, value in ours.items()
        for number, (length, another) in enumerate(
            zip(value.dimensions, parse_shape(theirs[place]).dimensions or (), strict=True)
        )
        if length != another
    ]
    return found, ratio


def batch_ratio(
    one: Mapping[tuple[int, str], str], other: Mapping[tuple[int, str], str]
) -> Fraction | None:
    """Return the ratio of parameter lengths that differ, given by place; None if ratios differ."""
    if one.keys() != other.keys():
        return None
    ratios: set[Fraction] = set()
    for place, shape in one.items():
        ours, theirs = parse_shape(shape), parse_shape(other[place])
        lengths, others = ours.dimensions or (), theirs.dimensions or ()
        if len(lengths) != len(others) or ours.dtype != theirs.dtype:
            return None
        ratios |= {
            Fraction(another, length) if length else Fraction(0)
            for length, another in zip(lengths, others, strict=True)
            if length != another
        }
    return ratios.pop() if len(ratios) == 1 else None


def named_dimensions(
    compilation: PlannableCompilation, names: Iterable[str]
) -> list[BatchDimension]:
    """Return the named dimensions of parameters, or of other values by label.

    Raises BadParameter if one name stands for dimensions of different lengths.
    """
    found: list[BatchDimension] = []
    for name in names:
        first = len(found)
        text, colon, number = name.rpartition(":")
        has_number = bool(colon) and number.isdecimal() and bool(text)
        dimension = int(number) if has_number else 0
        for value in _named_values(compilation, text if has_number else name):
            lengths = value.dimensions
            if dimension >= len(lengths):
                raise BadParameter(
                    f"{value.label} has no dimension {dimension}: {value.full_shape}"
                )
            found.append(BatchDimension(value.value_id, dimension, lengths[dimension]))
        several = sorted({each.length for each in found[first:]})
        if len(several) > 1:
            raise BadParameter(
                f"{name} stands for dimensions of different lengths:"
                f" {', '.join(map(str, several))}; name those that carry the batch one by one"
            )
    return list(dict.fromkeys(found))


def _named_values(compilation: PlannableCompilation, name: str) -> Sequence[StoredValue]:
    value_id = compilation.id_by_label.get(name)
    if value_id is None or value_id in compilation.parameters:
        return named_parameters(compilation, [name])
    return [compilation.values[value_id]]


def scaled_batch(
    compilation: PlannableCompilation,
    kept: Fraction,
    found: Sequence[BatchDimension],
    followed: FollowedDimensions,
    other: tuple[str, Fraction] | None = None,
) -> ScaleBatch:
    """Return the edit that keeps this part of the batch.

    `other` is the key of a compilation with another batch, and the ratio of its batch to this one.
    """
    given: dict[int, Fraction] = {}
    fixed: set[int] = set()
    named = {(each.value_id, each.dimension) for each in found}
    arrays = {
        value_id: followed_parameter(compilation, followed, value_id)
        for value_id in compilation.parameters
    }
    for each in found:
        if each.value_id not in arrays:
            arrays[each.value_id] = dimensions_of(compilation, followed, each.value_id)
    for value_id, array in arrays.items():
        for place, dimension in enumerate(array):
            if (value_id, place) in named:
                given[dimension] = kept * followed.lengths.length(dimension)
            elif value_id in compilation.parameters:
                fixed.add(dimension)
    scaled = _scaled(followed, given, fixed)
    kept_by_id = kept_bytes(compilation, followed, scaled)
    others = kept_by_id.keys() - {value_id for value_id, _ in named}
    return ScaleBatch(
        kept,
        kept_by_id,
        _text(compilation, found, other, len(kept_by_id)),
        ()
        if kept == 1
        else (
            *uneven_lengths(followed, scaled, given),
            *assumptions(compilation, followed, scaled, kept, others, named),
        ),
        _named_by(compilation, found, other),
    )


def _named_by(
    compilation: PlannableCompilation,
    found: Sequence[BatchDimension],
    other: tuple[str, Fraction] | None,
) -> tuple[str, ...]:
    if other is not None:
        return "--batch-like", other[0]
    names = (
        compilation.values[each.value_id].label + (f":{each.dimension}" if each.dimension else "")
        for each in found
    )
    return tuple(word for name in names for word in ("--batch-of", name))


def _scaled(
    followed: FollowedDimensions, given: Mapping[int, Fraction], fixed: Collection[int]
) -> Scaled:
    """Return all lengths that change with these.

    `tokens[:, :-1]` of 256 has tokens of 257: those that are no whole numbers follow from others,
    if they can.
    """
    lengths = followed.lengths
    whole = {each: length for each, length in given.items() if length.denominator == 1}
    scaled = lengths.scaled(whole or given, fixed)
    if all(lengths.find(each) in scaled.lengths for each in given):
        return scaled
    return lengths.scaled(given, fixed)


def kept_bytes(
    compilation: PlannableCompilation, followed: FollowedDimensions, scaled: Scaled
) -> dict[int, Fraction]:
    """Return the part that each value keeps; values of one buffer set keep the same part."""
    program = compilation.program
    kept: dict[int, Fraction] = {}
    for members in program.sets.values():
        before = after = Fraction(0)
        arrays = [value.value_id for value in members if not value.is_table]
        for value_id in arrays:
            size, new = _size(compilation, followed, scaled, value_id)
            before, after = max(before, size), max(after, new)
        if before and after != before:
            kept |= dict.fromkeys(arrays, after / before)
    return kept


def _size(
    compilation: PlannableCompilation,
    followed: FollowedDimensions,
    scaled: Scaled,
    value_id: int,
) -> tuple[Fraction, Fraction]:
    """Return the bytes of a value before and after; with the padding of tiles, if it has any."""
    lengths, value = followed.lengths, compilation.values[value_id]
    array = dimensions_of(compilation, followed, value_id)
    size = Fraction(value.dense_bytes or value.size_bytes)
    found = list(map(lengths.find, array))
    if scaled.lengths.keys().isdisjoint(found):
        return size, size
    old = list(map(lengths.length, array))
    new = [scaled.lengths.get(each, length) for each, length in zip(found, old, strict=True)]
    if ":T(" in value.full_shape:
        shape = parse_shape(value.full_shape)
        before, after = tiled_bytes(shape, old), tiled_bytes(shape, list(map(ceil, new)))
        if before == value.size_bytes and after is not None:
            return Fraction(before), Fraction(after)
    return size, size * prod(new, start=Fraction(1)) / (prod(old) or 1)


def _text(
    compilation: PlannableCompilation,
    found: Sequence[BatchDimension],
    other: tuple[str, Fraction] | None,
    count: int,
) -> str:
    names = [
        f"dimension {each.dimension} of {name_of(compilation, compilation.values[each.value_id])}"
        f" ({each.length})"
        for each in found[:_MOST_NAMED]
    ]
    if len(found) > _MOST_NAMED:
        names.append(f"{len(found) - _MOST_NAMED} more")
    text = f"the batch is {', '.join(names)}"
    if other is not None:
        text += f", {found[0].length * other[1]} in {other[0]}"
    return f"{text}; {count} of {len(compilation.program.values)} values carry it"
