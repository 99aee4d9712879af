"""The top level of a protobuf message in a file: where its fields lie, without decoding them.

    message = { tag value }     tag = number << 3 | type, as a varint
    type 0  varint              type 1  8 bytes
    type 2  length, bytes       type 5  4 bytes

A profile has gigabytes of events beside what is looked for here.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

__all__ = ["Field", "UnfitWireFormat", "fields"]

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_FIXED: Final = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
_LONGEST_VARINT: Final = 10


class UnfitWireFormat(ValueError):
    """Raised where bytes are not a message, or end inside of one."""


class Field(NamedTuple):
    """A field of a message."""

    number: int
    start: int
    """Of its value, in bytes from the start of the file."""
    length: int
    value: int | None = None
    """Largest number of bytes in a varint."""


def fields(file: BinaryIO, start: int = 0, length: int | None = None) -> Iterator[Field]:
    """Yield the fields of the message that lies here, by default in the whole file.

    Raises UnfitWireFormat, and what reading the file raises.
    """
    position = start
    end = None if length is None else start + length
    while end is None or position < end:
        if file.seek(position) != position:
            raise UnfitWireFormat("it ends inside of a field")
        tag = _varint(file, may_end=end is None)
        if tag is None:
            return
        number, kind = tag >> 3, tag & 7
        value = None
        if kind == _VARINT:
            value = _varint(file)
            size = 0
        elif kind == _BYTES:
            size = _varint(file) or 0
        elif kind in _FIXED:
            size = _FIXED[kind]
        else:
            raise UnfitWireFormat(f"a field has the type {kind}, which there is not")
        begins = file.tell()
        position = begins + size
        if number == 0 or (end is not None and position > end):
            raise UnfitWireFormat("it ends inside of a field")
        yield Field(number, begins, size, value)


def _varint(file: BinaryIO, *, may_end: bool = False) -> int | None:
    """Return a number of 7 bits a byte, the lowest first; None at the end, where it may be."""
    number = 0
    for count in range(_LONGEST_VARINT):
        byte = file.read(1)
        if not byte:
            if may_end and count == 0:
                return None
            raise UnfitWireFormat("it ends inside of a field")
        number |= (byte[0] & 0x7F) << (7 * count)
        if byte[0] < 0x80:
            return number
    raise UnfitWireFormat("a number has more than 64 bits")
