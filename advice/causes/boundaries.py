"""Find bytes at the borders of a program: results, constants, and stacks of loops.

A dump does not show which results the caller needs. So the finding says what is returned, and
leaves this in doubt.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed, of_returned
from xlagraph.advice.causes.loop_states import handed_on, has_carry
from xlagraph.advice.causes.names import pattern_of, place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.reduced_stacks import gradients_of_reads, reads_of_parts
from xlagraph.advice.causes.returned_values import source_of_copies
from xlagraph.hlo.instruction import first_number
from xlagraph.hlo.op_names import last_part
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.hlo.shapes import WHOLE
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import Operation, maker_of
from xlagraph.planner.edits.resizing import Remove, Scale
from xlagraph.planner.edits.returning import KeepInside
from xlagraph.queries.catalogue.declarations import ChangeKind

DOUBLE_PRECISION: Final = ("f64", "c128")
"""Element types of which `wide_floats` names all values."""
_SINGLE: Final = "only if the numerics allow float32"
_PAIRS: Final = f"{_SINGLE}; a TPU computes float64 as pairs of float32, which are saved too"
_LEAST_CONSTANT: Final = 1 << 16
"""Bytes of a constant that a program closes over."""

_OF_GIVEN_ARRAYS: Final = frozenset(
    (
        "", "closed_call", "checkpoint", "remat2", "pjit", "convert_element_type", "reshape",
        "transpose", "squeeze", "broadcast_in_dim",
    )
)  # fmt: skip
"""Ops of constants that a program closes over. The compiler computes those of other ops itself,
such as a scatter into zeros: no caller can pass them."""

_RETURNED_STACKS: Final[Remedies] = {
    "jax": "Return only what the caller needs: the last carry, a sum in the carry, or every n-th"
    " iteration; let the body of jax.lax.scan return None as its second result.",
    "tensorflow": "Return only what the caller needs: the last loop variable or a running sum"
    " instead of a tf.TensorArray of all iterations.",
    "pytorch": "Return only what the caller needs: the last carry, or a sum in the carry.",
}
GRADIENTS_TITLE: Final = "Gradients are returned next to the parameters that they update"
RETURNED_GRADIENTS: Final[Remedies] = {
    "jax": "Return only the new parameters; if the gradients are needed to log them, return their"
    " norms (optax.global_norm).",
    "tensorflow": "Do not return the gradients of the step; return their norms"
    " (tf.linalg.global_norm).",
    "pytorch": "Drop the gradients (optimizer.zero_grad()) before torch_xla.sync().",
}
_CONSTANTS: Final[Remedies] = {
    "jax": "Pass the array as an argument of the jitted function instead of closing over it.",
    "tensorflow": "Pass the tensor as an argument of the tf.function, or keep it in a tf.Variable.",
    "pytorch": "Move the tensor to the device before the step (tensor.to('xla')).",
}
_FLOAT64: Final[Remedies] = {
    "jax": "Compute in float32: leave jax_enable_x64 off, or give dtype=jnp.float32 where the"
    " inputs are made.",
    "tensorflow": "Compute in tf.float32: cast the inputs, and set the dtype of the layers.",
    "pytorch": "Compute in torch.float32: convert the inputs and the model (.float()).",
}


def returned_stacks(program: PeakProgram) -> Iterator[Cause]:
    """Yield the results that hold a value of each iteration of a loop with a carry.

    A loop without one, as of `jax.lax.map`, has no other result than the stack. Gradients of the
    parameters of a loop's layers are stacked too; returning them is another cause. A result may be
    the stack in another order of dimensions, as `jax.vmap` makes it.
    """
    parameters = {value.dimensions for value in program.compilation.array_parameters}
    results = {value.value_id for value in program.own_results}
    moved = {
        source: result.value_id
        for result in program.own_results
        for source in program.sources_of(result)
    }
    stacks = [
        value
        for each in (*program.own_results, *program.temporaries)
        if (value := program.stack_of(each)) is not None
        and value.stack_turns != 1
        and has_carry(program, value.stack_loop or "")
        and not (value.is_backward and value.dimensions in parameters)
        # as a cache, which the caller passes again
        and not any(
            program.is_copy_of_input(program.values[each.value_id].label)
            for each in program.members_of(value)
        )
    ]
    found: set[int] = set()
    gradients: list[str] = []
    rows = []
    is_unread = True
    for value in stacks:
        members = handed_on(program, [value.value_id])
        in_other_order = {moved[each] for each in members & moved.keys()} - members
        if value.value_id in found:
            continue
        if in_other_order or not results.isdisjoint(members):
            found |= in_other_order or members
            reads = reads_of_parts(program, value, members)
            is_unread = is_unread and not in_other_order
            is_unread = is_unread and not (reads is None and _is_read(program, members))
            if reads is not None and reads[0]:
                gradients += gradients_of_reads(program, value, members, reads)
            loop = place_name(program, value.stack_loop or "")
            turns = "all" if value.stack_turns is None else f"all {value.stack_turns}"
            rows.append(evidence_row(value, f"values of {turns} iterations of the loop at {loop}"))
    if rows:
        yield of_returned(
            "A loop stacks a value of each iteration, and the program returns the stack",
            Remove.of(
                program.compilation,
                [*(program.values[each].label for each in sorted(found)), *gradients],
            )
            if is_unread
            else KeepInside(frozenset(found)),
            rows,
            _RETURNED_STACKS,
        )


def returned_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield gradients that are returned next to the parameters that they update."""
    inputs = reversed(program.compilation.array_parameters)  # parameters come before their state
    names = {value.dimensions: value.op_name for value in inputs}
    updated = _updated_inputs(program)
    found = [
        value
        for value in program.own_results
        if value.dimensions and value.dimensions in names
        if (value.is_backward and _updates_an_input(program, value, updated))
        or _is_fused_gradient(program, source_of_copies(program, value) or value)
    ]
    if found:
        text = pattern_of(names[value.dimensions] or value.label for value in found)
        reason = f"a gradient of the shape of {text}; the updated parameter is returned too"
        yield of_returned(
            GRADIENTS_TITLE,
            KeepInside(frozenset(value.value_id for value in found)),
            (evidence_row(value, reason) for value in found),
            RETURNED_GRADIENTS,
        )


def large_constants(program: PeakProgram) -> Iterator[Cause]:
    """Yield constants that the program contains, with the line that reads them.

    Bytes are expected only of copies of a constant: an argument takes the bytes of one, unless the
    caller passes the array already, which a dump does not show.
    """
    found = [
        value
        for planned in program.program.values
        if (value := program.values[planned.value_id]).opcode == "constant"
        and value.memory_space == program.memory_space
        and value.size_bytes >= _LEAST_CONSTANT
        and last_part(value.op_name) in _OF_GIVEN_ARRAYS
    ]
    rows = []
    for value in sorted(found, key=lambda value: -value.size_bytes):
        readers = program.readers_of.get(value.value_id, ())
        places = (program.place_of(name) for name in readers)
        file, line = next((each for each in places if each[0] is not None), (None, None))
        rows.append(evidence_row(value, "a constant of the program", file=file, line=line))
    if rows:
        # one argument replaces all constants of a shape, and takes the bytes of one of them
        kept = {value.shape: value.size_bytes for value in found}
        total = sum(value.size_bytes for value in found)
        yield of_removed(
            program.compilation,
            "peak/contributors",
            "Large constants are compiled into the program",
            [value.label for value in found],
            rows,
            _CONSTANTS,
            "as an argument it takes as many bytes, but shares them with the caller's array",
            is_exact=True,
            likelihood=1 - sum(kept.values()) / total,
        )


def wide_floats(program: PeakProgram) -> Iterator[Cause]:
    """Yield the float64 values of a program, if they are a large part of it."""
    found = [
        value
        for planned in program.program.values
        if (value := program.values[planned.value_id]).dtype in DOUBLE_PRECISION
        and value.memory_space == program.memory_space
    ]
    shown = _one_of_each_set(program, found)
    if shown:
        yield Cause(
            "waste/wide-types",
            "Values are float64",
            ChangeKind.HALF,
            Scale({value.label: Fraction(1, 2) for value in found}),
            tuple(evidence_row(value, f"{value.dtype}") for value in shown),
            _FLOAT64,
            _PAIRS if program.compilation.is_tpu else _SINGLE,
            is_exact=True,
            likelihood=0.8,
        )


def _is_read(program: PeakProgram, members: Collection[int]) -> bool:
    """Return True if an instruction reads these values for anything but themselves.

    The write of a part may read the old part first.
    """
    own = {program.values[each].name for each in members}
    names = {name for each in members for name in program.readers_of.get(each, ())}
    return any(
        program.instructions[name].opcode not in PASSING_ON
        and name not in own
        and not all(
            own.issuperset(program.readers_of.get(made.value_id, ("",)))
            for made in program.made_by.get(name, ())
        )
        for name in names
    )


def _updated_inputs(program: PeakProgram) -> frozenset[int]:
    """Return the results that an input of their dimensions is computed into.

    Of a copy, as a TPU moves a result to HBM, it is what is copied.
    """
    inputs = {each.dimensions for each in program.compilation.array_parameters}
    results = (
        source_of_copies(program, program.values[each.value_id])
        for each in program.program.values
        if each.lives_out
    )
    return frozenset(
        each.value_id
        for each in results
        if each is not None and each.dimensions in inputs and not each.is_backward
    )


def _updates_an_input(
    program: PeakProgram, gradient: StoredValue, updated: Collection[int]
) -> bool:
    """Return True if an input of its dimensions is computed into a result with this gradient."""
    return any(
        made.dimensions == gradient.dimensions and made.value_id in updated
        for source in program.sources_of(gradient)
        for reader in program.readers_of.get(source, ())
        for made in program.made_by.get(reader, ())
    )


def _is_fused_gradient(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a gradient that is computed and used for an update by the same fusion.

    Such a fusion, as compilers for GPUs and TPUs make it, has one op name. Of the values of its
    dimensions that are not of the backward pass, such as a parameter and its state, the gradient
    depends on none; the updated parameter depends on the gradient and on one of them.
    """
    results = [
        each
        for each in program.made_by.get(value.name, ())
        if each.dimensions == value.dimensions and each.dtype == value.dtype
    ]
    if len(results) < 2:
        return False
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    others = {
        each.name
        for each in read
        if each.dimensions == value.dimensions and not _is_made_backward(program, each)
    }
    if not others or not any(each.is_backward for each in read):
        return False  # reading the whole module takes seconds
    fusion = program.operations.get(value.name)
    if fusion is None:
        return False
    inside = {each.name: each for each in program.fused_operations(fusion)}
    root = next((each for each in reversed(inside.values()) if each.opcode == "tuple"), None)
    if root is None:
        return False
    own, *elements = (
        root.operands[first_number(each.shape_index or WHOLE)].name
        for each in sorted(results, key=lambda each: each is not value)
    )

    def reads_others(leading: set[str]) -> bool:
        parameters = (inside[each] for each in leading if inside[each].opcode == "parameter")
        given = (fusion.operands[each.numbers["number"][0]].name for each in parameters)
        return not others.isdisjoint(maker_of(program.operations, each) for each in given)

    return not reads_others(_leading_to(inside, own)) and any(
        own in leading and reads_others(leading)
        for leading in (_leading_to(inside, each) for each in elements if each != own)
    )


def _is_made_backward(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a value that the backward pass computes, perhaps copied."""
    source = source_of_copies(program, value)
    return source is not None and source.is_backward and source.opcode != "parameter"


def _leading_to(operations: Mapping[str, Operation], name: str) -> set[str]:
    """Return an operation and those that it is computed from."""
    found, waiting = {name}, [name]
    while waiting:
        new = {each.name for each in operations[waiting.pop()].operands} - found
        found |= new
        waiting += new
    return found


def _one_of_each_set(program: PeakProgram, found: Sequence[StoredValue]) -> list[StoredValue]:
    first: dict[int | None, StoredValue] = {}
    for value in found:
        first.setdefault(program.set_of(value), value)
    return sorted(first.values(), key=lambda value: (-value.size_bytes, value.value_id))
