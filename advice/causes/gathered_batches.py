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
from xlagraph.advice.causes.parts_of_devices import ON_EACH_DEVICE
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.graph.engine import Cell
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.hlo.shapes import index_numbers
from xlagraph.hlo.shardings import split_dimensions
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredInstruction, StoredValue
from xlagraph.planner.dimensions.dimension_trees import Array, arrays, element
from xlagraph.planner.dimensions.following import FollowedDimensions, follow
from xlagraph.planner.dimensions.module_operations import ArrayShape, ModuleOperations, Operation
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

    The batch is the first dimension of inputs that no result replaces, and that are split, or of
    which the program takes the part of each device. It is followed from where an array of the same
    other dimensions is gathered; what is computed from it, such as the other side of pairs, may be
    gathered because it is needed. Values that are split in another dimension are left out: they
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
    split = [
        *_split_dimensions(program, inputs, followed),
        *_split_by_program(program, inputs, operations, followed),
    ]
    batch = [each for each in split if each.is_batch]
    if len({each.parts for each in batch}) != 1:
        return
    parts = batch[0].parts
    whole = _whole_dimensions(program, operations, followed, batch)
    others = {
        factor
        for each in split
        if not each.is_batch and each.parts == parts
        for factor in followed.lengths.parts(each.dimension)
    }
    found = {
        planned.value_id
        for planned in program.program.values
        if all(
            factors.isdisjoint(others) and any(factors.issuperset(each) for each in whole)
            for factors in _factors(program, followed, planned.value_id)
        )
    }
    # the zeros that a loop writes a stack over have no dimension of the batch themselves
    found |= {
        member.value_id
        for each in found
        for member in program.members_of(program.values[each])
        if member.size_bytes == program.values[each].size_bytes
    }
    at_peak = [value for value in program.at_peak if value.value_id in found]
    if not all(value.is_integer for value in at_peak):  # as ids for a table that is split
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


def is_for_tables(program: PeakProgram, gather: str) -> bool:
    """Return True if only gathers and scatters read what is gathered.

    A device that has some rows of a table needs the ids and the new rows of the whole batch.
    """
    passing = PASSING_ON | GATHERING

    def readers(value: StoredValue) -> Iterator[StoredInstruction]:
        return (program.instructions[name] for name in program.readers_of.get(value.value_id, ()))

    def handed_on(value: StoredValue) -> Iterator[StoredValue]:
        for reader in readers(value):
            if reader.opcode in passing:
                yield from program.made_by.get(reader.name, ())

    values = reached(program.made_by.get(gather, ()), handed_on)
    computing = [r for value in values for r in readers(value) if r.opcode not in passing]
    return bool(computing) and all(
        each.computes_with("gather") or each.computes_with("scatter") for each in computing
    )


def _split_dimensions(
    program: PeakProgram, inputs: Sequence[Mapping[str, Cell]], followed: FollowedDimensions
) -> Iterator[_SplitDimension]:
    """Yield the dimensions of inputs that are split over devices."""
    for array, parts, is_state in _inputs(program, inputs, followed):
        for axis, (dimension, count) in enumerate(zip(array, parts, strict=False)):
            if count > 1:
                is_batch = axis == 0 and not is_state
                yield _SplitDimension(dimension, count, is_batch, _rest(followed, array, axis))


def _split_by_program(
    program: PeakProgram,
    inputs: Sequence[Mapping[str, Cell]],
    operations: ModuleOperations,
    followed: FollowedDimensions,
) -> Iterator[_SplitDimension]:
    """Yield the parts of complete inputs that a program takes by the number of the device."""
    if not any(each.opcode in ON_EACH_DEVICE for each in program.instructions.values()):
        return
    lengths = followed.lengths
    whole = {
        lengths.find(array[0])
        for array, parts, is_state in _inputs(program, inputs, followed)
        if array and not is_state and not any(count > 1 for count in parts)
    }
    of_device = set(_numbers_of_devices(operations, operations.entry, frozenset()))
    for each in chain.from_iterable(operations.computations.values()):
        if each.opcode != "dynamic-slice":
            continue
        read, *starts = each.operands
        given = followed.at(read.name, read.element) or ()
        taken = followed.at(each.name, ()) or ()
        if given and taken and lengths.find(given[0]) in whole:
            count, rest = divmod(lengths.length(given[0]), lengths.length(taken[0]))
            if count > 1 and not rest and starts[0].name in of_device:
                yield _SplitDimension(taken[0], count, True, _rest(followed, taken, 0))


def _numbers_of_devices(
    operations: ModuleOperations, computation: str, given: frozenset[int]
) -> Iterator[str]:
    """Yield the names of scalars that depend on the number of the device, also in what is called.

    ``given`` are the parameters of the computation that depend on it.
    """
    found: set[str] = set()
    for each in operations.computations.get(computation, ()):
        read = frozenset(k for k, (name, _) in enumerate(each.operands) if name in found)
        is_given = each.opcode == "parameter" and given.issuperset(
            each.numbers.get("number", (-1,))
        )
        is_scalar = isinstance(each.shape, ArrayShape) and not each.shape.lengths
        if is_scalar and (read or is_given or each.opcode in ON_EACH_DEVICE):
            found.add(each.name)
        for callee in each.callees.get("calls", ()) if read else ():
            yield from _numbers_of_devices(operations, callee, read)
    yield from found


def _inputs(
    program: PeakProgram, inputs: Sequence[Mapping[str, Cell]], followed: FollowedDimensions
) -> Iterator[tuple[Array, Sequence[int], bool]]:
    """Yield dimensions, parts of each, and if a result has the same shape, of each input."""
    updated = {program.values[each].shape for each in program.compilation.results}
    for row in inputs:
        value = program.by_label.get(str(row["value"]))
        place = None if value is None else program.compilation.parameters.get(value.value_id)
        if value is None or place is None:
            continue
        number, index = place
        array = element(followed.parameters.get(number), index_numbers(index))
        if isinstance(array, tuple):
            parts = split_dimensions(str(row["sharding"]))
            if parts is not None:
                yield array, parts, value.shape in updated


def _rest(followed: FollowedDimensions, array: Array, axis: int) -> frozenset[int]:
    """Return the factors of all dimensions but one, without those of one element."""
    lengths = followed.lengths
    others = (*array[:axis], *array[axis + 1 :])
    return frozenset(part for each in others for part in lengths.parts(each)) - {
        lengths.find(each) for each in others if lengths.length(each) == 1
    }


def _whole_dimensions(
    program: PeakProgram,
    operations: ModuleOperations,
    followed: FollowedDimensions,
    batch: Sequence[_SplitDimension],
) -> frozenset[frozenset[int]]:
    """Return the factors of each dimension into which all parts of an input are gathered."""
    lengths = followed.lengths
    given = {each.dimension: Fraction(lengths.length(each.dimension), each.parts) for each in batch}
    of_batch = lengths.scaled(given, ()).lengths
    whole = {each.parts * lengths.length(each.dimension) for each in batch}
    rests = {each.rest for each in batch}
    found = set()
    for gather in chain.from_iterable(operations.computations.values()):
        if gather.opcode not in GATHERING or is_for_tables(program, gather.name):
            continue
        for old, new in _gathered(followed, gather):
            for axis, (before, after) in enumerate(zip(old, new, strict=False)):
                if (
                    lengths.length(after) in whole
                    and lengths.length(before) < lengths.length(after)
                    and lengths.find(before) in of_batch
                    and _rest(followed, old, axis) in rests
                ):
                    found.add(frozenset(lengths.parts(after)))
    return frozenset(found)


def _gathered(followed: FollowedDimensions, gather: Operation) -> Iterator[tuple[Array, Array]]:
    """Yield the dimensions of each array that is gathered, before and after."""
    result = followed.results.get(gather.name)
    if gather.opcode == "all-gather-start":  # its result is a tuple of both
        result = element(result, (1,))
    afters = [()] if result is None else list(arrays(result))
    for read, after in zip(gather.operands, afters, strict=False):
        yield followed.at(read.name, read.element) or (), after


def _factors(
    program: PeakProgram, followed: FollowedDimensions, value_id: int
) -> Iterator[frozenset[int]]:
    """Yield the dimensions of each use of a value, as the dimensions that they are products of."""
    for array in followed.lengths.uses(dimensions_of(program.compilation, followed, value_id)):
        yield frozenset(part for each in array for part in followed.lengths.parts(each))
