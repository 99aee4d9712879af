"""Find the values that carry the batch, and the part of their bytes that a smaller batch keeps.

The user names dimensions of parameters, or another compilation of the same program shows them:
those of the entry parameters that differ. All other dimensions are followed through the operations
of the module (`xlagraph.planner.dimensions`); lengths alone decide nothing.
"""

# ruff: noqa: D102, ARG002  `Edit` describes an edit's methods

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Final, NamedTuple

from xlagraph.hlo.shapes import index_numbers, parse_shape
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.dimensions.dimension_trees import element
from xlagraph.planner.dimensions.following import FollowedDimensions
from xlagraph.planner.dimensions.scaling import Scaled
from xlagraph.planner.edits.donating import named_parameters
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.resizing import resized, resized_text
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.value_changes import with_shrunk_values
from xlagraph.queries.errors import BadParameter

__all__ = [
    "BatchDimension",
    "ScaleBatch",
    "batch_ratio",
    "compared_dimensions",
    "kept_bytes",
    "named_dimensions",
    "scaled_batch",
]

_FUSED_BY_SIZE: Final = "ynn_fusion"
"""Leading part of the names of fusions for YNN, which fuses by size."""
_MOST_NAMED: Final = 4


class BatchDimension(NamedTuple):
    """A dimension of an entry parameter that is the batch."""

    parameter: int
    """Value id."""
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
        edited = resized(program, frozenset(self.kept_by_id), scaled)
        return replace(edited, assumptions=self.assumptions)

    def sentence(self, after: Replanned, before: Replanned) -> str:
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
    """Return the named dimensions of parameters; raise BadParameter if their lengths differ."""
    found: list[BatchDimension] = []
    for name in names:
        text, colon, number = name.rpartition(":")
        has_number = bool(colon) and number.isdecimal() and bool(text)
        dimension = int(number) if has_number else 0
        for value in named_parameters(compilation, [text if has_number else name]):
            lengths = value.dimensions
            if dimension >= len(lengths):
                raise BadParameter(
                    f"{value.label} has no dimension {dimension}: {value.full_shape}"
                )
            found.append(BatchDimension(value.value_id, dimension, lengths[dimension]))
    several = sorted({each.length for each in found})
    if len(several) > 1:
        raise BadParameter(
            f"the named dimensions have different lengths: {', '.join(map(str, several))};"
            " the batch has one length"
        )
    return found


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
    named = {(each.parameter, each.dimension) for each in found}
    for value_id, (number, index) in compilation.parameters.items():
        array = element(followed.parameters.get(number), index_numbers(index))
        for place, dimension in enumerate(array if isinstance(array, tuple) else ()):
            if (value_id, place) in named:
                given[dimension] = kept * followed.lengths.length(dimension)
            else:
                fixed.add(dimension)
    scaled = followed.lengths.scaled(given, fixed)
    kept_by_id = kept_bytes(compilation, followed, scaled)
    return ScaleBatch(
        kept,
        kept_by_id,
        _text(compilation, found, other, len(kept_by_id)),
        tuple(
            _assumptions(compilation, followed, scaled, kept_by_id.keys() - {p for p, _ in named})
        ),
    )


def kept_bytes(
    compilation: PlannableCompilation, followed: FollowedDimensions, scaled: Scaled
) -> dict[int, Fraction]:
    """Return the part that each value keeps; values of one buffer set keep the same part."""
    lengths, program = followed.lengths, compilation.program
    kept: dict[int, Fraction] = {}
    for members in program.sets.values():
        before = after = Fraction(0)
        arrays = [value.value_id for value in members if not value.is_table]
        for value_id in arrays:
            value = compilation.values[value_id]
            array = followed.at(value.name, index_numbers(value.shape_index)) or ()
            changed = [each for each in map(lengths.find, array) if each in scaled.lengths]
            part = prod(
                (scaled.lengths[each] / lengths.length(each) for each in changed),
                start=Fraction(1),
            )
            size = value.dense_bytes or value.size_bytes
            before, after = max(before, Fraction(size)), max(after, size * part)
        if before and after != before:
            kept |= dict.fromkeys(arrays, after / before)
    return kept


def _text(
    compilation: PlannableCompilation,
    found: Sequence[BatchDimension],
    other: tuple[str, Fraction] | None,
    count: int,
) -> str:
    names = [
        f"dimension {each.dimension} of {compilation.values[each.parameter].label} ({each.length})"
        for each in found[:_MOST_NAMED]
    ]
    if len(found) > _MOST_NAMED:
        names.append(f"{len(found) - _MOST_NAMED} more")
    text = f"the batch is {', '.join(names)}"
    if other is not None:
        text += f", {found[0].length * other[1]} in {other[0]}"
    return f"{text}; {count} of {len(compilation.program.values)} values carry it"


def _assumptions(
    compilation: PlannableCompilation,
    followed: FollowedDimensions,
    scaled: Scaled,
    others: Collection[int],
) -> Iterable[str]:
    """Yield what was decided without evidence, and where the batch could not be followed.

    `others` are the values that carry the batch, without the parameters that the user named.
    """
    if not others:
        yield "no computed value carries the batch, so do not trust the figure"
    if any(compilation.values[each].label.startswith(_FUSED_BY_SIZE) for each in others):
        yield "YNN is assumed to fuse the same operations; at another size it may fuse others"
    shrunk = [compilation.values[each].label for each in others if each in compilation.parameters]
    if shrunk:
        more = f" and {len(shrunk) - 1} more" if shrunk[1:] else ""
        yield (
            f"{min(shrunk)}{more} must have the length of the batch, too, and shrink; if they do"
            " not, name another dimension or compare with another batch (--batch-like)"
        )
    for split in dict.fromkeys(scaled.splits):
        length, parts = split.length, split.parts
        yield (
            f"a dimension of {length} is split into {parts[0]} x {parts[1]}: the"
            f" {'second' if split.changed else 'first'} is assumed to shrink"
        )
    find = followed.lengths.find
    lost = [
        each
        for each in followed.unfollowed
        if any(find(dimension) in scaled.lengths for dimension in each.read)
    ]
    if lost:
        names = ", ".join(each.name for each in lost[:_MOST_NAMED])
        more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
        yield (
            f"the batch cannot be followed through {names}{more}: each result is assumed to keep"
            " the leading dimensions of the first operand"
        )
