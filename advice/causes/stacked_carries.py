"""Find long loops that keep their carry of every iteration for the backward pass.

A checkpoint around the body recomputes everything but the carry. Of two nested loops of √n
iterations, the outer one keeps √n carries, and the inner one as many of one outer iteration.
"""

import math
from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.recomputable_values import is_stacked_carry
from xlagraph.advice.causes.repeated_parts import stores_the_same
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import loop_stacks
from xlagraph.planner.edits.resizing import Scale
from xlagraph.queries.catalogue.declarations import ChangeKind

_LEAST_TURNS: Final = 64
"""Least iterations of a loop that is worth nesting; layers of a network are fewer."""
_LEAST_SHARE: Final = Fraction(1, 4)
"""Least share of the reserved bytes that its carries take: nesting costs one more forward pass."""


def stacked_carries(program: PeakProgram) -> Iterator[Cause]:
    """Yield the stacks of each long loop that stacks its carry, unless it is nested already."""
    carries = {
        program.set_of(value): stack
        for value in program.temporaries
        if (stack := program.stack_of(value)) is not None
        and (stack.stack_turns or 0) >= _LEAST_TURNS
        and is_stacked_carry(program, stack)
        and not stores_the_same(program, stack)
        and not _is_nested(program, stack.stack_loop or "")
    }
    if not carries:
        return
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    for stacks in loop_stacks(program.compilation, program.program, program.program.by_id):
        found = [each for each in program.temporaries if each.value_id in stacks.value_ids]
        of_loop = [each for each in found if program.set_of(each) in carries]
        if of_loop and sum(each.size_bytes for each in of_loop) >= least:
            yield _cause(program, found, carries[program.set_of(of_loop[0])], carries.keys())


def _is_nested(program: PeakProgram, loop: str) -> bool:
    """Return True if a loop has another one around or inside it."""
    known = program.instructions[loop]
    return known.loop is not None or any(
        each.opcode == "while" and each.loop == loop for each in program.instructions.values()
    )


def _iterations_of_inner(turns: int) -> int:
    """Return about √n, so that the loops need no iteration more than the one, if that can be."""
    root = math.isqrt(turns - 1) + 1
    factors = [each for each in range(root, 2 * root) if turns % each == 0]
    return factors[0] if factors else root


def _cause(
    program: PeakProgram,
    found: list[StoredValue],
    carry: StoredValue,
    carried: Collection[int | None],
) -> Cause:
    turns = carry.stack_turns or 1
    inner = _iterations_of_inner(turns)
    outer = -(-turns // inner)
    kept: dict[str, Fraction] = {}
    for value in found:
        parts = outer + inner if program.set_of(value) in carried else inner
        for member in program.members_of(value):
            kept[program.values[member.value_id].label] = Fraction(parts, turns)
    loop = carry.stack_loop or ""
    place = place_name(program, loop)
    reason = f"kept for all {turns} iterations of the loop at {place}, until its backward pass"
    return Cause(
        "lifetime/kept-for-backward",
        "A long loop keeps its carry of every iteration for the backward pass",
        ChangeKind.PARTS,
        Scale(kept),
        tuple(evidence_row(value, reason) for value in found),
        _nested_loops(outer, inner),
        is_exact=True,
        likelihood=1.0,
    )


def _nested_loops(outer: int, inner: int) -> Remedies:
    """Return how to run a loop as two nested ones of these numbers of iterations."""
    return {
        "jax": f"Nest two loops, with xs reshaped to ({outer}, {inner}, ...): jax.lax.scan over"
        f" {outer} parts, whose body is jax.checkpoint(lambda carry, xs: jax.lax.scan("
        "jax.checkpoint(body), carry, xs)). The body is computed once more.",
        "tensorflow": f"Nest two tf.while_loops of {outer} and {inner} iterations, each body in"
        " tf.recompute_grad. The body is computed once more.",
        "pytorch": f"Nest two loops of {outer} and {inner} iterations, each body in"
        " torch_xla.utils.checkpoint.checkpoint. The body is computed once more.",
    }
