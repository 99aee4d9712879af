"""A module packed into a string, so that a graph can store it.

Most questions need only what the memory plan names. What the operations inside of fusions do with
the dimensions of their operands is read from this when it is asked.
"""

from base64 import b64decode, b64encode
from typing import Final, Literal, NamedTuple, TypeAlias
from zlib import compress, decompress

__all__ = ["ModuleForm", "PackedModule", "packed_module"]

ModuleForm: TypeAlias = Literal["text", "proto"]
_LEVEL: Final = 1
"""Level 6 packs a third smaller and takes three times as long."""


class PackedModule(NamedTuple):
    """A module as XLA wrote it, compressed."""

    form: ModuleForm
    """`text`, or `proto` for an HloModuleProto without literals."""
    packed: str
    """Base64 of zlib."""

    def contents(self) -> bytes:
        """Return the text in UTF-8, or the serialized message."""
        return decompress(b64decode(self.packed))


def packed_module(form: ModuleForm, contents: bytes) -> PackedModule:
    """Compress a module."""
    return PackedModule(form, b64encode(compress(contents, _LEVEL)).decode("ascii"))
