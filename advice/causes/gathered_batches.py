"""Find values of the whole batch on every device, although the batch is split over the devices.

Where parameters are split over the same devices as the batch, the compiler chooses which of the two
it gathers. If it gathers the batch, products have all rows on every device, and are summed there.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.copied_inputs import GATHERING
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.graph.engine import Cell
from xlagraph.hlo.shapes import index_numbers
from xlagraph.hlo.shardings import split_dimensions
from xlagraph.planner.dimensions.dimension_trees import Array, element
from xlagraph.planner.dimensions.following import FollowedDimensions, follow
from xlagraph.planner.dimensions.module_operations import ModuleOperations, Operation
from xlagraph.planner.edits.batch_assumptions import dimensions_of
from xlagraph.planner.edits.resizing import Scale
from xlagraph.queries.catalogue.declarations import ChangeKind

_GATHERED_BATCH: Final[Remedies] = {
    "jax": "Keep the batch split: h = jax.lax.with_sharding_constraint(h, P('data', ...)) on the"
    " activations before and after each layer, so that the compiler gathers the weights of one"
    " layer instead of the batch.",
    "tensorflow": "Give the activations of each layer a DTensor layout that splits the batch"
    " (tf.experimental.dtensor.relayout), so that the weights are gathered instead.",
    "pytorch": "Call mark_sharding (torch_xla.distributed.spmd) on the activations of each layer,"
    " so that the weights are gathered instead of the batch.",
}


class _SplitDimension(NamedTuple):
    """A dimension of an input of which each device has a part."""

    dimension: int
    """Its number among the followed lengths."""
    parts: int
    is_batch: bool
    rest: frozenset[int]
    """Factors of the other dimensions of the input."""


def gathered_batches(program: PeakProgram, inputs: Sequence[Mapping[str, Cell]]) -> Iterator[Cause]:
    """Yield the values of the whole batch that devices hold although the batch is split.

    The batch is the first dimension of split inputs that no result replaces. It is followed from
    where such an input is gathered; what is computed from it, such as the other side of pairs, may
    be gathered because it is needed. Values that are split in another dimension are left out: they
    would be as large with a part of the batch.
    """
    if not any(split_dimensions(str(row["sharding"])) for row in inputs):
        return
    if not any(each.opcode in GATHERING for each in program.instructions.values()):
        return
    operations = program.stored.operations
    if operations is None:
        return
    followed = follow(operations)
    split = list(_split_dimensions(program, inputs, followed))
    batch = [each for each in split if each.is_batch]
    if len({each.parts for each in batch}) != 1:
        return
    parts = batch[0].parts
    whole = _whole_dimensions(operations, followed, batch)
    others = {
        factor
        for each in split
        if not each.is_batch and each.parts == parts
        for factor in followed.lengths.parts(each.dimension)
    }
    found = {
        planned.value_id
        for planned in program.program.values
        if (factors := _factors(program, followed, planned.value_id)).isdisjoint(others)
        and any(factors.issuperset(each) for each in whole)
    }
    at_peak = [value for value in program.at_peak if value.value_id in found]
    if at_peak:
        reason = f"has the rows of all {parts} parts of the batch"
        yield Cause(
            "waste/gathered",
            "Every device computes with the whole batch, although the batch is split",
            ChangeKind.SHARD,
            Scale({program.values[each].label: Fraction(1, parts) for each in sorted(found)}),
            tuple(
                evidence_row(value, reason)
                for value in sorted(at_peak, key=lambda value: -value.size_bytes)
            ),
            _GATHERED_BATCH,
            "the weights of a layer are gathered instead, which takes bytes too",
            is_exact=True,
            likelihood=0.9,
        )


def _split_dimensions(
    program: PeakProgram, inputs: Sequence[Mapping[str, Cell]], followed: FollowedDimensions
) -> Iterator[_SplitDimension]:
    """Yield the dimensions of inputs that are split over devices."""
    updated = {program.values[each].shape for each in program.compilation.results}
    for row in inputs:
        value = program.by_label.get(str(row["value"]))
        place = None if value is None else program.compilation.parameters.get(value.value_id)
        if value is None or place is None:
            continue
        number, index = place
        array = element(followed.parameters.get(number), index_numbers(index))
        parts = split_dimensions(str(row["sharding"])) or ()
        if isinstance(array, tuple):
            for axis, (dimension, count) in enumerate(zip(array, parts, strict=False)):
                if count > 1:
                    is_batch = axis == 0 and value.shape not in updated
                    yield _SplitDimension(dimension, count, is_batch, _rest(followed, array, axis))


def _rest(followed: FollowedDimensions, array: Array, axis: int) -> frozenset[int]:
    """Return the factors of all dimensions but one, without those of one element."""
    lengths = followed.lengths
    others = (*array[:axis], *array[axis + 1 :])
    return frozenset(part for each in others for part in lengths.parts(each)) - {
        lengths.find(each) for each in others if lengths.length(each) == 1
    }


def _whole_dimensions(
    operations: ModuleOperations, followed: FollowedDimensions, batch: Sequence[_SplitDimension]
) -> frozenset[frozenset[int]]:
    """Return the factors of each dimension into which all parts of an input are gathered."""
    lengths = followed.lengths
    given = {each.dimension: Fraction(lengths.length(each.dimension), each.parts) for each in batch}
    of_batch = lengths.scaled(given, ()).lengths
    whole = {each.parts * lengths.length(each.dimension) for each in batch}
    rests = {each.rest for each in batch}
    found = set()
    for gather in chain.from_iterable(operations.computations.values()):
        if gather.opcode not in GATHERING:
            continue
        old, new = _gathered(followed, gather)
        for axis, (before, after) in enumerate(zip(old, new, strict=False)):
            if (
                lengths.length(after) in whole
                and lengths.length(before) < lengths.length(after)
                and lengths.find(before) in of_batch
                and _rest(followed, old, axis) in rests
            ):
                found.add(frozenset(lengths.parts(after)))
    return frozenset(found)


def _gathered(followed: FollowedDimensions, gather: Operation) -> tuple[Array, Array]:
    """Return the dimensions of what is gathered, before and after; none of several arrays."""
    result = followed.results.get(gather.name)
    if gather.opcode == "all-gather-start":  # its result is a tuple of both
        result = element(result, (1,))
    (read, *others) = gather.operands
    before = element(followed.results.get(read.name), read.element)
    if others or not isinstance(before, tuple) or not isinstance(result, tuple):
        return (), ()
    return before, result


def _factors(program: PeakProgram, followed: FollowedDimensions, value_id: int) -> frozenset[int]:
    """Return the dimensions of a value, each as the dimensions that it is the product of."""
    array = dimensions_of(program.compilation, followed, value_id)
    return frozenset(part for each in array for part in followed.lengths.parts(each))
