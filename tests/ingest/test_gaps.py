"""Facts that one input format of a compilation lacks are read from another one."""

from typing import Any

import pytest

from xlagraph.hlo.instruction import Attributes, Instruction
from xlagraph.hlo.program import Program
from xlagraph.ingest.gaps import filled, has_gaps
from xlagraph.ingest.plan import Allocation, LiveRanges, Plan

PLAN = Plan(
    allocations=(Allocation(0, 4),),
    values=(),
    total_bytes=4,
    used_values=(),
    live_ranges=LiveRanges(0, (), (), None),
)
SOME: Any = object()


def program(sharding, *, partitions=2):
    """Return a complete program with one parameter."""
    parameter = Instruction("p", "parameter", None, attributes=Attributes(sharding=sharding))
    return Program(
        computations={"main": SOME},
        instructions={"p": parameter},
        frames={1: SOME},
        partitions=partitions,
    )


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        (program(None), True),
        (program("{replicated}"), False),
        (program(None, partitions=1), False),
    ],
)
def test_a_program_of_several_devices_without_shardings_takes_those_of_a_message(text, lacks):
    assert has_gaps(PLAN, text) == lacks
    _, joined = filled(PLAN, text, PLAN, program("{devices=[2]<=[2]}"))
    sharding = joined.instructions["p"].attributes.sharding
    assert (sharding == "{devices=[2]<=[2]}") == lacks
