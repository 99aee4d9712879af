"""Find large arrays that pass through a loop next to a copy of themselves.

An array that a loop reads as `xs` and writes as `ys` exists twice: the loop cannot write the new
stack over the old one, which it still reads. As a carry it is updated in place.
"""

from collections.abc import Collection, Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.names import pattern_of, place_name
from xlagraph.advice.causes.old_values import is_ordered_before
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.sliced_reads import parts_of_reads
from xlagraph.hlo.instruction import first_number
from xlagraph.hlo.shapes import WHOLE
from xlagraph.planner.compilation.records import StoredValue

_CALLBACK = "callback"
_FILLING: Final = frozenset(("broadcast", "constant"))
"""Opcodes of instructions that repeat a number."""
_REWRITTEN_INPUTS: Final[Remedies] = {
    "jax": "Pass it in the carry of jax.lax.scan instead of xs, scan over jnp.arange(n), read part"
    " i of the carry, and write only what changes with carry.at[i, ...].set(new) or"
    " jax.lax.dynamic_update_slice.",
    "tensorflow": "Make it a loop variable, and write part i with tf.tensor_scatter_nd_update.",
    "pytorch": "Make it a carry of torch_xla.experimental.scan, and write part i in place.",
}
_REWRITTEN_ON_TPU: Final[Remedies] = {
    **_REWRITTEN_INPUTS,
    "jax": "Pass it in the carry of jax.lax.scan instead of xs, scan over jnp.arange(n), change a"
    " copy of part i of the carry, and write that with carry.at[i].set(part). A write of less may"
    " make the compiler store the whole carry in another layout.",
}


def handed_on(program: PeakProgram, value_ids: Collection[int]) -> frozenset[int]:
    """Return values with the copies of them that conditionals and checks on the host return.

    A check such as that of `equinox.error_if` reads a value and returns it, or another one.
    """
    found: set[int] = set()
    waiting = list(value_ids)
    while waiting:
        value_id = waiting.pop()
        members = {each.value_id for each in program.members_of(program.values[value_id])}
        if not members or value_id in found:
            continue
        waiting += members - found
        found |= {value_id}
        value = program.values[value_id]
        near = [
            made
            for reader in program.readers_of.get(value_id, ())
            if _is_check(program, reader)
            for made in program.made_by.get(reader, ())
        ]
        if _is_check(program, value.name):
            near += [program.values[read] for read in program.read_by.get(value.name, ())]
        waiting += [each.value_id for each in near if each.shape == value.shape]
    return frozenset(found)


def repeats_a_number(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for arrays of one number: the compiler merges them, wherever they are made."""
    maker = program.instructions.get(value.name)
    if maker is None:
        return False
    if maker.computes_only(_FILLING):
        read = (program.values[each] for each in program.read_by.get(value.name, ()))
        return all(each.dimensions == () for each in read)
    if maker.opcode != "fusion" or len(program.made_by.get(value.name, ())) < 2:
        return False  # reading the whole module takes seconds
    return _is_filled(program, value)


def _is_filled(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for one of several results of a fusion, which repeats a constant."""
    fusion = program.operations.get(value.name)
    inside = {each.name: each for each in program.fused_operations(fusion)} if fusion else {}
    root = next((each for each in reversed(inside.values()) if each.opcode == "tuple"), None)
    if root is None:
        return False
    made = inside[root.operands[first_number(value.shape_index or WHOLE)].name]
    return made.opcode == "broadcast" and inside[made.operands[0].name].opcode == "constant"


def _is_check(program: PeakProgram, instruction: str) -> bool:
    known = program.instructions[instruction]
    return known.opcode == "custom-call" and _CALLBACK in (known.target or "")


def has_carry(program: PeakProgram, loop: str) -> bool:
    """Return True if a loop, or one around it, changes numbers other than stacks.

    Counters and keys of random numbers do not count: `jax.lax.map` has them, too.
    """
    around: str | None = loop
    while around is not None:
        if any(
            value.is_phi and _is_number(value) and program.stack_of(value) is None
            for value in program.made_by.get(around, ())
        ):
            return True
        known = program.instructions.get(around)
        around = None if known is None else known.loop
    return False


def _is_number(value: StoredValue) -> bool:
    """Return True unless it may be a counter, a scalar integer, or a key, unsigned ones."""
    dtype = value.dtype or ""
    return value.is_float or dtype.startswith(("c", "s") if value.dimensions else "c")


def depends_on_loop(program: PeakProgram, stack: StoredValue, value: StoredValue) -> bool:
    """Return True if a value is computed from what the loop of a stack computes, or may be."""
    schedulable, loop = program.schedulable, program.rows.get(stack.stack_loop or "")
    if schedulable is None or loop is None:
        return True
    made = program.rows.get(value.name)
    return made is not None and is_ordered_before(schedulable, loop, made)


def is_known_in_loop(program: PeakProgram, stack: StoredValue, value: StoredValue) -> bool:
    """Return True for what a stack's loop stacks, too, and for what does not depend on the loop."""
    other = program.stack_of(value)
    is_of_loop = other is not None and other.stack_loop == stack.stack_loop
    return is_of_loop or not depends_on_loop(program, stack, value)


def rewritten_inputs(program: PeakProgram) -> Iterator[Cause]:
    """Yield states that a loop reads part by part while it stacks their new parts.

    A loop of the backward pass is left out: it reads stacked activations and stacks gradients.
    """
    found: list[tuple[StoredValue, StoredValue]] = []
    removed: list[str] = []
    for value in program.temporaries:
        stack = program.stack_of(value)
        if stack is None or stack.stack_loop is None or stack.is_backward:
            continue
        members = {each.value_id for each in program.members_of(value)}
        old = _replaced_state(program, stack, members)
        if old is not None:
            found.append((stack, old))
            removed += [program.values[each].label for each in members]
    if found:
        names = pattern_of(old.op_name or old.attributed_op_name or old.label for _, old in found)
        rows = []
        for stack, _ in found:
            loop = stack.stack_loop or ""
            place = place_name(program, loop)
            reason = f"the loop at {place} reads parts of {names} and stacks their new values here"
            rows.append(evidence_row(stack, reason))
        yield of_removed(
            program.compilation,
            "alias/copies",
            "A loop reads a state as xs and returns it as ys, so the old and new value exist",
            removed,
            rows,
            _REWRITTEN_ON_TPU if program.compilation.is_tpu else _REWRITTEN_INPUTS,
            is_exact=True,
            likelihood=1.0,
        )


def _replaced_state(
    program: PeakProgram, stack: StoredValue, members: Collection[int]
) -> StoredValue | None:
    """Return the input, or an outer loop's state, that a copy of the stack is written over.

    The loop reads it in parts.
    """
    for value_id in members:
        for reader in program.readers_of.get(value_id, ()):
            for copy in program.made_by.get(reader, ()):
                planned = program.planned(copy)
                if planned is None or not planned.is_copy or copy.shape != stack.shape:
                    continue
                for each in program.members_of(copy):
                    old = program.values[each.value_id]
                    if not each.is_stored and not _is_of_loop_around(program, old, stack):
                        continue
                    if _is_read_in_parts(program, old, stack.stack_loop):
                        return old
    return None


def is_state_around(program: PeakProgram, value: StoredValue, stack: StoredValue) -> bool:
    """Return True if a value shares its bytes with the state of a loop that runs a stack's loop."""
    return any(
        _is_of_loop_around(program, program.values[each.value_id], stack)
        for each in program.members_of(value)
    )


def _is_of_loop_around(program: PeakProgram, old: StoredValue, stack: StoredValue) -> bool:
    """Return True for the state of a loop that contains the loop of a stack."""
    loop = program.instructions.get(stack.stack_loop or "")
    maker = program.instructions.get(old.name)
    if not old.is_phi or loop is None or maker is None:
        return False
    return loop.loop is not None and maker.loop == loop.loop


def _is_read_in_parts(program: PeakProgram, value: StoredValue, loop: str | None) -> bool:
    """Return True if a loop reads only slices of a value or of a copy of it."""
    values = {value.value_id} | {
        made.value_id
        for name in program.readers_of.get(value.value_id, ())
        for made in program.made_by.get(name, ())
        if made.opcode == "copy"
    }
    readers = [
        name
        for each in values
        for name in program.readers_of.get(each, ())
        if program.instructions[name].loop == loop
        and program.instructions[name].opcode not in ("tuple", "get-tuple-element", "while")
    ]
    return parts_of_reads(program, values, readers) is not None
