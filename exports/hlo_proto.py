"""A compilation as XLA's protobuf message: the module and its buffer assignment.

The module contains the graph's instructions by computation, with shapes and metadata, and the
schedule. It is not the complete program: operands and the contents of fusions are missing.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from xlagraph.exports.heap_traces import fill_heap_traces
from xlagraph.exports.placed_program import PlacedProgram, computation_of
from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.proto_messages import HloProto, PrimitiveType, ShapeProto
from xlagraph.hlo.shapes import Shape, index_numbers, parse_shape
from xlagraph.planner.compilation.records import (
    StoredInstruction,
    StoredValue,
)
from xlagraph.planner.planned_program import PlannedAllocation

_TILES: Final = re.compile(r"T((?:\([\d,]*\))+)")
_MEMORY_SPACE: Final = re.compile(r"S\((\d+)\)")
_OPAQUE: Final = "OPAQUE_TYPE"
_UNBOUNDED: Final = -(2**63)


@lru_cache(maxsize=2048)  # a program has few shapes and repeats them
def shape_proto(text: str) -> Message:
    """Return the message of a printed shape; an opaque shape if the text is not a shape."""
    message = ShapeProto()
    _fill(message, parse_shape(text))
    return message


def _fill(message: Message, shape: Shape) -> None:
    """Fill in a shape; a buffer is shown as the array that it holds."""
    name = (shape.dtype or "").upper()
    message.element_type = name if name in PrimitiveType.values_by_name else _OPAQUE
    for element in shape.elements:
        _fill(message.tuple_shapes.add(), element)
    for dimension in shape.sizes:
        message.dimensions.append(_UNBOUNDED if dimension.size is None else dimension.size)
        message.is_dynamic_dimension.append(dimension.is_dynamic or dimension.size is None)
    if shape.layout is not None and not shape.elements:
        _fill_layout(message.layout, shape.layout[1:-1], shape.packed_bits)


def _fill_layout(layout: Message, text: str, packed_bits: int | None) -> None:
    order, _, parts = text.partition(":")
    layout.minor_to_major.extend(_numbers(order))
    layout.SetInParent()  # that of a scalar has no field of its own
    parts = parts.partition("P(")[0]  # a physical shape has a layout of its own
    if tiles := _TILES.search(parts):
        for tile in re.findall(r"\(([\d,]*)\)", tiles[1]):
            layout.tiles.add(dimensions=_numbers(tile))
    if packed_bits is not None:
        layout.element_size_in_bits = packed_bits
    if space := _MEMORY_SPACE.search(parts):
        layout.memory_space = int(space[1])


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def hlo_proto(program: PlacedProgram) -> Message:
    """Return a compilation's message."""
    proto = HloProto()
    ids = {instruction.name: id_ for id_, instruction in enumerate(program.instructions, 1)}
    _fill_module(proto.hlo_module, program, ids)
    assignment = proto.buffer_assignment
    for value in program.values:
        assignment.logical_buffers.add(
            id=value.value_id,
            size=value.size_bytes,
            color=value.memory_space,
            defined_at={
                "instruction_id": ids[value.name],
                "shape_index": index_numbers(value.shape_index),
            },
        )
    values_by_allocation = grouped((value.allocation, value) for value in program.values)
    for allocation in program.allocations:
        held = values_by_allocation[allocation.number]
        _fill_allocation(assignment.buffer_allocations.add(), allocation, held)
    fill_heap_traces(assignment.heap_simulator_traces, program)
    return proto


def _fill_module(module: Message, program: PlacedProgram, ids: Mapping[str, int]) -> None:
    computations = grouped(
        (computation_of(instruction), instruction) for instruction in program.instructions
    )
    module.name = program.module
    module.entry_computation_name = next(
        (computation_of(each) for each in program.instructions if each.name == program.result),
        next(iter(computations), ""),
    )
    for id_, (name, instructions) in enumerate(computations.items(), 1):
        computation = module.computations.add(id=id_, name=name)
        if name == module.entry_computation_name:
            module.entry_computation_id = id_
            computation.root_id = ids[program.result or instructions[-1].name]
        for instruction in instructions:
            _fill_instruction(computation.instructions.add(), instruction, ids)
        scheduled = [ids[each.name] for each in instructions if each.step is not None]
        module.schedule.sequences[id_].instruction_ids.extend(scheduled)


def _fill_instruction(
    message: Message, instruction: StoredInstruction, ids: Mapping[str, int]
) -> None:
    message.id = ids[instruction.name]
    message.name = instruction.name
    message.opcode = instruction.opcode or ""
    message.custom_call_target = instruction.target or ""
    message.shape.CopyFrom(shape_proto(instruction.shape or ""))
    message.metadata.op_name = instruction.op_name or ""
    message.metadata.source_file = instruction.source_file or ""
    message.metadata.source_line = instruction.source_line or 0


def _fill_allocation(
    message: Message, allocation: PlannedAllocation, held: Sequence[StoredValue]
) -> None:
    message.index = allocation.number
    message.size = allocation.size_bytes
    message.color = allocation.memory_space
    message.is_thread_local = allocation.role == "threadLocal"
    message.is_constant = allocation.role == "constant"
    message.maybe_live_out = allocation.maybe_live_out
    message.is_tuple = bool(held) and all(value.dtype == "tuple" for value in held)
    if allocation.parameter_number is not None:
        message.is_entry_computation_parameter = True
        message.parameter_number = allocation.parameter_number
        message.parameter_shape_index.extend(index_numbers(allocation.shape_index))
    for value in held:
        message.assigned.add(
            logical_buffer_id=value.value_id, offset=value.offset_bytes, size=value.size_bytes
        )
