"""State what a plan for another batch assumes, and which operations cannot be followed."""

import re
from collections.abc import Collection, Iterable
from fractions import Fraction
from math import ceil, floor
from typing import Final

from xlagraph.hlo.shapes import index_numbers
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.dimension_trees import Array, element
from xlagraph.planner.dimensions.following import FollowedDimensions
from xlagraph.planner.dimensions.scaling import Scaled
from xlagraph.planner.edits.donating import name_of

_MADE_BY_SIZE: Final = {
    "ynn_fusion": (
        "YNN is assumed to fuse the same operations; at another size it may fuse others"
    ),
    "gemm_fusion": (
        "matrix products are assumed to be computed in as many parts; at another size the GPU"
        " compiler may split them otherwise, and keep the parts"
    ),
}
"""Assumption for values that a compiler may compute in another way at another size, by the prefix
of their labels."""
_MOST_NAMED: Final = 4
_MOST_CHOSEN: Final = 2
"""Number of lengths of no input that are named."""
_LONGEST_INDEX: Final = 4
"""Lengths up to this one are not named: those of indices, of pairs or of colours."""
_NESTED: Final = 2
"""Parts of the name of a leaf of a list, as `data[0]`: its arrays have nothing in common."""
_LEAST_HALVINGS: Final = 4
"""Fewest times that a length is halved by a scan; a network with pooling halves some less often."""
_LEAST_SHARE: Final = Fraction(1, 50)
"""Part of the reserved bytes that a value must have to be named for one of its lengths."""


def dimensions_of(
    compilation: PlannableCompilation, followed: FollowedDimensions, value_id: int
) -> Array:
    """Return the dimensions of a value; none if its operation is unknown."""
    value = compilation.values[value_id]
    return followed.at(value.name, index_numbers(value.shape_index)) or ()


def followed_parameter(
    compilation: PlannableCompilation, followed: FollowedDimensions, value_id: int
) -> Array:
    """Return the dimensions of an entry parameter; none if no operation reads it."""
    number, index = compilation.parameters[value_id]
    array = element(followed.parameters.get(number), index_numbers(index))
    return array if isinstance(array, tuple) else ()


def uneven_lengths(
    followed: FollowedDimensions, scaled: Scaled, given: Iterable[int]
) -> Iterable[str]:
    """Yield that a named dimension is no whole number after the change."""
    lengths = followed.lengths
    for length in sorted({lengths.find(each) for each in given}, key=lengths.length):
        new = scaled.lengths.get(length)
        if new is not None and new.denominator > 1:
            yield (
                f"{lengths.length(length)} becomes {float(new):g}, no whole number: the figure is"
                f" between those of {floor(new)} and {ceil(new)}"
            )


def assumptions(
    compilation: PlannableCompilation,
    followed: FollowedDimensions,
    scaled: Scaled,
    kept: Fraction,
    others: Collection[int],
    named: Collection[tuple[int, int]],
) -> Iterable[str]:
    """Yield what was decided without evidence, and where the batch could not be followed.

    `others` are the values that carry the batch, without the parameters that the user named:
    `named` are these, each with its dimension.
    """
    if not others:
        yield "no computed value carries the batch, so do not trust the figure"
    for beginning, assumed in _MADE_BY_SIZE.items():
        if any(compilation.values[each].label.startswith(beginning) for each in others):
            yield assumed
    parameters = [compilation.values[each] for each in others if each in compilation.parameters]
    if parameters:
        name = min(
            (name_of(compilation, each) for each in parameters), key=lambda name: (len(name), name)
        )
        more = f" and {len(parameters) - 1} more" if parameters[1:] else ""
        yield (
            f"{name}{more} must have the length of the batch, too, and shrink; if they do"
            " not, name another dimension or compare with another batch (--batch-like)"
        )
    for split in dict.fromkeys(scaled.splits):
        length, parts = split.length, split.parts
        yield (
            f"a dimension of {length} is split into {parts[0]} x {parts[1]}: the"
            f" {'second' if split.changed else 'first'} is assumed to shrink"
        )
    yield from _halved_lengths(followed, scaled)
    find = followed.lengths.find
    yield from _chosen_lengths(compilation, followed, scaled, kept)
    yield from _unnamed_lengths(compilation, followed, scaled, named)
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


def _halved_lengths(followed: FollowedDimensions, scaled: Scaled) -> Iterable[str]:
    """Yield that a changed length is halved down to 2, as often as its logarithm says."""
    lengths = set(map(followed.lengths.length, scaled.lengths))
    for longest in sorted(lengths, reverse=True):
        halved = [longest >> times for times in range(1, longest.bit_length() - 1)]
        if len(halved) >= _LEAST_HALVINGS and lengths.issuperset(halved):
            yield (
                f"{longest} is halved down to {halved[-1]}, as jax.lax.associative_scan does;"
                " another length has more or fewer of these steps, with their values"
            )
            return


def _chosen_lengths(
    compilation: PlannableCompilation,
    followed: FollowedDimensions,
    scaled: Scaled,
    kept: Fraction,
) -> Iterable[str]:
    """Yield lengths that follow from no input, of large values.

    A program may compute them from the batch, as the capacity of an expert.
    """
    lengths = followed.lengths
    of_inputs = lengths.of_inputs()
    found: dict[int, tuple[StoredValue, int]] = {}
    for value in _large_values(compilation):
        for place, each in enumerate(dimensions_of(compilation, followed, value.value_id)):
            dimension = lengths.find(each)
            is_known = dimension in of_inputs or dimension in scaled.lengths
            new = lengths.length(each) * kept
            is_whole = new.denominator == 1 and lengths.length(each) > _LONGEST_INDEX
            # the uses of a constant decide its lengths, and a product's factors its length
            if is_whole and not (is_known or lengths.is_free(each) or lengths.is_product(each)):
                found.setdefault(dimension, (value, place))
    for dimension, (value, place) in list(found.items())[:_MOST_CHOSEN]:
        yield (
            f"{lengths.length(dimension)} in {value.label} ({value.full_shape}) is the length of no"
            " input and assumed to stay; if it is computed from the batch, name it, too:"
            f" --batch-of {value.label}:{place}"
        )


def _unnamed_lengths(
    compilation: PlannableCompilation,
    followed: FollowedDimensions,
    scaled: Scaled,
    named: Collection[tuple[int, int]],
) -> Iterable[str]:
    """Yield a length that large values have from parameters of the same pytree, if these stay.

    One choice of a program, as the codes of a codebook, gives both, but no operation shows it.
    """
    find, values = followed.lengths.find, compilation.values
    chosen = {
        (_pytree(values[each]), values[each].dimensions[place])
        for each, place in named
        if each in compilation.parameters
    }
    held = {
        find(each)
        for value in _large_values(compilation)
        for each in dimensions_of(compilation, followed, value.value_id)
    }
    found: dict[int, list[str]] = {}
    for value in compilation.array_parameters:
        if _pytree(value) is None:
            continue
        array = followed_parameter(compilation, followed, value.value_id)
        for place, (each, length) in enumerate(zip(array, value.dimensions, strict=False)):
            is_held = find(each) in held and find(each) not in scaled.lengths
            if is_held and (_pytree(value), length) in chosen:
                found.setdefault(length, []).append(f"{name_of(compilation, value)}:{place}")
    for length, names in found.items():
        more = f" and {len(names) - 1} more" if names[1:] else ""
        yield (
            f"{length} is also a length of {names[0]}{more}, to which no operation relates it, and"
            " assumed to stay there; if one choice of the program gives both, name them, too"
        )


def _pytree(value: StoredValue) -> str | None:
    """Return the argument of which a parameter is a nested leaf; None of others."""
    parts = re.split(r"[.\[]", value.known_op_name or "")
    return parts[0] if len(parts) > _NESTED else None


def _large_values(compilation: PlannableCompilation) -> Iterable[StoredValue]:
    """Yield the values that are large enough to be named for one of their lengths."""
    least = sum(compilation.reserved_bytes.values()) * _LEAST_SHARE
    values = [compilation.values[each.value_id] for each in compilation.program.values]
    for value in sorted(values, key=lambda value: (-value.size_bytes, value.value_id)):
        if value.size_bytes < least:
            break
        yield value
