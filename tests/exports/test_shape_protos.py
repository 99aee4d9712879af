"""Printed shapes as XLA's messages."""

import pytest

from xlagraph.exports.hlo_proto import shape_proto
from xlagraph.hlo.proto_messages import PrimitiveType


def type_name(shape) -> str:
    return PrimitiveType.values_by_number[shape.element_type].name


def test_an_array_has_type_dimensions_and_layout() -> None:
    shape = shape_proto("bf16[8,<=16,?]{2,0,1:T(8,128)(2,1)E(4)S(1)}")
    assert type_name(shape) == "BF16"
    assert list(shape.dimensions) == [8, 16, -(2**63)]
    assert list(shape.is_dynamic_dimension) == [False, True, True]
    assert list(shape.layout.minor_to_major) == [2, 0, 1]
    assert [list(tile.dimensions) for tile in shape.layout.tiles] == [[8, 128], [2, 1]]
    assert (shape.layout.element_size_in_bits, shape.layout.memory_space) == (4, 1)


def test_a_physical_shape_within_a_layout_is_ignored() -> None:
    shape = shape_proto("f32[4]{0:P(s8[4]{0:S(3)})}")
    assert list(shape.layout.minor_to_major) == [0]
    assert shape.layout.memory_space == 0


def test_tuples_nest_and_comments_between_elements_are_ignored() -> None:
    shape = shape_proto("(f32[2]{0}, (s32[], pred[3]{0}), /*index=2*/u8[1]{0}, ())")
    assert [type_name(part) for part in shape.tuple_shapes] == ["F32", "TUPLE", "U8", "TUPLE"]
    assert [type_name(part) for part in shape.tuple_shapes[1].tuple_shapes] == ["S32", "PRED"]


def test_a_buffer_is_shown_as_the_array_in_it() -> None:
    shape = shape_proto("(b(f32[4]{0}), f8e4m3fn[2])")
    assert [type_name(part) for part in shape.tuple_shapes] == ["F32", "F8E4M3FN"]


@pytest.mark.parametrize("text", ["token[]", "opaque[]", "f7new[3]", "", "no shape", "f32[2])("])
def test_every_printed_shape_is_converted(text: str) -> None:
    assert type_name(shape_proto(text)) == ("TOKEN" if text == "token[]" else "OPAQUE_TYPE")
