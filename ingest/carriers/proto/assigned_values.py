"""The allocations of a buffer assignment, and the values in their slots."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.shapes import Shape, index_text
from xlagraph.ingest.carriers.proto.dataflow import Definition
from xlagraph.ingest.carriers.proto.module import Module, ProtoInstruction
from xlagraph.ingest.errors import UnfitMessage
from xlagraph.ingest.plan import Allocation, ParameterStorage, Value

_MOST_BYTES: Final = 2**63 - 1


class AssignedValues(NamedTuple):
    """The values of an assignment; all mappings have value ids as keys."""

    values: tuple[Value, ...]
    """Values in the order of their allocations, then of their ids."""
    definitions: Mapping[int, Definition]
    sizes: Mapping[int, tuple[int, int]]
    """Bytes of the value without padding, and of the whole shape of its instruction."""
    has_names: bool
    """True if definitions are stated by name, as in TensorFlow 2.8."""


def assigned_values(assignment: Message, module: Module) -> AssignedValues:
    """Return the values that have a slot; raise UnfitMessage if a reference is not found."""
    places = {each.id: each for each in assignment.logical_buffers}
    values: list[Value] = []
    definitions: dict[int, Definition] = {}
    sizes: dict[int, tuple[int, int]] = {}
    has_names = False
    phis = _phi_computations(module)
    for allocation in assignment.buffer_allocations:
        assigned = sorted(allocation.assigned, key=lambda each: each.logical_buffer_id)
        for slot in assigned:
            value_id = slot.logical_buffer_id
            place = places.get(value_id)
            if place is None or value_id in definitions:
                found = "none" if place is None else "two slots"
                raise UnfitMessage(f"expected one logical buffer {value_id}, found {found}")
            at = place.defined_at
            has_names = has_names or bool(at.instruction_name)
            instruction = _defining(at, module)
            index = tuple(at.shape_index)
            own_shape = _shape_at(instruction, index)
            definitions[value_id] = Definition(instruction.name, index)
            sizes[value_id] = own_shape.stored_bytes, _shape_at(instruction, ()).stored_bytes
            values.append(
                Value(
                    value_id,
                    instruction.name,
                    index_text(index) if instruction.is_tuple else None,
                    _is_phi(instruction, phis),
                    place.color,
                    allocation.index,
                    slot.offset,
                    slot.size,
                    own_shape,
                )
            )
    return AssignedValues(tuple(values), definitions, sizes, has_names)


def _defining(place: Message, module: Module) -> ProtoInstruction:
    if place.instruction_name:
        return module.named(place.instruction_name)
    return module.instruction(place.instruction_id)


def _phi_computations(module: Module) -> frozenset[str]:
    """Return the computations whose parameters merge values: those of loops and branches."""
    return frozenset(
        name
        for instruction in module.instructions.values()
        if instruction.opcode in ("while", "conditional")
        for name in instruction.called
    )


def _is_phi(instruction: ProtoInstruction, phis: frozenset[str]) -> bool:
    if instruction.opcode == "parameter":
        return instruction.computation in phis
    return instruction.opcode in ("while", "conditional")


def allocations(
    assignment: Message, module: Module, output: int | None, page: int | None
) -> Iterator[Allocation]:
    """Yield the allocations; `output` is the number of the one with the result, `page` of all."""
    entry = module.entry
    _check_sizes(assignment)
    for message in assignment.buffer_allocations:
        number = message.index
        output_shape = None
        if number == output:
            output_shape = _shape_at(module.root(entry), ()).bare
        is_parameter = message.is_entry_computation_parameter
        yield Allocation(
            number,
            message.size,
            memory_space=message.color,
            parameter=_parameter(message, entry) if is_parameter else None,
            output_shape=output_shape,
            is_constant=message.is_constant,
            is_thread_local=message.is_thread_local,
            maybe_live_out=message.maybe_live_out,
            page=page,
            is_preallocated_temp=not (
                is_parameter
                or message.is_constant
                or message.is_thread_local
                or message.maybe_live_out
            ),
        )


def _check_sizes(assignment: Message) -> None:
    """Raise if the numbers or sizes of the allocations are invalid."""
    messages = assignment.buffer_allocations
    if len({message.index for message in messages}) < len(messages):
        raise UnfitMessage("expected allocations with different indices, found two with the same")
    sizes = [message.size for message in messages]
    slots = [(slot.size, slot.offset) for message in messages for slot in message.assigned]
    if min((*sizes, *(min(slot) for slot in slots)), default=0) < 0:
        raise UnfitMessage("expected sizes and offsets of 0 bytes or more, found less")
    if sum(sizes) > _MOST_BYTES or sum(size for size, _ in slots) > _MOST_BYTES:
        raise UnfitMessage("expected sizes that add up to less than 2^63 bytes, found more")


def _parameter(message: Message, entry: Computation) -> ParameterStorage:
    number, index = message.parameter_number, tuple(message.parameter_shape_index)
    parameter = entry.parameters.get(number)
    if parameter is None:
        raise UnfitMessage(f"expected a parameter {number} of {entry.name}, found none")
    return ParameterStorage(number, _shape_at(parameter, index).bare, index_text(index))


def _shape_at(instruction: Instruction, index: tuple[int, ...]) -> Shape:
    try:
        if instruction.shape is not None:
            return instruction.shape.at(index)
    except IndexError:
        pass
    raise UnfitMessage(f"expected an element {index_text(index)} of {instruction.name}, found none")
