"""Find the values that carry the batch, and the part of their bytes that a smaller batch keeps.

Two compilations of the same program with different batches show which dimensions are the batch:
those of the entry parameters that differ. Each value differs from its counterpart (the value of the
same name, op and type) by some power of the ratio. Without another compilation the user names
parameters whose first dimension is the batch.

A value without a counterpart is judged by its shape (`batch_shapes`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.value_facts import ValueFacts
from xlagraph.planner.edits.batch_shapes import BatchDimension, ShapeRule
from xlagraph.planner.edits.donors import parameters
from xlagraph.planner.edits.named_donation import named_parameters
from xlagraph.planner.edits.stacked_values import dimensions
from xlagraph.queries.errors import BadParameter

__all__ = [
    "Batch",
    "BatchDimension",
    "batch",
    "batch_ratio",
    "compared_dimensions",
    "named_dimensions",
]

_MOST_POWERS = 3
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Batch:
    """A smaller batch, and the part of their bytes that values keep."""

    kept: Fraction
    """Part of the batch that is kept."""
    kept_by_id: Mapping[int, Fraction]
    """Part of its bytes that each value keeps, by id; only values that carry the batch."""
    text: str
    """Sentence that names the batch dimension and counts the values that carry it."""
    assumptions: tuple[str, ...]


def compared_dimensions(
    stored: PlannableCompilation, other: PlannableCompilation
) -> tuple[list[BatchDimension], Fraction] | None:
    """Return the dimensions of parameters that differ, and their ratio; None if ratios differ."""
    theirs = {facts.parameter or (0, ""): facts.shape for facts in parameters(other)}
    ours = {facts.parameter or (0, ""): facts for facts in parameters(stored)}
    ratio = batch_ratio({place: facts.shape for place, facts in ours.items()}, theirs)
    if ratio is None:
        return None
    found = [
        BatchDimension(facts.value_id, number, length)
        for place, facts in ours.items()
        for number, (length, another) in enumerate(
            zip(dimensions(facts.shape), dimensions(theirs[place]), strict=True)
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
        lengths, others = dimensions(shape), dimensions(other[place])
        if len(lengths) != len(others) or _dtype(shape) != _dtype(other[place]):
            return None
        ratios |= {
            Fraction(another, length) if length else Fraction(0)
            for length, another in zip(lengths, others, strict=True)
            if length != another
        }
    return ratios.pop() if len(ratios) == 1 else None


def _dtype(shape: str) -> str:
    return shape.partition("[")[0]


def named_dimensions(stored: PlannableCompilation, names: Iterable[str]) -> list[BatchDimension]:
    """Return the named dimensions of parameters; raise BadParameter if their lengths differ."""
    found: list[BatchDimension] = []
    for name in names:
        text, colon, number = name.rpartition(":")
        has_number = bool(colon) and number.isdecimal() and bool(text)
        dimension = int(number) if has_number else 0
        for facts in named_parameters(stored, [text if has_number else name]):
            lengths = dimensions(facts.shape)
            if dimension >= len(lengths):
                raise BadParameter(f"{facts.label} has no dimension {dimension}: {facts.shape}")
            found.append(BatchDimension(facts.value_id, dimension, lengths[dimension]))
    several = sorted({each.length for each in found})
    if len(several) > 1:
        raise BadParameter(
            f"the named dimensions have different lengths: {', '.join(map(str, several))};"
            " the batch has one length"
        )
    return found


def batch(
    stored: PlannableCompilation,
    kept: Fraction,
    found: list[BatchDimension],
    other: tuple[PlannableCompilation, Fraction] | None = None,
) -> Batch:
    """Return the part of its bytes that each value keeps if `kept` of the batch is kept."""
    rule = ShapeRule(stored, found)
    powers: dict[int, int] = {}
    judged = 0
    counterparts = {} if other is None else _counterparts(other[0])
    for value_id, facts in stored.facts.items():
        if value_id not in stored.program.by_id or facts.dtype in ("tuple", "token", None):
            continue
        power = None
        if other is not None:
            power = _power(facts, counterparts.get(_identity(facts)), other[1])
        if power is None:
            power = int(rule.carries(value_id))
            judged += power
        if power:
            powers[value_id] = power
    # members of one buffer set have one size, so all take the largest power among them
    for members in stored.program.sets.values():
        power = max(powers.get(value.value_id, 0) for value in members)
        if power:
            powers |= {value.value_id: power for value in members if not value.is_table}
    return Batch(
        kept,
        {value_id: kept**power for value_id, power in powers.items()},
        _text(stored, found, other, len(powers)),
        _assumptions(stored, found, judged, len(powers), compared=other is not None),
    )


def _identity(facts: ValueFacts) -> tuple[object, ...]:
    return facts.label, facts.opcode, facts.dtype, (facts.op_name or "").rpartition("/")[2]


def _counterparts(other: PlannableCompilation) -> dict[tuple[object, ...], ValueFacts]:
    return {_identity(facts): facts for facts in other.facts.values()}


def _power(facts: ValueFacts, counterpart: ValueFacts | None, ratio: Fraction) -> int | None:
    """Return how many dimensions differ by the ratio; None if the two are not counterparts."""
    if counterpart is None:
        return None
    lengths, others = dimensions(facts.shape), dimensions(counterpart.shape)
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
    stored: PlannableCompilation,
    found: list[BatchDimension],
    other: tuple[PlannableCompilation, Fraction] | None,
    count: int,
) -> str:
    names = [
        f"dimension {each.dimension} of {stored.facts[each.parameter].label} ({each.length})"
        for each in found[:_MOST_NAMED]
    ]
    if len(found) > _MOST_NAMED:
        names.append(f"{len(found) - _MOST_NAMED} more")
    text = f"the batch is {', '.join(names)}"
    if other is not None:
        text += f", {found[0].length * other[1]} in {other[0].key}"
    return f"{text}; {count} of {len(stored.program.values)} values carry it"


def _assumptions(
    stored: PlannableCompilation,
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
    same = [
        facts.label
        for facts in parameters(stored)
        if facts.value_id not in carriers and length in dimensions(facts.shape)
    ]
    if same and not compared:
        by_shape += f", which may be wrong: {same[0]} also has a dimension of {length}"
    return (by_shape,)
