"""Read the operations of a module that a graph stores."""

from xlagraph.hlo.packed_module import PackedModule
from xlagraph.planner.dimensions.module_operations import ModuleOperations
from xlagraph.planner.dimensions.proto_records import operations_of_proto
from xlagraph.planner.dimensions.text_records import operations_of_text

__all__ = ["module_operations"]


def module_operations(packed: PackedModule) -> ModuleOperations:
    """Return the operations; raises ProtobufMissing for a message without the extra `proto`."""
    contents = packed.contents()
    if packed.form == "proto":
        return operations_of_proto(contents)
    return operations_of_text(contents.decode(errors="replace"))
