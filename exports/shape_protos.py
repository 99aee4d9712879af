"""Write shapes as XLA's protobuf messages.

Of a layout, the tiles `T(8,128)`, the element bits `E(4)` and the memory space `S(1)` are written.
"""

import re
from functools import lru_cache
from typing import Final

from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.proto_messages import PrimitiveType, ShapeProto
from xlagraph.hlo.shapes import Shape, parse_shape

__all__ = ["shape_proto"]

_TILES: Final = re.compile(r"T((?:\([\d,]*\))+)")
_MEMORY_SPACE: Final = re.compile(r"S\((\d+)\)")
_OPAQUE: Final = "OPAQUE_TYPE"
_UNBOUNDED: Final = -(2**63)


@lru_cache(maxsize=2048)  # a program has few shapes and repeats them
def shape_proto(text: str) -> Message:
    """Return the message of a printed shape; an opaque shape if the text is not a shape."""
    message = ShapeProto()
    _fill(message, parse_shape(text))
    return message


def _fill(message: Message, shape: Shape) -> None:
    """Fill in a shape; a buffer is shown as the array that it holds."""
    name = (shape.dtype or "").upper()
    message.element_type = name if name in PrimitiveType.values_by_name else _OPAQUE
    for element in shape.elements:
        _fill(message.tuple_shapes.add(), element)
    for dimension in shape.sizes:
        message.dimensions.append(_UNBOUNDED if dimension.size is None else dimension.size)
        message.is_dynamic_dimension.append(dimension.is_dynamic or dimension.size is None)
    if shape.layout is not None and not shape.elements:
        _fill_layout(message.layout, shape.layout[1:-1], shape.packed_bits)


def _fill_layout(layout: Message, text: str, packed_bits: int | None) -> None:
    order, _, parts = text.partition(":")
    layout.minor_to_major.extend(_numbers(order))
    layout.SetInParent()  # that of a scalar has no field of its own
    parts = parts.partition("P(")[0]  # a physical shape has a layout of its own
    if tiles := _TILES.search(parts):
        for tile in re.findall(r"\(([\d,]*)\)", tiles[1]):
            layout.tiles.add(dimensions=_numbers(tile))
    if packed_bits is not None:
        layout.element_size_in_bits = packed_bits
    if space := _MEMORY_SPACE.search(parts):
        layout.memory_space = int(space[1])


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]
