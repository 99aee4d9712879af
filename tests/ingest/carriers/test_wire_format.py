"""The fields of a message are found without decoding; invalid bytes are rejected."""

from io import BytesIO

import pytest

from xlagraph.ingest.carriers.wire_format import Field, UnfitWireFormat, fields

# 1: 300, 2: "ab", 3: 8 bytes, 4: 4 bytes
MESSAGE = b"\x08\xac\x02" + b"\x12\x02ab" + b"\x19" + bytes(8) + b"\x25" + bytes(4)


@pytest.mark.parametrize("length", [None, len(MESSAGE)])
def test_each_field_has_its_number_and_the_range_of_its_value(length: int | None):
    assert list(fields(BytesIO(MESSAGE), 0, length)) == [
        Field(1, 3, 0, 300), Field(2, 5, 2), Field(3, 8, 8), Field(4, 17, 4),
    ]  # fmt: skip


def test_a_message_inside_another_one_is_a_range():
    assert list(fields(BytesIO(b"??" + MESSAGE + b"??"), 2, 7)) == [
        Field(1, 5, 0, 300), Field(2, 7, 2),
    ]  # fmt: skip


def test_values_can_be_read_during_the_iteration():
    file = BytesIO(MESSAGE)
    found = []
    for field in fields(file):
        file.seek(0)
        found.append(field.number)
    assert found == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x12\x05ab", "it ends inside of a field"),
        (b"\x12", "it ends inside of a field"),
        (b"\x12\xff\xff\xff\xff\x07", "it ends inside of a field"),
        (b"\x0b", "a field has the type 3, which does not exist"),
        (b"\x02\x00", "it ends inside of a field"),
        (b"\x08" + b"\xff" * 11, "a number has more than 64 bits"),
    ],
    ids=["cut value", "no length", "2 GiB", "group", "number 0", "long number"],
)
def test_bytes_that_are_not_a_message_are_refused(content: bytes, reason: str):
    with pytest.raises(UnfitWireFormat, match=reason):
        list(fields(BytesIO(content), 0, len(content)))
