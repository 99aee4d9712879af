"""Reading a file with any content ends with a plan or an error message."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ingest.carriers.proto.small_protos import alias, contents_of, hlo
from xlagraph.ingest.carriers.proto.read_messages import read_proto_dump
from xlagraph.ingest.errors import UnreadableDump
from xlagraph.ingest.measures.compilation_facts import derive_facts

PROGRAM = hlo(
    "fused:\n  x = f32[4] parameter(0)\n  ROOT n = f32[4] negate(x)\n"
    "cond:\n  c = (f32[4], f32[4]) parameter(0) <1{}>\n  ROOT l = pred[] constant() <2>\n"
    "body:\n  b = (f32[4], f32[4]) parameter(0) <3{} 10{0}>\n"
    "  y = f32[4] get-tuple-element(b) calls=0\n  f = f32[4] fusion(y) calls=fused <4>\n"
    "  ROOT t = (f32[4], f32[4]) tuple(f, y) <5{}>\n"
    "wrapped:\n  a = f32[4] parameter(0)\n  ROOT s = f32[2] slice(a) <6>\n"
    "main:\n  p = (f32[4], f32[4]) parameter(0) <7{} 8{0} 13{1}>\n"
    "  w = (f32[4], f32[4]) while(p) calls=body,cond <9{} 11{0} 12{1}>\n"
    "  g = f32[4] get-tuple-element(w) calls=0\n"
    "  q = ((f32[4]), f32[2], s32[]) async-start(g) calls=wrapped <14{} 15{0} 16{2}>\n"
    "  ROOT d = f32[2] async-done(q)\n",
    traces=["alloc 9, free 9"],
)
PROGRAM.hlo_module.computations[0].is_fusion_computation = True
PROGRAM.hlo_module.input_output_alias.entries.add(parameter_number=0)
alias(PROGRAM, 8, 10)
CONTENT = PROGRAM.SerializeToString()
NUMBERS = st.sampled_from([0, 1, 2, 3, 7, 99, -1, 2**31 - 1, 2**40])
TEXTS = st.sampled_from(["", "p", "while", "tuple", "parameter", "call", "async-start", "fusion"])


def reads_or_refuses(content: bytes) -> None:
    with suppress(UnreadableDump):
        derive_facts(*read_proto_dump(contents_of(content)))


@settings(max_examples=150)
@given(st.integers(0, len(CONTENT) - 1), st.integers(0, 3), st.binary(max_size=4))
def test_damaged_bytes_are_read_or_refused(start: int, removed: int, inserted: bytes):
    reads_or_refuses(CONTENT[:start] + inserted + CONTENT[start + removed :])


@settings(max_examples=250)
@given(st.data())
def test_contradicting_fields_are_read_or_refused(data: st.DataObject):
    message = type(PROGRAM).FromString(CONTENT)
    for _ in range(data.draw(st.integers(1, 3))):
        _damage(message, data)
    reads_or_refuses(message.SerializeToString())


def _damage(message: Any, data: st.DataObject) -> None:
    """Change one field somewhere inside a message."""
    fields = message.ListFields()
    if not fields:
        return
    field, value = data.draw(st.sampled_from(fields))
    if field.message_type is None:
        _damage_plain(message, field, value, data)
    elif field.message_type.GetOptions().map_entry:
        message.ClearField(field.name)
    elif not hasattr(value, "append"):
        if data.draw(st.booleans()) or not value.ListFields():
            message.ClearField(field.name)
        else:
            _damage(value, data)
    else:
        row = data.draw(st.integers(0, len(value) - 1))
        kind = data.draw(st.sampled_from(["inside", "inside", "delete", "double"]))
        if kind == "delete":
            del value[row]
        elif kind == "double":
            value.add().CopyFrom(value[row])
        elif value[row].ListFields():
            _damage(value[row], data)


def _damage_plain(message: Any, field: Any, value: Any, data: st.DataObject) -> None:
    if hasattr(value, "append"):
        del value[data.draw(st.integers(0, len(value) - 1))]
    elif isinstance(value, bool):
        setattr(message, field.name, not value)
    elif isinstance(value, int):
        number = data.draw(NUMBERS)
        is_narrow = field.enum_type is not None or field.cpp_type == field.CPPTYPE_INT32
        setattr(message, field.name, min(number, 2**31 - 1) if is_narrow else number)
    elif isinstance(value, str):
        setattr(message, field.name, data.draw(TEXTS))


def _fused_body_called(message: Any) -> None:
    message.hlo_module.computations[4].instructions[1].called_computation_ids[:] = [0, 0]


def _loop_without_condition(message: Any) -> None:
    del message.hlo_module.computations[4].instructions[1].called_computation_ids[0]


def _fused_ids_twice(message: Any) -> None:
    message.hlo_module.computations[0].instructions[0].id = 1


def _fused_operand_elsewhere(message: Any) -> None:
    message.hlo_module.computations[0].instructions[1].operand_ids[0] = 99


def _fused_entry(message: Any) -> None:
    message.hlo_module.entry_computation_id = 0


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_fused_entry, "expected the entry computation fused, found no such computation"),
        (_fused_body_called, "expected a fusion to run fused, found a call"),
        (_loop_without_condition, "expected the body and condition of a loop, found 1 comp"),
        (_fused_ids_twice, "expected operands of fused among its instructions, found others"),
        (_fused_operand_elsewhere, "expected operands of fused among its instructions, found o"),
    ],
)
def test_faults_found_earlier_are_refused(damage: Any, sentence: str):
    message = type(PROGRAM).FromString(CONTENT)
    damage(message)
    with pytest.raises(UnreadableDump) as refused:
        read_proto_dump(contents_of(message.SerializeToString()))
    assert sentence in str(refused.value.problem)
