"""Read the operations of a module from an HloModuleProto."""

from collections.abc import Iterator, Sequence
from typing import Final

from xlagraph.hlo.descriptor_sets import Message
from xlagraph.planner.dimensions.module_operations import (
    DIMENSIONS_OF_PRODUCT,
    NUMBER,
    OVERWRITTEN_BY_SOLVER,
    ROLES_OF_CONVOLUTION,
    ArrayShape,
    ModuleOperations,
    OperandName,
    Operation,
    ShapeTree,
)

_TUPLE: Final = 13
_CALLING: Final = {
    "call": "to_apply", "conditional": "branches", "fusion": "calls", "scatter": "to_apply",
}  # fmt: skip
_STARTING: Final = "async-start"
_WINDOWS: Final = (
    ("gather_dimension_numbers", "gather"),
    ("scatter_dimension_numbers", "scatter"),
)


def operations_of_proto(contents: bytes) -> ModuleOperations:
    """Return the operations of a serialized module."""
    from xlagraph.hlo.proto_messages import HloProto

    module = HloProto().hlo_module
    module.MergeFromString(contents)
    names = {each.id: each.name for each in module.computations}
    computations: dict[str, list[Operation]] = {}
    roots: dict[str, str] = {}
    for each in module.computations:
        by_id = {instruction.id: instruction.name for instruction in each.instructions}
        computations[each.name] = [
            _operation(instruction, by_id, names) for instruction in each.instructions
        ]
        roots[each.name] = by_id.get(each.root_id, "")
    entry = names.get(module.entry_computation_id, module.entry_computation_name)
    return ModuleOperations(entry, computations, roots)


def _operation(message: Message, by_id: dict[int, str], names: dict[int, str]) -> Operation:
    called = [names.get(number, "") for number in message.called_computation_ids]
    callees: dict[str, Sequence[str]] = {}
    if message.opcode == "while" and len(called) > 1:
        callees = {"body": called[:1], "condition": called[1:2]}
    elif message.opcode == _STARTING:
        callees = {"calls": called}
    elif message.opcode in _CALLING:
        callees = {_CALLING[message.opcode]: called}
    return Operation(
        message.name,
        message.opcode,
        _shape(message.shape),
        [OperandName(by_id.get(number, "")) for number in message.operand_ids],
        callees,
        dict(_numbers(message)),
    )


def _shape(message: Message) -> ShapeTree:
    if message.element_type == _TUPLE:
        return [_shape(each) for each in message.tuple_shapes]
    return ArrayShape(tuple(message.dimensions), tuple(message.layout.minor_to_major))


def _numbers(message: Message) -> Iterator[tuple[str, Sequence[int]]]:
    opcode = message.opcode
    if message.dimensions:
        yield "dimensions", list(message.dimensions)
    if opcode == "parameter":
        yield "number", [message.parameter_number]
    elif opcode == "get-tuple-element":
        yield "index", [message.tuple_index]
    elif opcode == "slice":
        for_each = ((each.start, each.limit, each.stride) for each in message.slice_dimensions)
        yield "slice", [number for each in for_each for number in each]
    elif opcode == "pad":
        padding = message.padding_config.dimensions
        edges = (
            (each.edge_padding_low, each.edge_padding_high, each.interior_padding)
            for each in padding
        )
        yield "padding", [number for each in edges for number in each]
    elif opcode == "dot":
        given = message.dot_dimension_numbers
        for side in ("lhs", "rhs"):
            for kind in ("batch", "contracting"):
                yield f"{side}_{kind}_dims", list(getattr(given, f"{side}_{kind}_dimensions"))
    elif opcode == "fft":
        yield "fft_length", list(message.fft_length)
    elif opcode == "custom-call":
        config = message.backend_config.decode(errors="replace")
        for key, pattern in DIMENSIONS_OF_PRODUCT:
            if found := pattern.search(config):
                yield key, list(map(int, NUMBER.findall(found[1])))
        if roles := ROLES_OF_CONVOLUTION.get(message.custom_call_target):
            yield "roles", roles
        if solved := OVERWRITTEN_BY_SOLVER.get(message.custom_call_target):
            yield "overwritten", solved
        for shared in message.output_operand_aliasing[:1]:
            yield "overwritten", [*(shared.output_shape_index[:1] or (0,)), shared.operand_index]
    for field, kind in _WINDOWS:
        if opcode == kind:
            given = getattr(message, field)
            for descriptor in given.DESCRIPTOR.fields:
                value = getattr(given, descriptor.name)
                yield descriptor.name, [value] if isinstance(value, int) else list(value)
    if message.HasField("window"):
        sizes = (
            (each.size, each.stride, each.base_dilation, each.window_dilation)
            for each in message.window.dimensions
        )
        yield "window", [number for each in sizes for number in each]
    if message.HasField("convolution_dimension_numbers"):
        yield from _places(message.convolution_dimension_numbers)


def _places(given: Message) -> Iterator[tuple[str, Sequence[int]]]:
    yield "lhs", (
        given.input_batch_dimension, given.input_feature_dimension,
        *given.input_spatial_dimensions,
    )  # fmt: skip
    yield "rhs", (
        given.kernel_input_feature_dimension, given.kernel_output_feature_dimension,
        *given.kernel_spatial_dimensions,
    )  # fmt: skip
    yield "out", (
        given.output_batch_dimension, given.output_feature_dimension,
        *given.output_spatial_dimensions,
    )  # fmt: skip
