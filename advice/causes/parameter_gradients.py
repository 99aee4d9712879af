"""Find gradients of parameters that are kept for each example, although their sum is enough."""

import re
from collections.abc import Collection, Container, Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Final

from xlagraph.advice.causes.axes import Axes
from xlagraph.advice.causes.cause import PARTS, Cause, Remedies, evidence_row
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.names import input_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.op_names import is_backward, is_per_example, of_first_computation
from xlagraph.hlo.opcodes import COPYING, PASSING_ON
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.resizing import ComputeInParts
from xlagraph.queries.catalogue.declarations import ChangeKind

_LEAST_OF_GRADIENTS: Final = 4
"""Gradients of less than one in so many of the bytes of activations are not what takes memory."""
_EXAMPLES_FORWARD: Final = re.compile(
    r"vmap\((?:jit\()?jvp\(|vmap\([^;]*\)/(?:[^;]*[/(])?jvp\(|pfor/|vectorized_map"
)
"""Op names of gradients that are computed for each example, also within an outer gradient."""
_OF_EXAMPLES: Final = re.compile(r"vmap\((?:jit\()?(?:transpose\()?jvp\(")
"""Op names of both passes of a gradient that is vectorized over examples."""
_DERIVED_AGAIN: Final = re.compile(r"vmap\((?:jit\()?(?:transpose\()?jvp\([^/]*transpose\(")
"""Op names of derivatives of a gradient: products with a Hessian for each direction."""
_TWICE_VECTORIZED: Final = re.compile(r"vmap\(vmap\([^)]*transpose\(")
_HANDED_ON: Final = PASSING_ON | {"parameter"}
"""Opcodes of instructions that compute no elements."""
_DATA: Final = ("slice", "concatenate", "pad", "reverse", "gather", "dot", "convolution")
"""Opcodes that read parts or products of fields and activations."""

PER_EXAMPLE: Final[Remedies] = {
    "jax": "Sum the gradients as they are made: jax.lax.scan over examples or small groups of them,"
    " with the sum as carry, instead of jax.vmap(jax.grad(...)) over the whole batch"
    " (jax.lax.map(f, xs, batch_size=8) for groups). If only their sum is needed, apply jax.vmap"
    " inside, such as to an ODE's vector field instead of to its solver: the sum is then a matrix"
    " product. If only norms are needed, compute only those.",
    "tensorflow": "Loop over small groups of examples (tf.while_loop or tf.map_fn) and add up"
    " clipped gradients, instead of tf.vectorized_map or tape.jacobian over the batch.",
    "pytorch": "Give torch.func.vmap a chunk_size, or accumulate clipped gradients over"
    " microbatches.",
}


def per_example_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield per-example gradients: a batch dimension followed by a parameter's dimensions.

    The forward pass is vectorized over the examples too; in a Jacobian only the backward pass is,
    or there are two dimensions more. Or products of two values of each example are added up over
    the examples.
    """
    inputs = program.compilation.array_parameters
    # labels and tokens have no gradients
    floats = [each for each in inputs if not each.is_integer] or inputs
    names_by_shape = {
        lengths: input_name(value)
        for value in reversed(floats)
        for lengths in (value.dimensions, value.dimensions[::-1])
        if len(lengths) > 1
    }
    results = {program.values[each].dimensions for each in program.compilation.results}
    results |= {lengths[::-1] for lengths in results}
    names = (each.op_name or "" for each in program.instructions.values())
    is_marked = any(_EXAMPLES_FORWARD.search(name) for name in names)
    summed: set[int] = set()
    marked: set[int] = set()
    seen: set[int] = set()
    candidates = [
        value
        for value in program.temporaries
        if value.dimensions[:1] > (1,) and value.dimensions[1:] in names_by_shape
    ]
    for value in candidates:
        # without a mark or the sum, batch × sequence × width looks the same
        if is_marked and value.value_id not in marked and _is_example_gradient(program, value):
            alike = _of_equal_shape(program, value)
            copied = _of_equal_shape(program, value, _HANDED_ON - COPYING)
            is_other = (
                _is_data(program, copied)
                or _is_repeated(program, copied)
                or _is_of_rows(program, value, alike)
            )
            marked |= set() if is_other else alike
        if value.value_id not in seen:
            connected = _of_equal_shape(program, value)
            seen |= connected
            # an input without a new value or a returned gradient has the shape by chance
            is_of_result = value.dimensions[1:] in results
            if is_of_result and _are_summed_products(program, connected):
                summed |= connected
    if marked and program.module is not None:
        axes = Axes(program, program.module)
        if any(_is_summed_inside(axes, program.values[each]) for each in marked):
            marked = set()  # gradients of pairs, such as those of two clouds of points
        marked = {each for each in marked if _is_of_examples(axes, program.values[each])}
    ops = {
        (value.shape, value.attributed_op_name) for value in candidates if value.value_id in marked
    }
    found = {
        value: value.dimensions
        for value in candidates
        if value.value_id in summed | marked or (value.shape, value.attributed_op_name) in ops
    }
    if not found:
        return
    found |= {
        value: value.dimensions
        for value in candidates
        if value not in found
        and (_scales_one(program, value, found) or _is_made_of_same(program, value, found))
    }
    shapes = set(found.values())
    for value in program.temporaries:  # a loop stacks what it computes for each example
        if program.stack_of(value) is not None and value.dimensions[1:] in shapes:
            found[value] = value.dimensions[1:]
    factors = {
        value.label: Fraction(1, count if value.value_id in summed else min(count, PARTS))
        for value, (count, *_) in found.items()
    }
    others = _of_examples(program, {count for count, *_ in shapes}, names_by_shape)
    if _largest(program, factors) * _LEAST_OF_GRADIENTS >= _largest(program, others):
        factors = others | factors
    rows = tuple(
        evidence_row(
            value,
            f"values for each of {lengths[0]} examples, each of the shape of"
            f" {names_by_shape[lengths[1:]]}",
        )
        for value, lengths in found.items()
    )
    yield Cause(
        "peak/contributors",
        "Gradients are kept for each example",
        ChangeKind.PARTS,
        ComputeInParts(factors),
        rows,
        PER_EXAMPLE,
        likelihood=0.9,
    )


def _largest(program: PeakProgram, labels: Iterable[str]) -> int:
    return max((program.by_label[label].size_bytes for label in labels), default=0)


def _of_examples(
    program: PeakProgram, counts: Collection[int], parameters: Container[tuple[int, ...]]
) -> dict[str, Fraction]:
    """Return what else is computed for each example, with the part that a group of them takes.

    A loop over groups of examples computes the activations of one group too.
    """
    return {
        value.label: Fraction(1, min(count, PARTS))
        for count in counts
        for value in program.temporaries
        if len(lengths := value.dimensions) > 1
        and (
            # the compiler expands some ops, such as the gradient of a pooling, without names
            (value.known_op_name is None and lengths[0] == count)
            or _OF_EXAMPLES.search(value.attributed_op_name or "")
        )
        and (
            lengths[0] == count
            or (lengths not in parameters and (lengths[1] == count or lengths[0] % count == 0))
        )
    }


def _is_example_gradient(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a gradient of each example, or what is computed from one.

    The examples are a dimension of an operand or of an input. The parts of a product that a GPU
    adds up afterwards are not. What a checkpoint recomputes is an activation.
    """
    sources = [program.values[each] for each in program.read_by.get(value.name, ())]
    names = [of_first_computation(each.attributed_op_name) or "" for each in (value, *sources)]
    known = (*sources, *program.compilation.array_parameters)
    return (
        value.dimensions[:1] > (1,)
        and any(value.dimensions[0] in each.dimensions for each in known)
        and is_per_example(names[0])
        and any(is_backward(name) and is_per_example(name) for name in names)
        and not any(_TWICE_VECTORIZED.search(name) for name in names)
        and not any(_DERIVED_AGAIN.search(name) for name in names)
    )


def _is_of_examples(axes: Axes, value: StoredValue) -> bool:
    """Return True if the first dimension of a value may be that of an input.

    The stages of a solver are no examples, nor are the iterations of a loop.
    """
    first = axes.in_order(value)[:1]
    is_known = bool(first) and axes.length(first[0]) == value.dimensions[0]
    return not is_known or first[0] in axes.given


def _is_summed_inside(axes: Axes, value: StoredValue) -> bool:
    """Return True if something keeps the examples and sums over only some other dimensions.

    Of the gradient of a parameter all are summed, as for a norm, or none.
    """
    program, (first, *inner) = axes.program, axes.in_order(value) or [0]
    return any(
        program.computes_with(name, "reduce")
        and first in axes.of(made)
        and 0 < len(axes.of(made).intersection(inner)) < len({*inner})
        for name in program.readers_of.get(value.value_id, ())
        for made in program.made_by.get(name, ())
    )


def _scales_one(
    program: PeakProgram, value: StoredValue, gradients: Collection[StoredValue]
) -> bool:
    """Return True for a number of each example that is repeated to multiply the gradients."""
    maker = program.instructions[value.name]
    return maker.computes_with("broadcast") and any(
        program.computes_with(name, "multiply")
        and any(
            program.values[each] in gradients and program.values[each].shape == value.shape
            for each in program.read_by[name]
        )
        for name in program.readers_of.get(value.value_id, ())
    )


def _is_made_of_same(
    program: PeakProgram, value: StoredValue, gradients: Collection[StoredValue]
) -> bool:
    """Return True for what is computed of the operands of a gradient again, as for its norm."""
    read = {*program.read_by.get(value.name, ())}
    return bool(read) and any(
        value.shape == each.shape and read.issubset(program.read_by.get(each.name, ()))
        for each in gradients
    )


def _is_data(program: PeakProgram, value_ids: Collection[int]) -> bool:
    """Return True if parts or products of values are read: gradients are added, reduced, scaled."""
    return any(
        program.computes_with(name, opcode)
        for value_id in value_ids
        for name in program.readers_of.get(value_id, ())
        for opcode in _DATA
    )


def _is_repeated(program: PeakProgram, value_ids: Collection[int]) -> bool:
    """Return True if the rows of each example read values: parameters that a loop trains for it."""
    return any(
        not program.computes_with(name, "dynamic-update-slice")
        and any(
            each.dimensions[:1] == value.dimensions[:1]
            and prod(each.dimensions) > prod(value.dimensions)
            for each in made
        )
        for value in map(program.values.__getitem__, value_ids)
        for name in program.readers_of.get(value.value_id, ())
        if len(made := program.made_by.get(name, ())) == 1
    )


def _is_of_rows(program: PeakProgram, value: StoredValue, value_ids: Collection[int]) -> bool:
    """Return True if a product reads rows of all examples together: activations have rows.

    The first dimension of a parameter's gradient belongs to the parameter.
    """
    count, rows, *_ = value.dimensions
    return any(
        count * rows in made.dimensions
        and count not in made.dimensions
        and prod(made.dimensions) == prod(value.dimensions)
        and any(program.computes_with(each, "dot") for each in program.readers_of[made.value_id])
        for value_id in value_ids
        for name in program.readers_of.get(value_id, ())
        for made in program.made_by.get(name, ())
        if made.value_id in program.readers_of
    )


def _of_equal_shape(
    program: PeakProgram, value: StoredValue, between: Collection[str] = _HANDED_ON
) -> set[int]:
    """Return a value, and those of its shape that are computed from it, or from which it is."""
    found, waiting = {value.value_id}, [value.value_id]
    while waiting:
        each = program.values[waiting.pop()]
        near = [member.value_id for member in program.members_of(each)]
        maker = program.instructions.get(each.name)
        if maker is not None and maker.opcode not in between:
            near += program.read_by.get(each.name, ())
        for name in program.readers_of.get(each.value_id, ()):
            if program.instructions[name].opcode not in between:
                near += [made.value_id for made in program.made_by.get(name, ())]
        for value_id in near:
            if value_id not in found and program.values[value_id].shape == value.shape:
                found.add(value_id)
                waiting.append(value_id)
    return found


def _are_summed_products(program: PeakProgram, value_ids: Collection[int]) -> bool:
    """Return True if values are outer products of each example that are added over the examples.

    What makes one reads only values of its shape, or multiplies two smaller values with its first
    dimension, of which the backward pass makes one. Something adds them over that dimension.
    """
    examples, *lengths = program.values[next(iter(value_ids))].dimensions
    is_product = False
    for value_id in value_ids:
        made = program.values[value_id]
        maker = program.instructions.get(made.name)
        if maker is None or maker.opcode in _HANDED_ON:
            continue
        read = [
            program.values[each]
            for each in program.read_by.get(made.name, ())
            if each not in value_ids and program.values[each].dimensions
        ]
        factors = [each for each in read if each.dimensions[:1] == (examples,)]
        sizes = [prod(each.dimensions[1:]) for each in factors]
        if any(size >= prod(lengths) for size in sizes):
            return False
        if any(
            each.dimensions == tuple(lengths) and input_of(program, each) is not None
            for each in factors
        ):
            return False  # each row belongs to a pair of rows of an input, such as two particles
        if any(one * other == prod(lengths) for one, other in combinations(sizes, 2)):
            is_product |= any(each.is_backward for each in (made, *factors))
        elif read:
            return False
    return is_product and any(
        program.computes_with(name, "reduce")
        and any(sorted(made.dimensions) == sorted(lengths) for made in program.made_by[name])
        for value_id in value_ids
        for name in program.readers_of.get(value_id, ())
        if name in program.made_by
    )
