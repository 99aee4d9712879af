"""Convert a module to a program."""

import re
from collections.abc import Iterable
from typing import Final

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.metadata import StackFrame, acyclic_callers
from xlagraph.hlo.program import EntryParameter, Program, packed_module
from xlagraph.hlo.scoped_memory import ScopedMemory, scoped_memory
from xlagraph.hlo.shapes import index_text
from xlagraph.ingest.carriers.proto.module import Module
from xlagraph.ingest.carriers.proto.notebook_cells import cell_or_file

_ASYNC: Final = re.compile(r"async(?=-(?:start|update|done)\Z)")


def program_of(module: Module) -> Program:
    """Return the computations, call stacks and donations of a module."""
    message = module.message
    devices = message.device_assignment.computation_count
    return Program(
        name=message.name or None,
        entry_name=module.entry.name,
        computations=module.computations,
        instructions=module.instructions,
        frames=_frames(message.stack_frame_index),
        output_by_donated={
            EntryParameter(each.parameter_number, index_text(each.parameter_shape_index)): (
                index_text(each.output_shape_index)
            )
            for each in message.input_output_alias.entries
        },
        unpaired_donors=frozenset(
            EntryParameter(each.parameter_number, index_text(each.parameter_shape_index))
            for each in message.buffer_donor.entries
        ),
        partitions=devices or None,
        scoped_memory=_scoped_memory(message),
        is_gpu=module.is_gpu,
        packed=packed_module("proto", _without_unknown_fields(message)),
    )


def _without_unknown_fields(message: Message) -> bytes:
    """Serialize a module without what no rule reads, above all the literals of constants."""
    copied = type(message)()
    copied.CopyFrom(message)
    copied.DiscardUnknownFields()
    return bytes(copied.SerializeToString())


def _scoped_memory(message: Message) -> dict[str, ScopedMemory]:
    """Return the VMEM that instructions take while they run; profiles of a TPU have it."""
    configs = (
        (instruction.name, instruction.opcode == "custom-call", instruction.backend_config)
        for computation in message.computations
        for instruction in computation.instructions
    )
    found = {
        name: scoped_memory(config.decode(errors="replace"), is_kernel=is_kernel)
        for name, is_kernel, config in configs
        if b"scoped_memory_configs" in config
    }
    return {name: scoped for name, scoped in found.items() if scoped is not None}


def _frames(index: Message) -> dict[int, StackFrame]:
    """Return the frames by number; all ids start at 1, and 0 means none."""
    files, functions = list(map(cell_or_file, index.file_names)), list(index.function_names)
    locations = list(index.file_locations)
    stack = dict(enumerate(index.stack_frames, 1))
    callers = acyclic_callers(
        {number: frame.parent_frame_id or None for number, frame in stack.items()}
    )
    frames: dict[int, StackFrame] = {}
    for number, frame in stack.items():
        location = frame.file_location_id
        if not 0 < location <= len(locations):
            frames[number] = StackFrame(None, None, None, None, callers[number])
            continue
        found = locations[location - 1]
        frames[number] = StackFrame(
            _at(functions, found.function_name_id),
            _at(files, found.file_name_id),
            found.line or None,
            found.column,
            callers[number],
        )
    return frames


def _at(names: list[str], number: int) -> str | None:
    return names[number - 1] or None if 0 < number <= len(names) else None


def name_async_operations(module: Module, defining: Iterable[str]) -> None:
    """Rename the asynchronous operations in these instructions to their names in a memory plan.

    A memory plan prints ``slice-start``, not ``async-start``, if the computation only passes its
    parameters to one instruction. If this instruction is a fusion, the plan prints its computation.
    """
    for name in dict.fromkeys(defining):
        instruction = module.instructions[name]
        if _ASYNC.search(instruction.opcode or "") is None:
            continue
        wrapped = _wrapped(instruction, module)
        if wrapped is not None:
            attributes = instruction.attributes
            instruction.opcode = _ASYNC.sub(wrapped.opcode or "", instruction.opcode or "")
            if wrapped.attributes.runs is not None:
                instruction.attributes = attributes._replace(runs=wrapped.attributes.runs)


def _wrapped(instruction: Instruction, module: Module) -> Instruction | None:
    """Return the instruction that an asynchronous operation wraps; None if it wraps several."""
    at = instruction
    while at.callee("calls") is None and at.operands and at.opcode != "async-start":
        at = module.named(at.operands[0].name)
    computation = module.computations.get(at.callee("calls") or "")
    return None if computation is None else _only_instruction(computation)


def _only_instruction(computation: Computation) -> Instruction | None:
    if computation.find_root() is None:
        return None
    root = computation.root
    in_order = [operand.name for operand in root.operands]
    parameters = [parameter.name for _, parameter in sorted(computation.parameters.items())]
    is_only = len(computation.instructions) == len(parameters) + 1 and in_order == parameters
    return root if is_only else None
