"""Read shapes from messages.

Layouts are printed as in `Layout::Print` (xla/layout.cc).
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.shapes import Dimension, Shape, array_shape, buffer_shape, tuple_shape

_TUPLE: Final = 13
_BUFFER: Final = 34
_WITHOUT_LAYOUT: Final = ("token", "opaque")
_UNBOUNDED: Final = -(2**63)
_LEVELS: Final = ("D", "C", "S", "H")
"""Letters for dense, compressed, singleton, loosely compressed."""


def shape_of(message: Message) -> Shape:
    """Return the shape in a message."""
    return _remembered(message.SerializeToString())


@lru_cache(1 << 13)  # a program has few shapes and repeats them
def _remembered(serialized: bytes) -> Shape:
    from xlagraph.hlo.proto_messages import ShapeProto

    return _shape(ShapeProto.FromString(serialized))


def _shape(message: Message) -> Shape:
    kind = message.element_type
    if kind == _TUPLE:
        return tuple_shape(tuple(map(_shape, message.tuple_shapes)))
    if kind == _BUFFER and message.tuple_shapes:
        return buffer_shape(_shape(message.tuple_shapes[0]))
    dtype = _type_name(kind)
    layout = None
    if dtype not in _WITHOUT_LAYOUT and message.HasField("layout"):
        layout = _layout_text(message.layout)
    return array_shape(
        dtype,
        tuple(_dimensions(message)),
        None if layout == "{}" and not message.dimensions else layout,
        message.layout.element_size_in_bits or None,
    )


@lru_cache
def _type_name(number: int) -> str:
    from xlagraph.hlo.proto_messages import PrimitiveType

    found = PrimitiveType.values_by_number.get(number)
    return f"type<{number}>" if found is None else str(found.name).lower().removesuffix("_type")


def _dimensions(message: Message) -> Iterable[Dimension]:
    dynamic = list(message.is_dynamic_dimension)
    for number, size in enumerate(message.dimensions):
        is_dynamic = number < len(dynamic) and dynamic[number]
        yield Dimension(None if size == _UNBOUNDED else size, is_dynamic)


def _layout_text(layout: Message) -> str:
    order = ",".join(map(str, layout.minor_to_major))
    parts = "".join(_layout_parts(layout))
    return f"{{{order}:{parts}}}" if parts else f"{{{order}}}"


def _layout_parts(layout: Message) -> Iterable[str]:
    """Yield the parts of a layout in XLA's order."""
    if layout.dim_level_types:
        levels = enumerate(layout.dim_level_types)
        yield f"D({','.join(_level_text(layout, *level) for level in levels)})"
    if layout.tiles:
        yield "T"
        for tile in layout.tiles:
            sizes = ["*" if size == _UNBOUNDED else str(size) for size in tile.dimensions]
            yield f"({','.join(sizes)})"
    if layout.tail_padding_alignment_in_elements > 1:
        yield f"L({layout.tail_padding_alignment_in_elements})"
    if layout.index_primitive_type:
        yield f"#({_type_name(layout.index_primitive_type)})"
    if layout.pointer_primitive_type:
        yield f"*({_type_name(layout.pointer_primitive_type)})"
    if layout.element_size_in_bits:
        yield f"E({layout.element_size_in_bits})"
    if layout.memory_space:
        yield f"S({layout.memory_space})"
    if layout.split_configs:
        yield "SC"
        for split in layout.split_configs:
            yield f"({split.dimension}:{','.join(map(str, split.split_indices))})"
    if layout.HasField("physical_shape"):
        yield f"P({_shape(layout.physical_shape).text})"
    if layout.dynamic_shape_metadata_prefix_bytes:
        yield f"M({layout.dynamic_shape_metadata_prefix_bytes})"


def _level_text(layout: Message, number: int, level: int) -> str:
    text = _LEVELS[level] if 0 <= level < len(_LEVELS) else "?"
    if number < len(layout.dim_unique) and not layout.dim_unique[number]:
        text += "+"
    if number < len(layout.dim_ordered) and not layout.dim_ordered[number]:
        text += "~"
    return text
