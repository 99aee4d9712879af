"""Protobuf messages of other tools: definitions, descriptor sets, and the bytes of XLA."""

import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("path", ["hlo/hlo", "exports/perfetto", "exports/profile"])
def test_a_descriptor_set_matches_its_definition(path: str, tmp_path: Path) -> None:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    made = tmp_path / "made.binpb"
    definition = TREE / f"{path}.proto"
    paths = [f"--proto_path={definition.parent}", f"--descriptor_set_out={made}", definition.name]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *paths], check=True)
    checked_in = FileDescriptorSet.FromString((TREE / f"{path}.binpb").read_bytes())
    assert FileDescriptorSet.FromString(made.read_bytes()) == checked_in, "run make protos"


def test_an_assignment_is_read_with_the_field_numbers_of_xla() -> None:
    from xlagraph.hlo.proto_messages import HloProto

    # HloProto.3 {1: {1: 7, 2: 64, 3: {4: 9}, 4: 1}, 3: {2: 64, 5: true, 9: {1: 7, 3: 64}}}
    written = bytes.fromhex(
        "1a 18  0a 0a 08 07 10 40 1a 02 20 09 20 01  1a 0a 10 40 28 01 4a 04 08 07 18 40"
    )
    assignment = HloProto.FromString(written).buffer_assignment
    (value,) = assignment.logical_buffers
    assert (value.id, value.size, value.defined_at.instruction_id, value.color) == (7, 64, 9, 1)
    (allocation,) = assignment.buffer_allocations
    assert allocation.size == 64
    assert allocation.is_entry_computation_parameter
    assert [(held.logical_buffer_id, held.size) for held in allocation.assigned] == [(7, 64)]


def test_unknown_fields_are_kept() -> None:
    from xlagraph.hlo.proto_messages import HloProto

    literal_of_an_instruction = bytes.fromhex("0a 08 1a 06 12 04 42 02 08 0b")
    assert HloProto.FromString(literal_of_an_instruction).SerializeToString() == (
        literal_of_an_instruction
    )


@pytest.mark.parametrize("name", ["HloProto", "MemoryUsageReportProto", "XSpace"])
def test_the_messages_have_a_separate_package(name: str) -> None:
    from xlagraph.hlo import proto_messages as messages

    assert getattr(messages, name).DESCRIPTOR.full_name == f"xlagraph.hlo.{name}"


def test_without_protobuf_the_error_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['google.protobuf'] = None\nimport xlagraph.hlo.proto_messages"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith("protobuf is not installed: pip install 'xlagraph[proto]'\n")
