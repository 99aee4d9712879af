"""Find stacks in which a loop stores a value that is the same in each iteration.

What reads the stack after the loop could read the value itself. For the gradient, TensorFlow stacks
what the body of a `tf.while_loop` reads from a variable.
"""

from collections.abc import Collection, Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_WRITING: Final = SAME_ELEMENTS | {"dynamic-update-slice", "constant", "compare", "select", "add"}
"""Opcodes that write a part, with the arithmetic of its place."""

_REPEATED_PARTS: Final[Remedies] = {
    "jax": "Return it once, not in each iteration: leave it out of the second result of the body of"
    " jax.lax.scan; the body can read it without passing it on.",
    "tensorflow": "Read each variable once before the loop, and use that tensor in the body:"
    " kernel = tf.identity(variable). In Keras, call a recurrent layer within"
    " keras.StatelessScope([(v, tf.identity(v)) for v in layer.trainable_variables]).",
    "pytorch": "Leave it out of what the body of torch_xla.experimental.scan stacks.",
}


def repeated_parts(program: PeakProgram) -> Iterator[Cause]:
    """Yield a cause for all stacks of one value that their loops do not change."""
    found: list[tuple[StoredValue, str]] = []
    removed: set[int] = set()
    for value in program.temporaries:
        stack = program.stack_of(value)
        if stack is None or not stores_the_same(program, stack):
            continue
        loop = stack.stack_loop or ""
        place = place_name(program, loop)
        times = f"all {stack.stack_turns} iterations" if stack.stack_turns else "all iterations"
        found.append((value, f"the loop at {place} stores the same value in {times}"))
        removed |= {each.value_id for each in program.members_of(value)}
    if found:
        removed |= _read_only_by(program, removed)
        labels = [program.values[each].label for each in sorted(removed)]
        yield of_removed(
            program.compilation,
            "peak/contributors",
            "A loop stores the same value again in each iteration",
            labels,
            (evidence_row(value, reason) for value, reason in found),
            _REPEATED_PARTS,
            is_exact=True,
            likelihood=1.0,
        )


def _read_only_by(program: PeakProgram, copies: Collection[int]) -> set[int]:
    """Return the values with which stacks begin, of which these are the only readers."""
    sources = {
        operand
        for each in copies
        if (planned := program.program.by_id[each]).is_copy
        for operand in planned.operands
    }
    return {
        each
        for each in sources
        if program.is_alone(program.values[each])
        and all(
            made.value_id in copies
            for name in program.readers_of.get(each, ())
            for made in program.made_by.get(name, ())
        )
    }


def is_repeated_part(program: PeakProgram, label: str) -> bool:
    """Return True for a value of a stack in which a loop stores the same in each iteration."""
    value = program.by_label.get(label)
    stack = None if value is None else program.stack_of(value)
    return stack is not None and stores_the_same(program, stack)


def stores_the_same(program: PeakProgram, stack: StoredValue) -> bool:
    """Return True if all that a loop writes into a stack is a value made outside of the loop.

    A value that a loop passes on unchanged is no other value in its body.
    """
    members = {each.value_id for each in program.members_of(stack)}
    writers = {
        known.name
        for known in map(program.values.__getitem__, members)
        if known.opcode not in ("parameter", "while")
        and program.instructions[known.name].loop == stack.stack_loop
    }
    return bool(writers) and all(_writes_the_same(program, name, members) for name in writers)


def _writes_the_same(program: PeakProgram, writer: str, members: Collection[int]) -> bool:
    read = [program.values[each] for each in program.read_by[writer] if each not in members]
    parts = [value for value in read if value.dimensions]  # others say where the part is written
    loop = program.instructions[writer].loop
    return (
        bool(parts)
        and program.instructions[writer].computes_only(_WRITING)
        and all(
            any(not _is_in(program, each, loop) for each in program.sources_of(part))
            for part in parts
        )
    )


def _is_in(program: PeakProgram, value_id: int, loop: str | None) -> bool:
    around = program.instructions[program.values[value_id].name].loop
    while around is not None and around != loop:
        around = program.instructions[around].loop
    return around is not None
