"""A message is read into a plan and a program; an invalid one gives one error sentence."""

import gzip
from pathlib import Path

import pytest

from tests.ingest.carriers.proto.small_protos import contents_of, hlo, read
from xlagraph.hlo.instruction import Aliasing, Attributes, Callee
from xlagraph.hlo.metadata import StackFrame
from xlagraph.hlo.program import EntryParameter
from xlagraph.hlo.shapes import parse_shape
from xlagraph.ingest.carriers.proto.read_messages import read_proto_dump
from xlagraph.ingest.errors import UnreadableDump
from xlagraph.ingest.measures.compilation_facts import derive_facts
from xlagraph.ingest.plan import Allocation, ParameterStorage, Value

ADD = (
    "main:\n  p = (f32[4], f32[8,2]) parameter(0) <5{} 3{0} 4{1}>\n"
    "  g = f32[4] get-tuple-element(p) calls=0\n  ROOT a = f32[4] add(g, g) <7>\n"
)
LOOP = (
    "cond:\n  c = (f32[4]) parameter(0) <1{}>\n  ROOT l = pred[] constant() <2>\n"
    "body:\n  b = (f32[4]) parameter(0) <3{} 10{0}>\n  ROOT n = (f32[4]) copy(b) <5{}>\n"
    "main:\n  t = (f32[4]) parameter(0) <8{} 7{0}>\n"
    "  ROOT w = (f32[4]) while(t) calls=body,cond <9{} 11{0}>\n"
)


def refusal(content: bytes) -> str:
    """Return the message with which a file is rejected."""
    with pytest.raises(UnreadableDump) as refused:
        read_proto_dump(contents_of(content))
    return str(refused.value.problem)


def test_allocations_and_values_are_those_of_the_assignment():
    plan, _ = read(hlo(ADD))
    assert plan.allocations == (
        Allocation(0, 16, parameter=ParameterStorage(0, "(f32[4], f32[8,2])", "{}")),
        Allocation(1, 16, parameter=ParameterStorage(0, "f32[4]", "{0}")),
        Allocation(2, 64, parameter=ParameterStorage(0, "f32[8,2]", "{1}")),
        Allocation(3, 16, output_shape="f32[4]", maybe_live_out=True),
    )
    assert plan.values == (
        Value(5, "p", "{}", False, 0, 0, 0, 16, parse_shape("(f32[4]{0}, f32[8,2]{1,0})")),
        Value(3, "p", "{0}", False, 0, 1, 0, 16, parse_shape("f32[4]{0}")),
        Value(4, "p", "{1}", False, 0, 2, 0, 64, parse_shape("f32[8,2]{1,0}")),
        Value(7, "a", None, False, 0, 3, 0, 16, parse_shape("f32[4]{0}")),
    )
    assert plan.total_bytes == 112
    assert plan.derived == ("total", "positions", "uses", "schedule", "ranges", "peak")


def test_an_allocation_without_flags_is_a_temporary():
    message = hlo(ADD)
    _, constant, local, _ = allocations = message.buffer_assignment.buffer_allocations
    for allocation in allocations:
        allocation.is_entry_computation_parameter = allocation.maybe_live_out = False
    constant.is_constant = local.is_thread_local = True
    plan, _ = read(message)
    assert [each.is_preallocated_temp for each in plan.allocations] == [True, False, False, True]


def test_instructions_have_the_attributes_that_the_rules_need():
    message = hlo(ADD)
    module = message.hlo_module
    add = module.computations[0].instructions[2]
    add.metadata.op_name, add.metadata.stack_frame_id = "jit(f)/add", 2
    add.metadata.source_file, add.metadata.source_line = "f.py", 3
    add.control_predecessor_ids.append(0)
    add.output_operand_aliasing.add(operand_index=1)
    module.computations[0].instructions[0].sharding.type = 0
    index = module.stack_frame_index
    index.file_names.append("f.py")
    index.function_names.append("f")
    index.file_locations.add(file_name_id=1, function_name_id=1, line=3, column=7)
    index.stack_frames.add(file_location_id=1)
    index.stack_frames.add(file_location_id=9, parent_frame_id=1)
    module.buffer_donor.entries.add(parameter_number=0, parameter_shape_index=[1])
    module.device_assignment.computation_count = 8
    _, program = read(message)
    found = program.instructions["a"]
    assert (found.shape, found.opcode, found.computation) == (
        parse_shape("f32[4]{0}"),
        "add",
        "main",
    )
    assert [operand.name for operand in found.operands] == ["g", "g"]
    assert found.attributes == Attributes(
        op_name="jit(f)/add", source_file="f.py", source_line=3, stack_frame=2,
        control_predecessors=("p",), aliasing=(Aliasing("{}", 1, "{}"),),
    )  # fmt: skip
    assert program.instructions["g"].attributes.tuple_element == 0
    assert program.instructions["p"].attributes.sharding == "{replicated}"
    assert program.instructions["p"].parameter_number == 0
    assert program.frames == {
        1: StackFrame("f", "f.py", 3, 7, None),
        2: StackFrame(None, None, None, None, 1),
    }
    assert program.unpaired_donors == {EntryParameter(0, "{1}")}
    assert (program.name, program.entry_name, program.partitions) == ("jit_f", "main", 8)


def test_a_parameter_has_the_sharding_that_only_the_module_has():
    message = hlo(LOOP)
    message.hlo_module.spmd_parameters_shardings.add(type=0)
    _, program = read(message)
    assert program.instructions["t"].attributes.sharding == "{replicated}"
    assert program.instructions["b"].attributes.sharding is None


def test_called_computations_have_their_roles():
    _, program = read(hlo(LOOP))
    assert program.instructions["w"].attributes.callees == (
        Callee("condition", "cond"), Callee("body", "body"),
    )  # fmt: skip
    assert program.entry.root.name == "w"


def test_the_body_of_a_fusion_is_read_on_first_access():
    message = hlo(
        "fused:\n  x = f32[4] parameter(0)\n  ROOT n = f32[4] negate(x)\n"
        "main:\n  p = f32[4] parameter(0) <1>\n  ROOT f = f32[4] fusion(p) calls=fused <2>\n"
    )
    message.hlo_module.computations[0].is_fusion_computation = True
    _, program = read(message)
    assert "n" not in program.instructions
    assert program.computation("fused").root.opcode == "negate"
    assert program.root_opcode(program.instructions["f"]) == "negate"


def test_a_message_has_all_facts_for_replanning():
    plan, program = read(hlo(LOOP))
    facts = derive_facts(plan, program)
    assert facts.planner_inputs is not None
    assert facts.planner_inputs.result == "w"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty: the program ended before XLA had written it"),
        (b"BufferAssignment:\n", "expected a whole HloProto with UTF-8 names, found bytes that"),
        (hlo(ADD).SerializeToString()[:-9], "expected a whole HloProto with UTF-8 names, found"),
        (b"\x0a\x80\x80\x80\x80\x08", "expected a whole HloProto with UTF-8 names, found bytes"),
        (b"\x0a\x03\x0a\x01\xff\x1a\x00", "expected a whole HloProto with UTF-8 names, found b"),
        (hlo(ADD).hlo_module.SerializeToString(), "expected "),
        (gzip.compress(b""), "expected "),
    ],
    ids=["empty", "text", "cut", "2 GiB long", "a name not in UTF-8", "another message", "packed"],
)
def test_bytes_that_are_not_a_plan_are_refused_in_a_sentence(content: bytes, sentence: str):
    assert refusal(content).startswith(f"jit_f(8).hlo_proto.pb: {sentence}")


def _changed(path: str, value: int | str | None) -> bytes:
    """Return the bytes of a message with one field changed, cleared or repeated."""
    message = hlo(ADD)
    *names, last = path.split(".")
    at = message
    for name in names:
        at = at[int(name)] if name.isdigit() else getattr(at, name)
    if isinstance(value, str):
        getattr(at, last).add().CopyFrom(getattr(at, last)[0])
    elif last.isdigit():
        at[int(last)] = value
    elif value is None:
        at.ClearField(last)
    else:
        setattr(at, last, value)
    return message.SerializeToString()


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            "hlo_module.computations", "again",
            "expected one computation main, found two",
        ),
        (
            "hlo_module.computations.0.instructions", "again",
            "expected instructions of main with different ids",
        ),
        (
            "hlo_module.computations.0.instructions.1.operand_ids.0", 99,
            "expected an instruction of main with the id 99, found none",
        ),
        (
            "hlo_module.computations.0.root_id", 99,
            "expected the root of main, found none",
        ),
        (
            "hlo_module.computations.0.instructions.1.operand_ids.0", 2,
            "expected a before g, which reads it",
        ),
        (
            "buffer_assignment.logical_buffers.0.defined_at.instruction_id", 99,
            "expected an instruction with the id 99, found none",
        ),
        (
            "buffer_assignment.logical_buffers.1.defined_at.shape_index.0", 2**40,
            "expected an element {1099511627776} of p, found none",
        ),
        (
            "buffer_assignment.buffer_allocations.0.assigned.0.logical_buffer_id", 99,
            "expected one logical buffer 99, found none",
        ),
        (
            "buffer_assignment.buffer_allocations.0.assigned", "again",
            "expected one logical buffer 5, found two slots",
        ),
        (
            "buffer_assignment.buffer_allocations.0.parameter_number", 3,
            "expected a parameter 3 of main, found none",
        ),
        (
            "buffer_assignment.buffer_allocations.0.index", 1,
            "expected allocations with different indices, found two with the same",
        ),
        (
            "buffer_assignment.buffer_allocations.0.size", -1,
            "expected sizes and offsets of 0 bytes or more, found less",
        ),
        (
            "buffer_assignment.buffer_allocations.0.size", 2**63 - 1,
            "expected sizes that add up to less than 2^63 bytes, found more",
        ),
    ],
)  # fmt: skip
def test_a_message_that_contradicts_itself_is_refused(
    path: str, value: int | str | None, sentence: str
):
    assert refusal(_changed(path, value)) == f"jit_f(8).hlo_proto.pb: {sentence}"


def test_a_module_without_its_entry_is_refused():
    message = hlo(ADD)
    message.hlo_module.entry_computation_id, message.hlo_module.entry_computation_name = 7, "f"
    assert refusal(message.SerializeToString()).endswith(
        "expected the entry computation f, found no such computation"
    )


def test_a_schedule_of_other_instructions_is_refused():
    message = hlo(ADD)
    message.hlo_module.schedule.sequences[0].instruction_ids[0] = 2
    assert refusal(message.SerializeToString()).endswith(
        "expected a schedule of all instructions of main, found one of others"
    )


@pytest.mark.parametrize("scheduled", [[0], [0, 0], [0, 1, 1], []])
def test_a_fusion_with_a_schedule_of_other_instructions_is_refused(scheduled: list[int]):
    """Its instructions are read late, but its error belongs to the file."""
    message = hlo(
        "fused:\n  x = f32[4] parameter(0)\n  ROOT n = f32[4] negate(x)\n"
        "main:\n  p = f32[4] parameter(0) <3{}>\n"
        "  ROOT f = f32[4] fusion(p) calls=fused <4{}>\n"
    )
    module = message.hlo_module
    module.computations[0].is_fusion_computation = True
    module.schedule.sequences[0].instruction_ids[:] = scheduled
    assert refusal(message.SerializeToString()).endswith(
        "expected a schedule of all instructions of fused, found one of others"
    )


def test_a_loop_inside_a_fusion_calls_two_computations():
    message = hlo(
        "fused:\n  x = f32[4] parameter(0)\n  ROOT n = f32[4] while(x)\n"
        "main:\n  p = f32[4] parameter(0) <3{}>\n"
        "  ROOT f = f32[4] fusion(p) calls=fused <4{}>\n"
    )
    message.hlo_module.computations[0].is_fusion_computation = True
    assert refusal(message.SerializeToString()).endswith(
        "expected the body and condition of a loop, found 0 computations"
    )


def test_a_part_that_is_missing_is_not_guessed():
    message = hlo(ADD)
    message.buffer_assignment.ClearField("buffer_allocations")
    plan, _ = read(message)
    assert (plan.allocations, plan.values, plan.used_values) == ((), (), ())
    assert plan.live_ranges is not None
    assert plan.live_ranges.peak is None


def test_module_and_assignment_may_be_separate_parts():
    from xlagraph.ingest.carriers.carrier import Contents, Part, Source
    from xlagraph.ingest.carriers.proto.read_messages import ASSIGNMENT, MODULE

    message = hlo(ADD)
    parts = {
        MODULE: message.hlo_module.SerializeToString(),
        ASSIGNMENT: message.buffer_assignment.SerializeToString(),
    }
    source = Source("process", "jit_f(8)", tuple(Part(name, Path("jit_f(8)")) for name in parts))
    assert read_proto_dump(Contents(source, parts))[0] == read(message)[0]
