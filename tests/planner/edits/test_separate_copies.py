"""Copies that one instruction of a GPU writes are written by one instruction each."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.orders.small_schedules import reorderable
from xlagraph.planner.edits.edit import replan
from xlagraph.planner.edits.separate_copies import SeparateCopies
from xlagraph.planner.orders.order_ranges import Ranges

# a fusion writes two copies, from which two chains begin
CHAINS = (
    ("fusion", "", 0),
    ("get1", "fusion", 32),
    ("get2", "fusion", 32),
    ("sin1", "get1", 32),
    ("cos1", "sin1", 4),
    ("sin2", "get2 cos1", 32),
    ("add", "cos1 sin2", 16),
)


@pytest.mark.parametrize(("apart", "saved", "begins"), [((), 0, 0), ((2,), 96 - 68, 4)])
def test_the_other_copy_is_written_when_its_chain_begins(apart, saved, begins):
    found = joined()
    planned = found.planned
    compiled = compilation(
        planned.values,
        [facts(value.value_id, f"f32[{value.size_bytes // 4}]") for value in planned.values],
        platform="gpu",
    )
    found = replace(found, planned=compiled.program)
    after = replan(compiled, [SeparateCopies.of(found, compiled, apart)])
    assert after.saved_bytes(0) == saved
    assert after.program.by_id[2].live_from == begins


def joined():
    """Return the reordering of a program whose first instruction writes both copies."""
    found = reorderable(*CHAINS)
    program = found.schedulable
    instructions = list(program.instructions)
    instructions[0] = instructions[0]._replace(defined_bytes=64, result_bytes=64)
    values = []
    for value in program.values:
        if value.defined_at in (1, 2):
            at = value.defined_at
            instructions[at] = instructions[at]._replace(
                opcode="get-tuple-element", defined_bytes=0, result_bytes=0
            )
            value = value._replace(defined_at=0, positions=(0, at))
        values.append(value)
    program = replace(program, instructions=tuple(instructions), values=tuple(values))
    planned = replace(
        found.planned,
        values=tuple(
            value._replace(live_from=0) if value.value_id in (1, 2) else value
            for value in found.planned.values
        ),
    )
    return replace(
        found, planned=planned, schedulable=program, ranges=Ranges(program, found.ranges.rules)
    )
