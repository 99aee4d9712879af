"""Fill the gaps of one input format of a compilation from another one."""

from collections.abc import Mapping
from dataclasses import replace

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.program import Program
from xlagraph.ingest.plan import Plan, Value


def has_gaps(plan: Plan, program: Program) -> bool:
    """Return True if another input format could add something."""
    return (
        plan.total_bytes is None
        or plan.used_values is None
        or plan.live_ranges is None
        or not program.has_computations
        or not program.frames
        or _lacks_shardings(program)
    )


def _lacks_shardings(program: Program) -> bool:
    """Return True for a program of several devices without shardings: text of jaxlib 0.12."""
    return (program.partitions or 1) > 1 and not any(
        each.attributes.sharding for each in program.instructions.values()
    )


def is_same_plan(plan: Plan, other: Plan) -> bool:
    """Return True if two input formats have the same slots."""
    return {_slot(value) for value in plan.values} == {_slot(value) for value in other.values}


def _slot(value: Value) -> tuple[int, str, int, int, int]:
    return (value.value_id, value.name, value.allocation, value.offset_bytes, value.size_bytes)


def filled(
    plan: Plan, program: Program, other_plan: Plan, other_program: Program
) -> tuple[Plan, Program]:
    """Return plan and program with the additions of the others; derived facts stay marked."""
    used_values, live_ranges = plan.used_values, plan.live_ranges
    derived = set()
    if plan.total_bytes is None:
        derived.add("total")
    if used_values is None:
        used_values = other_plan.used_values
        derived |= {"positions", "uses"}
    if live_ranges is None:
        live_ranges = other_plan.live_ranges
        derived |= {"schedule", "ranges", "peak"}
    total = other_plan.total_bytes if plan.total_bytes is None else plan.total_bytes
    joined = replace(
        plan,
        total_bytes=total,
        used_values=used_values,
        live_ranges=live_ranges,
        buffer_sets=plan.buffer_sets or other_plan.buffer_sets,
        derived=tuple(name for name in other_plan.derived if name in derived),
        heap_trace_agrees=other_plan.heap_trace_agrees if plan.live_ranges is None else None,
    )
    if not program.has_computations:
        texts = {name: each.text for name, each in program.instructions.items()}
        for name, instruction in other_program.instructions.items():
            instruction.text = texts.get(name)
        return joined, other_program
    has_no_frames = not program.frames and bool(other_program.frames)
    if has_no_frames or _lacks_shardings(program):
        _fill_attributes(program.instructions, other_program.instructions, frames=has_no_frames)
    if has_no_frames:
        program = replace(program, frames=other_program.frames)
    return joined, program


def _fill_attributes(
    instructions: Mapping[str, Instruction], others: Mapping[str, Instruction], *, frames: bool
) -> None:
    """Add stack frames, if they are those of the other input format, and shardings."""
    for name, instruction in instructions.items():
        if (other := others.get(name)) is None:
            continue
        own, added = instruction.attributes, other.attributes
        if frames and own.stack_frame is None and added.stack_frame is not None:
            own = own._replace(stack_frame=added.stack_frame)
        if own.sharding is None and added.sharding is not None:
            own = own._replace(sharding=added.sharding)
        instruction.attributes = own
