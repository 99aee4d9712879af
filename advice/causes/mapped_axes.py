"""Find what is computed for all elements of a mapped axis at once, although only sums are read.

`jax.vmap` over keys, samples or members of a population computes everything for all of them. If
nothing that is returned has their axis, a loop over groups of them needs one group at a time.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes.attention_scores import stored_scores
from xlagraph.advice.causes.cause import PARTS, Cause, Remedies, evidence_row
from xlagraph.advice.causes.jacobians import derivatives_at_once, stored_jacobians
from xlagraph.advice.causes.mapped_dimensions import MappedAxes
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.parameter_gradients import PER_EXAMPLE, per_example_gradients
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.reduced_stacks import reduced_stacks
from xlagraph.hlo.op_names import is_per_example
from xlagraph.planner.edits.resizing import ComputeInParts, Remove
from xlagraph.queries.catalogue.declarations import ChangeKind

_LEAST_SHARE: Final = 0.25
"""Least share of the reserved bytes of the values with a mapped axis."""
_LEAST_LENGTH: Final = 4
_NEARLY_ALL: Final = 0.75

_MAPPED: Final[Remedies] = {
    "jax": "Compute a few at a time: jax.lax.map(f, xs, batch_size={size}) instead of"
    " jax.vmap(f)(xs), or jax.lax.scan over them with the sum in its carry. If a gradient goes"
    " through it, wrap f in jax.checkpoint, or compute the gradient in the loop and add it up in"
    " the carry.",
    "tensorflow": "Compute a few at a time: tf.map_fn, or a tf.while_loop that adds them up,"
    " instead of tf.vectorized_map.",
    "pytorch": "Give torch.func.vmap chunk_size={size}, or add the results up in a loop.",
}


def mapped_axes(program: PeakProgram) -> Iterator[Cause]:
    """Yield the values with a mapped axis that no result has, or that counts directions.

    If inputs have it and gradients go through it, it may be the batch of a training step, unless
    each element of it changes a matrix of its own, as in the inner loop of MAML.
    """
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    mapped = sum(
        value.size_bytes for value in program.at_peak if is_per_example(value.known_op_name)
    )
    if mapped < max(least, 1) or program.module is None:
        return
    axes = MappedAxes(program, program.module)
    sizes: defaultdict[int, int] = defaultdict(int)
    inside: defaultdict[int, int] = defaultdict(int)
    for value in program.at_peak:
        is_mapped = is_per_example(value.known_op_name)
        is_other = value.known_op_name is not None and not is_mapped
        for length in {axes.length(axis) for axis in axes.of(value)}:
            sizes[length] += value.size_bytes * (is_mapped - is_other)
            inside[length] += value.size_bytes * is_mapped
    # nearly all that a mapped function computes has its axis; its own dimensions are elsewhere, too
    most = max(inside.values(), default=0)
    for length in sorted(sizes, key=lambda each: (-sizes[each], each)):
        is_large = sizes[length] >= least and inside[length] >= _NEARLY_ALL * most
        if length < _LEAST_LENGTH or not is_large:
            continue
        if (cause := _cause(program, axes, length, is_most=sizes[length] >= 2 * least)) is None:
            continue
        if (
            cause.sum_bytes >= least
            and not _are_derivatives(program, cause)
            and not _is_of_scores(program, length)
        ):
            yield cause
            return


def _cause(program: PeakProgram, axes: MappedAxes, length: int, *, is_most: bool) -> Cause | None:
    """Return the cause for the axes of a length, if that of most bytes may count directions."""
    found = axes.mapped(length)
    if found and (reader := axes.reader(found)) is not None:
        title = (
            f"A mapped function is computed for all {length} elements, of which a part or a"
            " reduction is read"
        )
        reads = f"{place_name(program, reader)} reads only a part or a reduction of them"
        reason = f"computed for all {length} at once; {reads}"
    elif is_most and (found := axes.directions(length)):
        title = f"Derivatives in all of {length} directions are computed at once"
        reason = f"linear in each of {length} directions, which need not be computed together"
    else:
        return None
    kept = axes.kept(found, Fraction(1, min(length, PARTS)))
    rows = [
        value
        for value in program.temporaries
        if value.value_id in kept and is_per_example(value.known_op_name)
    ]
    # others only follow, as the matrix whose diagonal has the dimension
    own = [value for value in rows if not axes.of(value).isdisjoint(found)]
    if 2 * sum(value.size_bytes for value in own) < sum(value.size_bytes for value in rows):
        return None
    size = max(1, length // PARTS)
    return Cause(
        "peak/contributors",
        title,
        ChangeKind.PARTS,
        ComputeInParts({program.values[each].label: part for each, part in kept.items()}),
        tuple(evidence_row(value, reason) for value in rows),
        {name: text.format(size=size) for name, text in _MAPPED.items()},
        likelihood=0.9,
    )


def _is_of_scores(program: PeakProgram, length: int) -> bool:
    """Return True if attention scores have queries or keys of a length, as in a mapped attention.

    Libraries map the function that computes them over the batch, not over queries.
    """
    return any(
        length in program.by_label[label].dimensions[-2:]
        for scores in stored_scores(program)
        for label in scores.labels
    )


def _are_derivatives(program: PeakProgram, cause: Cause) -> bool:
    """Return True if another cause names the values, as a Jacobian or gradients of each example."""
    if any(2 * each.sum_bytes >= cause.sum_bytes for each in per_example_gradients(program)):
        return True
    stacks = (each.labels for each in reduced_stacks(program) if each.remedies is PER_EXAMPLE)
    named = set[str]().union(*stacks)
    for each in (*derivatives_at_once(program), *stored_jacobians(program)):
        named |= each.labels
        if isinstance(each.edit, Remove):  # with what makes a Jacobian
            named.update(each.edit.patterns)
    return not named.isdisjoint(cause.labels)
