"""Print XLA's shapes in its notation, split them, and compute their size.

The functions in XLA are `ShapeUtil::HumanStringWithLayout` and `ByteSizeOf` (xla/shape_util.cc),
and `Layout::Print` (xla/layout.cc). `xlagraph.hlo.shapes` has the grammar of the text.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Final

from xlagraph.ingest.carriers.proto.message_types import Message

__all__ = ["byte_size", "index_text", "is_tuple", "shape_text", "subshape"]

_TUPLE: Final = 13
_OPAQUE: Final = 14
_TOKEN: Final = 17
_BUFFER: Final = 34
_UNBOUNDED: Final = -(2**63)
_POINTER_BYTES: Final = 8
_ELEMENTS_BETWEEN_COMMENTS: Final = 5
_LEVELS: Final = ("D", "C", "S", "H")
"""Letters for dense, compressed, singleton, loosely compressed."""


def is_tuple(shape: Message) -> bool:
    """Return whether a shape is a tuple."""
    return bool(shape.element_type == _TUPLE)


def subshape(shape: Message, index: Iterable[int]) -> Message:
    """Return the shape at an index; raise IndexError if there is none."""
    for element in index:
        if element < 0:
            raise IndexError(element)
        shape = shape.tuple_shapes[element]
    return shape


def index_text(index: Sequence[int]) -> str:
    """Return a shape index in XLA's notation: ``{}``, ``{1,0}``."""
    return "{" + ",".join(map(str, index)) + "}"


def shape_text(shape: Message, *, has_layout: bool = True) -> str:
    """Return a shape in XLA's notation."""
    return _remembered_text(shape.SerializeToString(), has_layout)


@lru_cache(1 << 13)  # a program has few shapes and repeats them
def _remembered_text(serialized: bytes, has_layout: bool) -> str:
    from xlagraph.hlo.proto_messages import ShapeProto

    return _text(ShapeProto.FromString(serialized), has_layout)


def _text(shape: Message, has_layout: bool) -> str:
    kind = shape.element_type
    if kind == _TUPLE:
        elements = []
        for number, element in enumerate(shape.tuple_shapes):
            if number:
                is_counted = number % _ELEMENTS_BETWEEN_COMMENTS == 0
                elements.append(f", /*index={number}*/" if is_counted else ", ")
            elements.append(_text(element, has_layout))
        return f"({''.join(elements)})"
    if kind == _BUFFER and shape.tuple_shapes:
        return f"b({_text(shape.tuple_shapes[0], has_layout)})"
    text = f"{_type_name(kind)}[{','.join(_dimensions(shape))}]"
    if not has_layout or kind in (_TOKEN, _OPAQUE) or not shape.HasField("layout"):
        return text
    layout = _layout_text(shape.layout)
    return text if layout == "{}" and not shape.dimensions else text + layout


@lru_cache
def _type_name(number: int) -> str:
    from xlagraph.hlo.proto_messages import PrimitiveType

    found = PrimitiveType.values_by_number.get(number)
    return f"type<{number}>" if found is None else str(found.name).lower().removesuffix("_type")


def _dimensions(shape: Message) -> list[str]:
    dynamic = list(shape.is_dynamic_dimension)
    texts = []
    for number, size in enumerate(shape.dimensions):
        if size == _UNBOUNDED:
            texts.append("?")
        elif number < len(dynamic) and dynamic[number]:
            texts.append(f"<={size}")
        else:
            texts.append(str(size))
    return texts


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
        yield f"P({_text(layout.physical_shape, has_layout=True)})"
    if layout.dynamic_shape_metadata_prefix_bytes:
        yield f"M({layout.dynamic_shape_metadata_prefix_bytes})"


def _level_text(layout: Message, number: int, level: int) -> str:
    text = _LEVELS[level] if 0 <= level < len(_LEVELS) else "?"
    if number < len(layout.dim_unique) and not layout.dim_unique[number]:
        text += "+"
    if number < len(layout.dim_ordered) and not layout.dim_ordered[number]:
        text += "~"
    return text


def byte_size(shape: Message) -> int:
    """Return the bytes of an array without padding, or of the pointer table of a tuple."""
    kind = shape.element_type
    if kind == _TUPLE:
        return _POINTER_BYTES * len(shape.tuple_shapes)
    if kind == _TOKEN:
        return 0
    if kind == _OPAQUE:
        return _POINTER_BYTES
    elements: int = prod([max(size, 0) for size in shape.dimensions])
    if packed := shape.layout.element_size_in_bits:
        return (elements * int(packed) + 7) // 8
    return elements * _element_bytes(kind)


@lru_cache
def _element_bytes(kind: int) -> int:
    """Return the bytes of an element; the name of its type contains the width in bits."""
    name = _type_name(kind)
    if name == "pred":
        return 1
    digits = ""
    for character in name.lstrip("bcfsu"):
        if not character.isdigit():
            break
        digits += character
    return (int(digits) + 7) // 8 if digits else 0
