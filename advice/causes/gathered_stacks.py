"""Find stacked parameters that are gathered for all iterations of a loop before it.

Each iteration needs those of one layer. What is gathered in the body exists for one layer at a
time, and so does the gradient before it is split again.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, file_and_line
from xlagraph.advice.causes.copied_inputs import GATHERING
from xlagraph.advice.causes.loop_inputs import read_in_parts
from xlagraph.advice.causes.loop_readers import readers_of_values
from xlagraph.advice.causes.parts_of_devices import takes_part_of_device
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS
from xlagraph.planner.edits.resizing import ComputeInParts
from xlagraph.queries.catalogue.declarations import ChangeKind

_LEAST_SHARE: Final = 0.005
"""Smallest share of the reserved bytes for which a value is searched."""
_GATHERED_AHEAD: Final[Remedies] = {
    "jax": "Gather the parameters of one layer in the body of jax.lax.scan: keep the stacks split,"
    " and call jax.lax.with_sharding_constraint (in jax.shard_map jax.lax.all_gather) on what the"
    " body gets of them, not on the stacks before the loop.",
    "tensorflow": "Gather the parameters of one layer in the body of the tf.while_loop.",
    "pytorch": "Gather the parameters of one layer in the body of torch_xla.experimental.scan.",
}


def gathered_stacks(program: PeakProgram) -> Iterator[Cause]:
    """Yield a cause for gathered stacks of which each iteration of a loop reads one part.

    Their gradients are stacked for all layers, too, if each device then takes its part of them.
    """
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    kept: dict[str, Fraction] = {}
    rows = []
    for value in program.temporaries:
        if value.size_bytes < least or value.label in kept:
            continue
        made = _gathered(program, value)
        if made is None or (read := read_in_parts(program, value)) is None:
            continue
        loops, parts = read
        places = [file_and_line(*program.place_of(each)) or each for each in loops]
        where = " and ".join(dict.fromkeys(places))
        for each in made:
            kept[each.label] = Fraction(1, parts)
        reason = f"gathered before the loop at {where}, each iteration of which reads one of"
        rows.append(evidence_row(value, f"{reason} {parts} parts"))
        given = program.values[program.read_by[made[-1].name][0]]
        for each in _gradients(program, value):
            kept[each.label] = Fraction(prod(given.dimensions), prod(value.dimensions))
            rows.append(evidence_row(each, "a gradient of all layers, of which devices take parts"))
    if rows:
        yield Cause(
            "waste/gathered",
            "Stacked parameters are gathered for all iterations of a loop before it",
            ChangeKind.PARTS,
            ComputeInParts(kept),
            tuple(sorted(rows, key=lambda row: -int(str(row["sizeBytes"])))),
            _GATHERED_AHEAD,
            likelihood=0.8,
        )


def _gathered(program: PeakProgram, value: StoredValue) -> list[StoredValue] | None:
    """Return a value with those that it is a copy of, the last of which devices gather.

    None for others, and if what is gathered are the parts that iterations read.
    """
    made = [value]
    while (maker := program.instructions.get(made[-1].name)) is not None:
        read = program.read_by.get(maker.name, ())
        if maker.opcode in GATHERING:
            operation = program.operations.get(maker.name)
            along = () if operation is None else operation.numbers.get("dimensions", ())
            return made if len(read) == 1 and along and 0 not in along else None
        before = program.values[read[0]] if len(read) == 1 else None
        if before is None or before.dimensions != value.dimensions:
            return None
        if not maker.computes_only(SAME_ELEMENTS):
            return None
        made.append(before)
    return None


def _gradients(program: PeakProgram, stack: StoredValue) -> Iterator[StoredValue]:
    """Yield the gradients of a gathered stack of which each device takes its part."""
    for value in program.temporaries:
        found = program.stack_of(value)
        if found is None or not found.is_backward or found.dimensions != stack.dimensions:
            continue
        aliases = {each.value_id for each in program.members_of(value)}
        readers = [
            name
            for name in readers_of_values(program, aliases)
            if program.instructions[name].loop != found.stack_loop
        ]
        if readers and all(takes_part_of_device(program, name) for name in readers):
            yield value
