"""Locate the fields of a protobuf message in a file without decoding them.

    message = { tag value }     tag = number << 3 | type, as a varint
    type 0  varint              type 1  8 bytes
    type 2  length, bytes       type 5  4 bytes

A profile has gigabytes of events next to the few fields that are needed.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_FIXED: Final = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
_LONGEST_VARINT: Final = 10
"""Largest number of bytes in a varint."""


class UnfitWireFormat(ValueError):
    """Raised if bytes are not a message, or end inside a message."""


class Field(NamedTuple):
    """The place of a field in a file."""

    number: int
    start: int
    """Start of the value, in bytes from the file's start."""
    length: int
    """Length of the value in bytes; 0 for a varint."""
    value: int | None = None
    """Number in a varint; None for the other types."""


def fields(file: BinaryIO, start: int = 0, length: int | None = None) -> Iterator[Field]:
    """Yield the fields of the message in a range of a file, by default the whole file.

    Raises UnfitWireFormat, and the errors of reading the file.
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
            raise UnfitWireFormat(f"a field has the type {kind}, which does not exist")
        begins = file.tell()
        position = begins + size
        if number == 0 or (end is not None and position > end):
            raise UnfitWireFormat("it ends inside of a field")
        yield Field(number, begins, size, value)


def _varint(file: BinaryIO, *, may_end: bool = False) -> int | None:
    """Return a number stored as 7 bits a byte, the lowest first; None at an allowed end."""
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
