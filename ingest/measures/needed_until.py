"""Find the last step that needs each entry parameter: its end if it were donated."""

from collections.abc import Iterable, Mapping, Sequence

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.program import Program
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.plan import Plan

__all__ = ["parameters_needed_until"]


def parameters_needed_until(
    plan: Plan,
    spans: Sequence[Span | None],
    steps: Mapping[str, int],
    computations: Iterable[Computation],
    instructions: Mapping[str, Instruction],
    program: Program,
) -> dict[int, int]:
    """Return the step at which each entry parameter would end if donated, by its row.

    This is the end of the live range as `HloLiveRange` first computes it; it shortens ranges
    within a buffer set afterwards.
    """
    used_by_id = {used.value_id: used for used in plan.used_values or ()}
    parameters = {parameter.name for parameter in program.entry.parameters.values()}
    # A loop carries hundreds of values, and the same instructions show each of them.
    ends_of_positions: dict[str, int] = {}
    end_of_use = _ends_of_uses(steps, computations, program).get
    needed_until = {}
    for row, value in enumerate(plan.values):
        if value.name in parameters:
            _, positions, uses = used_by_id[value.value_id]
            ends = [end_of_use(name, 0) for name, _, _ in uses]
            for name, _ in positions[1:]:
                if name not in ends_of_positions:
                    ends_of_positions[name] = _end_of_position(name, instructions, steps, program)
                ends.append(ends_of_positions[name])
            span = spans[row]
            needed_until[row] = max(ends, default=span.first if span is not None else 0)
    return needed_until


def _end_of_position(
    name: str, instructions: Mapping[str, Instruction], steps: Mapping[str, int], program: Program
) -> int:
    instruction = instructions.get(name)
    if instruction is not None:
        computation = program.computation(instruction.computation)
        if computation.root.name == name:
            return 1 + max([steps.get(each, -1) for each in computation.by_name], default=-1)
    return steps.get(name, 0)


def _ends_of_uses(
    steps: Mapping[str, int], computations: Iterable[Computation], program: Program
) -> dict[str, int]:
    """Return the step at which a use by each instruction ends."""
    ends = dict(steps)
    for computation in computations:
        for call in computation.by_opcode.get("call", ()):
            ends[call.name] = 0
        for loop in computation.by_opcode.get("while", ()):
            body = program.computation(loop.callee("body"))
            parameters = body.parameters.values()
            ends[loop.name] = max([steps.get(each.name, 0) for each in parameters], default=0)
    return ends
