"""The messages of ``hlo.proto``; importing this needs the extra ``proto``.

They are made at import from the descriptor set beside this module: code that protoc writes runs
only with the protobuf that it was written for. They live in a pool of their own, so that they do
not meet those of a TensorFlow or JAX in the same process.
"""

from pathlib import Path
from typing import Any, Final

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "XLA's protobuf messages need protobuf: pip install 'xlagraph[proto]'", name=error.name
    ) from error

__all__ = ["HloProto", "MemoryUsageReportProto", "PrimitiveType", "XPlane", "XSpace"]


def _pool() -> descriptor_pool.DescriptorPool:
    descriptor_set = Path(__file__).with_name("hlo.binpb").read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptor_set).file:
        pool.Add(file)
    return pool


_POOL: Final = _pool()


def _message(name: str) -> Any:  # noqa: ANN401 - its fields are known to protobuf, not to mypy
    descriptor = _POOL.FindMessageTypeByName(f"xlagraph.hlo.{name}")
    return message_factory.GetMessageClass(descriptor)


HloProto: Final = _message("HloProto")
"""A module with its buffer assignment: `*.hlo.pb`, `*.hlo_proto.pb`."""

MemoryUsageReportProto: Final = _message("MemoryUsageReportProto")
"""The allocations by size: `*-memory-usage-report.pb`."""

XSpace: Final = _message("XSpace")
"""A profile: `*.xplane.pb`."""

XPlane: Final = _message("XPlane")
"""One plane of a profile."""

PrimitiveType: Final = _POOL.FindEnumTypeByName("xlagraph.hlo.PrimitiveType")
"""The enum of element types; ``values_by_number`` has its names in upper case."""
