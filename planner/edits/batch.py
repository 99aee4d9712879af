"""Find the values that carry the batch, and the part of their bytes that a smaller batch keeps.

Two compilations of the same program with different batches show which dimensions are the batch:
those of the entry parameters that differ. Each value differs from its counterpart (the value of the
same name, op and type) by some power of the ratio. Without another compilation the user names
parameters whose first dimension is the batch.

A value without a counterpart is judged by its shape (`batch_shapes`).
"""

# ruff: noqa: D102, ARG002  `Edit` describes an edit's methods

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from xlagraph.hlo.shapes import parse_shape
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.batch_shapes import BatchDimension, ShapeRule
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
    "named_dimensions",
    "scaled_batch",
]

_MOST_POWERS = 3
_MOST_NAMED = 4


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
    found: list[BatchDimension],
    other: tuple[PlannableCompilation, Fraction] | None = None,
) -> ScaleBatch:
    """Return the edit that keeps this part of the batch.

    `other` is a compilation with another batch, and the ratio of its batch to this one's.
    """
    rule = ShapeRule(compilation, found)
    powers: dict[int, int] = {}
    judged = 0
    counterparts = {} if other is None else _counterparts(other[0])
    for value_id, value in compilation.values.items():
        if value_id not in compilation.program.by_id or not value.is_array:
            continue
        power = None
        if other is not None:
            power = _power(value, counterparts.get(_identity(value)), other[1])
        if power is None:
            power = int(rule.carries(value_id))
            judged += power
        if power:
            powers[value_id] = power
    # members of one buffer set have one size, so all take the largest power among them
    for members in compilation.program.sets.values():
        power = max(powers.get(value.value_id, 0) for value in members)
        if power:
            powers |= {value.value_id: power for value in members if not value.is_table}
    return ScaleBatch(
        kept,
        {value_id: kept**power for value_id, power in powers.items()},
        _text(compilation, found, other, len(powers)),
        _assumptions(compilation, found, judged, len(powers), compared=other is not None),
    )


def _identity(value: StoredValue) -> tuple[object, ...]:
    op = (value.known_op_name or "").rpartition("/")[2]
    return value.label, value.opcode, value.dtype, op


def _counterparts(other: PlannableCompilation) -> dict[tuple[object, ...], StoredValue]:
    return {_identity(value): value for value in other.values.values()}


def _power(value: StoredValue, counterpart: StoredValue | None, ratio: Fraction) -> int | None:
    """Return how many dimensions differ by the ratio; None if the two are not counterparts."""
    if counterpart is None:
        return None
    lengths, others = value.dimensions, counterpart.dimensions
    if len(lengths) != len(others) or 0 in lengths:
        return None
    found = 0
    for length, another in zip(lengths, others, strict=True):
        if length == another:
            continue
        if Fraction(another, length) != ratio:
            return None
        found += 1
    return found if found <= _MOST_POWERS else None


def _text(
    compilation: PlannableCompilation,
    found: list[BatchDimension],
    other: tuple[PlannableCompilation, Fraction] | None,
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
        text += f", {found[0].length * other[1]} in {other[0].key}"
    return f"{text}; {count} of {len(compilation.program.values)} values carry it"


def _assumptions(
    compilation: PlannableCompilation,
    found: list[BatchDimension],
    judged: int,
    count: int,
    *,
    compared: bool,
) -> tuple[str, ...]:
    """Return what is assumed about values that are judged by their shapes."""
    if compared and not judged:
        return ()
    if compared:
        by_shape = f"{judged} of the {count} values that carry the batch have no counterpart in"
        by_shape += " the other compilation and are judged by their shapes"
    else:
        by_shape = "which values carry the batch is judged by their shapes"
    carriers = {each.parameter for each in found}
    length = found[0].length
    if count <= len(carriers) and not compared:
        by_shape += (
            f", and no computed value has a dimension of {length}: slices such as `tokens[:-1]` are"
            " not followed, so do not trust the figure; compare with another batch (--batch-like)"
        )
    same = [
        value.label
        for value in compilation.array_parameters
        if value.value_id not in carriers and length in value.dimensions
    ]
    if same and not compared:
        by_shape += f", which may be wrong: {same[0]} also has a dimension of {length}"
    return (by_shape,)
