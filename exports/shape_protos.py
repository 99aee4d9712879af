"""Parses a printed shape into XLA's protobuf message.

    shape = "(" [ shape { ", " shape } ] ")" | "b(" array ")" | array
    array = type "[" dimensions "]" [ "{" order [ ":" parts ] "}" ]

Of a layout, the tiles `T(8,128)`, the element bits `E(4)` and the memory space `S(1)` are read.
"""

import re
from functools import lru_cache
from typing import Any, Final

from xlagraph.hlo.proto_messages import HloProto, PrimitiveType

__all__ = ["index_numbers", "shape_proto"]

_TOKEN: Final = re.compile(
    r"(?P<open>b?\()|(?P<close>\))"
    r"|(?P<type>[a-z][a-z0-9]*)\[(?P<dimensions>[^\]]*)\]"
    r"(?:\{(?P<layout>(?:[^{}]|\{[^{}]*\})*)\})?"
)
_TILES: Final = re.compile(r"T((?:\([\d,]*\))+)")
_ELEMENT_BITS: Final = re.compile(r"E\((\d+)\)")
_MEMORY_SPACE: Final = re.compile(r"S\((\d+)\)")
_OPAQUE: Final = "OPAQUE_TYPE"
_UNBOUNDED: Final = -(2**63)

# fields of messages are known to protobuf, not to mypy
Message = Any


@lru_cache(maxsize=2048)  # a program has few shapes and repeats them
def shape_proto(text: str) -> Message:
    """Return the message of a printed shape; an opaque shape if the text is not a shape."""
    holder = _new_shape()
    stack = [holder]
    for token in _TOKEN.finditer(text):
        if token["open"] == "(":
            stack.append(stack[-1].tuple_shapes.add(element_type="TUPLE"))
        elif token["open"]:  # a buffer is shown as the array that it holds
            stack.append(stack[-1])
        elif token["close"]:
            stack.pop()
        else:
            _fill(stack[-1].tuple_shapes.add(), token)
        if not stack:
            break
    return holder.tuple_shapes[0] if holder.tuple_shapes else _new_shape(_OPAQUE)


def index_numbers(shape_index: str | None) -> list[int]:
    """Return the numbers of a printed shape index such as `{1,0}`."""
    return [int(number) for number in re.findall(r"\d+", shape_index or "")]


def _new_shape(element_type: str = "TUPLE") -> Message:
    shape = HloProto().hlo_module.host_program_shape.result
    shape.element_type = element_type
    return shape


def _fill(shape: Message, array: re.Match[str]) -> None:
    name = array["type"].upper()
    shape.element_type = name if name in PrimitiveType.values_by_name else _OPAQUE
    for dimension in filter(None, array["dimensions"].split(",")):
        bound = dimension.removeprefix("<=")
        shape.dimensions.append(_UNBOUNDED if bound == "?" else int(bound))
        shape.is_dynamic_dimension.append(bound != dimension or bound == "?")
    if array["layout"] is not None:
        _fill_layout(shape.layout, array["layout"])


def _fill_layout(layout: Message, text: str) -> None:
    order, _, parts = text.partition(":")
    layout.minor_to_major.extend(index_numbers(order))
    layout.SetInParent()  # that of a scalar has no field of its own
    parts = parts.partition("P(")[0]  # a physical shape has a layout of its own
    if tiles := _TILES.search(parts):
        for tile in re.findall(r"\(([\d,]*)\)", tiles[1]):
            layout.tiles.add(dimensions=index_numbers(tile))
    if bits := _ELEMENT_BITS.search(parts):
        layout.element_size_in_bits = int(bits[1])
    if space := _MEMORY_SPACE.search(parts):
        layout.memory_space = int(space[1])
