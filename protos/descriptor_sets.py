"""Message classes of the definitions beside this module; importing it needs the extra ``proto``.

They are made from descriptor sets: code that protoc writes runs only with the protobuf that it
was written for. Each definition has a pool of its own, and a package of our own, so that its
messages do not meet those of a TensorFlow, a JAX or an XProf in the same process.
"""

from pathlib import Path
from typing import Any, Final

from xlagraph.protos.errors import ProtobufMissing

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.descriptor import EnumDescriptor
except ModuleNotFoundError as error:
    raise ProtobufMissing from error

__all__ = ["DescriptorSet"]

_FOLDER: Final = Path(__file__).parent


class DescriptorSet:
    """The definitions of ``NAME.proto``, out of ``NAME.binpb``."""

    def __init__(self, name: str) -> None:
        self._package = f"xlagraph.{name}"
        self._pool = descriptor_pool.DescriptorPool()
        written = (_FOLDER / f"{name}.binpb").read_bytes()
        for file in descriptor_pb2.FileDescriptorSet.FromString(written).file:
            self._pool.Add(file)

    def message(self, name: str) -> Any:  # noqa: ANN401 - protobuf knows its fields, mypy does not
        """Return the class of a message."""
        descriptor = self._pool.FindMessageTypeByName(f"{self._package}.{name}")
        return message_factory.GetMessageClass(descriptor)

    def enum(self, name: str) -> EnumDescriptor:
        """Return an enum."""
        return self._pool.FindEnumTypeByName(f"{self._package}.{name}")
