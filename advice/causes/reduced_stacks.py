"""Find stacks of loops of which the program reads only a part or a reduction."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum, auto
from math import prod
from typing import Final

from xlagraph.advice.causes.axes import Axes
from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.copied_inputs import SLICING
from xlagraph.advice.causes.loop_states import (
    depends_on_loop,
    handed_on,
    is_state_around,
    repeats_a_number,
)
from xlagraph.advice.causes.mapped_stacks import (
    adds_iterations,
    is_read_one_by_one,
    mapped_forms,
    may_be_mapped,
)
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.needed_only import needed_only_for
from xlagraph.advice.causes.parameter_gradients import PER_EXAMPLE
from xlagraph.advice.causes.parts_of_devices import takes_part_of_device
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.returned_values import GRADIENTS_OF_FROZEN
from xlagraph.advice.causes.sliced_reads import parts_of_reads, places_of_slices
from xlagraph.hlo.op_names import is_checkpointed, is_per_example
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_REDUCED_STACKS: Final[Remedies] = {
    "jax": "Reduce in the loop: add to a sum (or take the maximum) in the carry of jax.lax.scan, or"
    " keep a part that is read there (jnp.where(i == wanted, y, kept)), and return None as the"
    " second result of its body; of a part of each iteration, return y[part] there; save only what"
    " is read (diffrax.SaveAt(t1=True)).",
    "tensorflow": "Reduce in the loop: add to a loop variable instead of writing each iteration"
    " into a tf.TensorArray.",
    "pytorch": "Reduce in the loop: add to a sum in the carry of torch_xla.experimental.scan.",
}


def reduced_stacks(program: PeakProgram) -> Iterator[Cause]:
    """Yield stacks of loops of which only a part, or a reduction, is read after the loop.

    If the number of the device chooses the part, other devices read the rest. Stacks of a backward
    loop may be the gradients of its layers' parameters, which the program does not reduce in a
    loop.
    """
    parameters = {value.dimensions for value in program.compilation.array_parameters}
    found: defaultdict[_Reduced, list[tuple[StoredValue, str]]] = defaultdict(list)
    removed: defaultdict[_Reduced, list[str]] = defaultdict(list)
    reducing: defaultdict[_Reduced, set[str]] = defaultdict(set)
    axes: Axes | None = None
    for each in program.temporaries:
        value = program.stack_of(each)
        parts = 0 if value is None else value.stack_turns or (*value.dimensions, 0)[0]
        if value is None or parts < 2:
            continue
        ids = handed_on(program, [value.value_id])
        reads = reads_of_parts(program, value, ids)
        if reads is None and may_be_mapped(program, value, ids) and program.module is not None:
            axes = axes or Axes(program, program.module)
            ids = mapped_forms(axes, value, ids)
            reads = reads_of_parts(program, value, ids) if ids else None
        if reads is not None and not all(takes_part_of_device(program, each) for each in reads[0]):
            readers, gradients = reads
            kind = _Reduced.of(value, parameters)
            place = place_name(program, min(readers))
            reason = f"{place} reads a part or a reduction of a stack of {parts}"
            what = "values" if value.stack_turns is None else "iterations"
            found[kind].append((value, f"{reason} {what}, and nothing else reads it"))
            removed[kind] += gradients_of_reads(program, value, ids, reads)
            reducing[kind] |= readers
            if not _is_kept_for(program, gradients):
                removed[kind] += [program.values[each].label for each in sorted(ids)]
    for kind, values in found.items():
        title, texts = _OF_REDUCED[kind]
        if kind is _Reduced.GRADIENT:  # without these, nothing is differentiated for them
            needed = needed_only_for(program, reducing[kind])
            removed[kind] += [program.values[each].label for each in sorted(needed)]
        yield of_removed(
            program.compilation,
            "peak/contributors",
            title,
            removed[kind],
            (evidence_row(value, reason) for value, reason in values),
            texts,
            is_exact=True,
            likelihood=1.0,
        )


class _Reduced(Enum):
    """Kind of a stack of which only a part, or a reduction, is read."""

    VALUE = auto()
    GRADIENT = auto()
    """A gradient of the stacked parameters of a loop."""
    GRADIENT_OF_EXAMPLES = auto()
    """The same for each example."""

    @classmethod
    def of(cls, stack: StoredValue, parameters: Collection[tuple[int, ...]]) -> "_Reduced":
        lengths = stack.dimensions
        if stack.is_backward and lengths in parameters:
            return cls.GRADIENT
        is_of_examples = is_per_example(stack.op_name) and lengths[:1] + lengths[2:] in parameters
        return cls.GRADIENT_OF_EXAMPLES if stack.is_backward and is_of_examples else cls.VALUE


_OF_REDUCED: Final = {
    _Reduced.VALUE: (
        "A loop stacks values of which only a part or a reduction is read",
        _REDUCED_STACKS,
    ),
    _Reduced.GRADIENT: (
        "Gradients are stacked, although only a part or a reduction of them is read",
        GRADIENTS_OF_FROZEN,
    ),
    _Reduced.GRADIENT_OF_EXAMPLES: ("Gradients are kept for each example", PER_EXAMPLE),
}


def gradients_of_reads(
    program: PeakProgram,
    stack: StoredValue,
    ids: Collection[int],
    reads: tuple[Collection[str], Iterable[StoredValue]],
) -> list[str]:
    """Return the labels of what exists of a stack's size because `reads_of_parts` reads it."""
    readers, gradients = reads
    return [
        *(each.label for each in gradients),
        *(label for name in readers for label in _scattered_gradients(program, stack, name)),
        *_repeated_gradients(program, stack, _loop_around(program, stack, ids)),
    ]


def reads_of_parts(
    program: PeakProgram, stack: StoredValue, ids: Collection[int]
) -> tuple[set[str], list[StoredValue]] | None:
    """Return what reads only a part or a reduction of a stack, and the stack's gradients.

    None if anything else reads it, or if the program returns it or a copy of it, or a loop around
    keeps one as its state. A backward loop reads one part in each iteration.
    """
    # another stack may begin as a copy of the same zeros
    written = [each for each in ids if not repeats_a_number(program, program.values[each])]
    read_whole = {name for each in written for name in program.readers_of.get(each, ())}
    copies = [
        made
        for name in read_whole
        if program.instructions[name].opcode == "copy"
        for made in program.made_by.get(name, ())
    ]
    if any(
        copy.value_id in program.compilation.results or is_state_around(program, copy, stack)
        for copy in copies
    ):
        return None
    readers = {
        name
        for name in read_whole
        if program.instructions[name].opcode not in PASSING_ON
        and not {made.value_id for made in program.made_by.get(name, ())}.intersection(ids)
    }
    around = _loop_around(program, stack, ids)
    gradients = _gradients_of(program, stack, readers, around)
    readers -= {each.name for each in gradients}
    is_less = all(
        program.instructions[name].loop == around
        and (
            (_reads_less(program, name) and is_read_one_by_one(program, name, ids, stack))
            or adds_iterations(program, name, ids, stack)
            or _reads_chosen_parts(program, name, ids, stack)
        )
        for name in readers
    )
    is_less &= 2 * sum(_bytes_made(program, name) for name in readers) <= stack.size_bytes
    # readers that make little of it may slice all of its parts together
    places = len(places_of_slices(program, ids, readers))
    return (readers, gradients) if is_less and 2 * places <= (*stack.dimensions, 0)[0] else None


def _bytes_made(program: PeakProgram, reader: str) -> int:
    """Return the bytes that a reader makes of a stack.

    A fused optimizer makes several values of one sum, which the loop would carry next to them;
    several slices may be the whole stack.
    """
    made = [_bytes_at_once(program, each) for each in program.made_by.get(reader, ())]
    slices = any(program.computes_with(reader, opcode) for opcode in SLICING)
    if slices or not program.computes_with(reader, "reduce"):
        return sum(made)
    return min(sum(made), 2 * max(made, default=0))


def _bytes_at_once(program: PeakProgram, value: StoredValue) -> int:
    """Return the bytes of a value that its maker writes: one part of a stack of a loop around."""
    stack = program.stack_of(value)
    loop = program.instructions[value.name].loop
    is_part = stack is not None and loop is not None and stack.stack_loop == loop
    return value.size_bytes // ((stack.stack_turns if stack and is_part else None) or 1)


def _loop_around(program: PeakProgram, stack: StoredValue, ids: Collection[int]) -> str | None:
    """Return the loop in which the outermost loop with a stack as its state runs, if any."""
    loop = stack.stack_loop or ""
    states = {program.values[each].name for each in ids}
    while (around := program.instructions[loop].loop) in states and around is not None:
        loop = around
    return program.instructions[loop].loop


def _gradients_of(
    program: PeakProgram, stack: StoredValue, readers: Collection[str], around: str | None
) -> list[StoredValue]:
    """Return the gradients of a stack that are computed from it for the backward loop alone.

    They are of the stack's size, and exist only because the stack does.
    """
    return [
        made
        for name in readers
        if program.is_backward(name)
        for made in program.made_by.get(name, ())
        if made.dimensions == stack.dimensions
        and all(
            program.instructions[reader].opcode in PASSING_ON
            or program.instructions[reader].loop != around
            for reader in program.readers_of.get(made.value_id, ())
        )
    ]


def _scattered_gradients(program: PeakProgram, stack: StoredValue, reader: str) -> Iterator[str]:
    """Yield labels of the gradients of a stack that the transpose of a gather adds to zeros.

    They are of the stack's size, in any order of elements, at the indices of the gather.
    """
    if not program.computes_with(reader, "gather"):
        return
    size = prod(stack.dimensions)
    read = (program.values[each] for each in program.read_by[reader])
    indices = {each.value_id for each in read if each.is_integer}
    waiting = [
        value
        for value in program.values.values()
        if prod(value.dimensions) == size
        and program.computes_with(value.name, "scatter")
        and program.is_backward(value.name)
        and not indices.isdisjoint(program.read_by.get(value.name, ()))
    ]
    seen: set[int | None] = {None}
    while waiting:
        value = waiting.pop()
        number = program.set_of(value)
        if number in seen:
            continue
        seen.add(number)
        yield from (program.values[each.value_id].label for each in program.members_of(value))
        for name in program.readers_of.get(value.value_id, ()):
            if program.instructions[name].computes_only(SAME_ELEMENTS):
                waiting += program.made_by.get(name, ())


def _repeated_gradients(
    program: PeakProgram, stack: StoredValue, around: str | None
) -> Iterator[str]:
    """Yield labels of gradients of a stack's dimensions that only repeat much smaller values.

    The sum of a stack has a gradient of the sum's size, which only the backward loop, and what
    reduces it next to the stack, needs for each part.
    """
    for value in program.values.values():
        if value.dimensions != stack.dimensions or not value.is_backward:
            continue
        maker = program.instructions[value.name]
        read = [program.values[each] for each in program.read_by.get(value.name, ())]
        if (
            maker.loop == around
            and maker.opcode in ("fusion", "broadcast")
            and sum(each.size_bytes for each in read) * 2 <= value.size_bytes
            and all(
                program.instructions[name].opcode in PASSING_ON
                or _reads_less(program, name)
                or _reads_part_in_loop(program, name, around)
                for name in program.readers_of.get(value.value_id, ())
            )
        ):
            yield value.label


def _is_kept_for(program: PeakProgram, gradients: Sequence[StoredValue]) -> bool:
    """Return True if gradients need a whole stack, which no checkpoint in the loop recomputes.

    The loop then stacks the same values for its backward pass, wherever they are reduced.
    """
    if all(program.computes_with(each.name, "pad") for each in gradients):
        return False
    read_in = {
        program.instructions[reader].loop
        for each in gradients
        for reader in program.readers_of.get(each.value_id, ())
    }
    return not any(
        each.loop in read_in and is_checkpointed(each.op_name or "")
        for each in program.instructions.values()
    )


def _reads_less(program: PeakProgram, instruction: str) -> bool:
    """Return True if an instruction reduces what it reads, or always reads the same part."""
    return any(program.computes_with(instruction, opcode) for opcode in ("reduce", "slice"))


def _reads_part_in_loop(program: PeakProgram, instruction: str, around: str | None) -> bool:
    """Return True for an instruction of another loop, which reads a part in each iteration."""
    is_in_loop = program.instructions[instruction].loop != around
    return is_in_loop and program.computes_with(instruction, "dynamic-slice")


def _reads_chosen_parts(
    program: PeakProgram, instruction: str, ids: Collection[int], stack: StoredValue
) -> bool:
    """Return True if an instruction reads parts whose numbers are known before the loop begins.

    Parts that are chosen by what the loop computes could be any of them.
    """
    if parts_of_reads(program, ids, {instruction}, ("dynamic-slice", "gather")) is None:
        return False
    return not any(
        depends_on_loop(program, stack, program.values[each])
        for each in program.read_by[instruction]
        if each not in ids
    )
