"""Messages of small programs, written as a text that is short enough to read.

    body:                                            a computation; the last one is the entry
      p = (f32[4], f32[4]) parameter(0) <1{0} 2{1}>  values that it defines: id and index
      ROOT r = f32[4] add(p, p) calls=other <3>

Every value has an allocation of its own: parameters of the entry theirs, the root's lives out, the
others are temporary. Ids of instructions count from 0. The schedule is that of the lines.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from xlagraph.hlo.program import Program
from xlagraph.hlo.proto_messages import HloProto, ShapeProto
from xlagraph.ingest.carriers.carrier import Contents, Part, Source
from xlagraph.ingest.carriers.proto.message_files import PROTO
from xlagraph.ingest.carriers.proto.read_messages import HLO, read_proto_dump
from xlagraph.ingest.carriers.proto.shape_messages import shape_of
from xlagraph.ingest.plan import Plan

_LINE: Final = re.compile(
    r"  (ROOT )?(\S+) = (\(.*?\)|\S+) ([a-z-]+)\(([^)]*)\)(?: calls=(\S+))?(?: <(.*)>)?"
)
_TYPES: Final = {"f32": 11, "s32": 4, "pred": 1, "token": 17}
_EVENTS: Final = {"alloc": 0, "free": 1, "share": 2}


def hlo(text: str, *, is_scheduled: bool = True, traces: Iterable[str] = ()) -> Any:
    """Return a program's message; a trace is ``alloc 1, free 1``."""
    message = HloProto()
    module, assignment = message.hlo_module, message.buffer_assignment
    module.name, module.id = "jit_f", 8
    computations: dict[str, Any] = {}
    instructions: dict[str, Any] = {}
    for line in filter(None, text.split("\n")):
        if line.endswith(":"):
            computation = module.computations.add(name=line[:-1], id=len(computations))
            computations[line[:-1]] = computation
            continue
        root, name, shape, opcode, operands, called, values = _LINE.fullmatch(line).groups()  # type: ignore[union-attr]
        made = computation.instructions.add(name=name, opcode=opcode, id=len(instructions))
        made.shape.CopyFrom(_shape(shape))
        instructions[name] = made
        if opcode == "parameter":
            made.parameter_number = int(operands)
        elif opcode != "constant":
            made.operand_ids.extend(instructions[each.strip()].id for each in operands.split(","))
        if opcode == "get-tuple-element":
            made.tuple_index = int(called)
        elif called:
            made.called_computation_ids.extend(computations[n].id for n in called.split(","))
        if root:
            computation.root_id = made.id
        for value in (values or "").split():
            _place(assignment, value, made)
    module.entry_computation_id = computation.id
    module.entry_computation_name = computation.name
    if is_scheduled:
        for each in module.computations:
            sequence = module.schedule.sequences[each.id].instruction_ids
            sequence.extend(instruction.id for instruction in each.instructions)
    _mark(assignment, computation)
    for trace in traces:
        events = assignment.heap_simulator_traces.add().events
        for event in trace.split(", "):
            kind, value_id = event.split()
            events.add(kind=_EVENTS[kind], buffer_id=int(value_id))
    return message


def _shape(text: str) -> Any:
    if text.startswith("("):
        shape = ShapeProto(element_type=13)
        inner = re.findall(r"\([^)]*\)|[a-z0-9]+\[[^\]]*\]", text[1:-1])
        shape.tuple_shapes.extend(_shape(element) for element in inner)
        return shape
    dtype, dimensions = text[:-1].split("[")
    sizes = [int(each) for each in dimensions.split(",") if each]
    shape = ShapeProto(element_type=_TYPES[dtype], dimensions=sizes)
    shape.layout.minor_to_major.extend(reversed(range(len(sizes))))
    return shape


def _place(assignment: Any, value: str, instruction: Any) -> None:
    number, _, index = value.partition("{")
    indices = [int(each) for each in index.rstrip("}").split(",") if each]
    size = shape_of(instruction.shape).at(indices).stored_bytes
    buffer = assignment.logical_buffers.add(id=int(number), size=size)
    buffer.defined_at.instruction_id = instruction.id
    buffer.defined_at.shape_index.extend(indices)
    allocation = assignment.buffer_allocations.add(
        index=len(assignment.buffer_allocations), size=size
    )
    allocation.assigned.add(logical_buffer_id=int(number), size=size)


def _mark(assignment: Any, entry: Any) -> None:
    instructions = {each.id: each for each in entry.instructions}
    places = {each.id: each.defined_at for each in assignment.logical_buffers}
    for allocation in assignment.buffer_allocations:
        place = places[allocation.assigned[0].logical_buffer_id]
        instruction = instructions.get(place.instruction_id)
        if instruction is not None and instruction.opcode == "parameter":
            allocation.is_entry_computation_parameter = True
            allocation.parameter_number = instruction.parameter_number
            allocation.parameter_shape_index.extend(place.shape_index)
        elif instruction is not None and instruction.id == entry.root_id:
            allocation.maybe_live_out = True


def alias(message: Any, one: int, other: int) -> None:
    """Make two values share their bytes."""
    places = {each.id: each.defined_at for each in message.buffer_assignment.logical_buffers}
    for source, target in ((one, other), (other, one)):
        found = message.buffer_assignment.buffer_aliases.add(source_buffer_id=source)
        found.location.CopyFrom(places[target])


def contents_of(content: bytes, name: str = "jit_f(8).hlo_proto.pb") -> Contents:
    """Return the contents of a file."""
    source = Source(PROTO, "jit_f(8)", (Part(HLO, Path(name)),))
    return Contents(source, {HLO: content})


def read(message: Any) -> tuple[Plan, Program]:
    """Read a message from its bytes."""
    return read_proto_dump(contents_of(message.SerializeToString()))


def problems(message: Any) -> list[str]:
    """Read a message, and return its problems."""
    contents = contents_of(message.SerializeToString())
    read_proto_dump(contents)
    return [str(problem) for problem in contents.problems]


def positions(plan: Plan) -> Mapping[int, str]:
    """Return the positions of each value as text."""
    return {
        used.value_id: " ".join(f"{name}{index or ''}" for name, index in used.positions)
        for used in plan.used_values or ()
    }


def uses(plan: Plan) -> Mapping[int, str]:
    """Return the uses of each value as text: ``add.1`` is its operand 1."""
    return {
        used.value_id: " ".join(f"{name}.{row}{index or ''}" for name, row, index in used.uses)
        for used in plan.used_values or ()
    }


def ranges(plan: Plan) -> Mapping[str, str]:
    """Return the live range of each value by its label: ``add{}`` is ``2-3``."""
    assert plan.live_ranges is not None
    return {
        f"{name}{index}": f"{first}-{last}" for name, index, first, last in plan.live_ranges.ranges
    }
