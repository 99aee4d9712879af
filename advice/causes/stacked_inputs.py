"""Find inputs that the program itself stacks for a loop, so that they exist twice."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.joined_values import joined_values
from xlagraph.advice.causes.names import input_name, pattern_of, place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.sliced_reads import parts_of_reads
from xlagraph.planner.compilation.records import StoredValue

_REMEDIES: Final[Remedies] = {
    "jax": "Pass them stacked: keep one array for all layers, such as jax.tree.map(lambda *each:"
    " jnp.stack(each), *layers) before the first step, instead of a list that each step stacks for"
    " jax.lax.scan; or use a Python loop over the list.",
    "tensorflow": "Keep one variable for all layers instead of a list that tf.stack joins.",
    "pytorch": "Keep one tensor for all layers instead of a list that torch.stack joins.",
}


def stacked_inputs(program: PeakProgram) -> Iterator[Cause]:
    """Yield the arrays that are stacked of whole inputs, of which a loop reads one at a time."""
    rows = []
    removed: list[str] = []
    for planned in chain.from_iterable(map(program.members_of, program.at_peak)):
        value = program.values[planned.value_id]
        parts = joined_values(program, value)
        given = [input_of(program, program.values[each]) for each in parts]
        inputs = [each for each in given if each is not None and each.opcode == "parameter"]
        if not len(parts) == len(inputs) > 1:
            continue
        loop = _read_by(program, value, parts=len(parts))
        if loop is not None:
            names = pattern_of(map(input_name, inputs))
            reason = f"a copy of {names}, of which {place_name(program, loop)} reads one at a time"
            rows.append(evidence_row(value, reason))
            members = program.members_of(value)
            removed += [program.values[member.value_id].label for member in members]
    if rows:
        yield of_removed(
            program.compilation,
            "peak/contributors",
            "Inputs are stacked for a loop, so they exist twice",
            removed,
            rows,
            _REMEDIES,
            is_exact=True,
            likelihood=1.0,
        )


def _read_by(program: PeakProgram, value: StoredValue, *, parts: int) -> str | None:
    """Return a loop that reads one of so many parts of a value in each iteration, if all do."""
    ids = {each.value_id for each in program.members_of(value)}
    loops = {
        name: loop
        for each in ids
        for name in program.readers_of.get(each, ())
        if (loop := program.instructions[name].loop) is not None
        and program.instructions[name].opcode not in ("tuple", "get-tuple-element", "while")
    }
    is_in_parts = parts_of_reads(program, ids, loops.keys()) == parts
    return min(loops.values(), default=None) if is_in_parts else None
