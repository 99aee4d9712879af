"""Find arrays that are repeated before a loop, the body of which could repeat them again.

rows = jnp.tile(table, (batch, 1, 1))
jax.lax.scan(lambda h, w: (h @ w + rows, None), x, ws)      the loop carries all of the rows

A compiler repeats elements in the fusions that read them, but moves no such op into a loop: what
no iteration changes is stored until the loop ends.
"""

from collections.abc import Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.inflated_values import INFLATION, REPEATING, STORED_FIRST, leads_to
from xlagraph.advice.causes.loop_readers import loops_around, readers_of_values
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue

_REMEDIES: Final[Remedies] = {
    "jax": "Let the body of jax.lax.scan repeat it, so that it is fused with what reads it: close"
    " over the small array (table[None], mask[:, None]) and rely on broadcasting, instead of"
    " jnp.tile, jnp.repeat and jnp.broadcast_to before the loop.",
    "tensorflow": "Let the body of the tf.while_loop repeat it: broadcasting instead of tf.tile"
    " before the loop.",
    "pytorch": "Let the body of torch_xla.experimental.scan repeat it: broadcasting instead of"
    " repeat before the loop.",
}


def repeated_before_loops(program: PeakProgram) -> Iterator[Cause]:
    """Yield a cause for arrays that only loops read, element by element.

    They repeat or compare much smaller arrays. What a product or another kernel reads must be
    stored in the body, too.
    """
    found: list[tuple[StoredValue, str]] = []
    removed: list[str] = []
    for each in program.at_peak:
        members = [program.values[member.value_id] for member in program.members_of(each)]
        made = [value for value in members if not value.is_phi]
        if len(made) == 1 and _only_repeats(program, made[0]):
            place = _loop_that_reads(program, members, made[0])
            if place is not None:
                reason = f"repeated before the loop at {place}, whose iterations could repeat it"
                found.append((made[0], reason))
                removed += [value.label for value in members]
    if found:
        yield of_removed(
            program.compilation,
            "waste/broadcasts",
            "Arrays are repeated before a loop, which carries all of them",
            removed,
            (evidence_row(value, reason) for value, reason in found),
            _REMEDIES,
            is_exact=True,
            likelihood=0.9,
        )


def _only_repeats(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if a line of the program repeats much smaller arrays, not only a number."""
    maker = program.instructions.get(value.name)
    if maker is None or value.op_name is None or not maker.computes_only(REPEATING):
        return False
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    return (
        maker.computes_with("broadcast")
        and any(each.dimensions for each in read)
        and sum(each.size_bytes for each in read) * INFLATION <= value.size_bytes
    )


def _loop_that_reads(
    program: PeakProgram, members: list[StoredValue], made: StoredValue
) -> str | None:
    """Return the place of the loop, if only loops after a value read it, and can fuse it."""
    readers = readers_of_values(program, {value.value_id for value in members})
    if not readers or any(
        leads_to(program, value, name, STORED_FIRST)
        for value in members
        for name in readers.intersection(program.readers_of.get(value.value_id, ()))
    ):
        return None
    around = program.instructions[made.name].loop
    loops = [program.instructions[name].loop for name in sorted(readers)]
    for loop in loops:
        if loop in (None, around) or around not in loops_around(program, loop or ""):
            return None
    return place_name(program, loops[0] or "")
