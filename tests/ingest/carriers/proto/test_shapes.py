"""Shapes are printed in the notation of XLA; their sizes exclude padding."""

from dataclasses import astuple

import pytest
from google.protobuf.text_format import Parse

from xlagraph.hlo.proto_messages import ShapeProto
from xlagraph.hlo.shapes import parse_shape
from xlagraph.ingest.carriers.proto.shape_messages import shape_of

ARRAY = "element_type: F32 dimensions: 8 dimensions: 128"
LAYOUT = "minor_to_major: 1 minor_to_major: 0"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("element_type: F32", "f32[]"),
        ("element_type: F32 layout {}", "f32[]"),
        ("element_type: U32 layout { memory_space: 2 }", "u32[]{:S(2)}"),
        (ARRAY, "f32[8,128]"),
        (f"{ARRAY} layout {{ {LAYOUT} }}", "f32[8,128]{1,0}"),
        (
            (
                f"{ARRAY} layout {{ {LAYOUT} tiles {{ dimensions: 8 dimensions: 128 }}"
                " tiles { dimensions: 2 dimensions: 1 } element_size_in_bits: 4 memory_space: 1 }"
            ),
            "f32[8,128]{1,0:T(8,128)(2,1)E(4)S(1)}",
        ),
        (
            f"{ARRAY} layout {{ {LAYOUT} tail_padding_alignment_in_elements: 1 }}",
            "f32[8,128]{1,0}",
        ),
        (
            (
                f"{ARRAY} layout {{ {LAYOUT} tail_padding_alignment_in_elements: 2"
                " index_primitive_type: U8 pointer_primitive_type: U32"
                " split_configs { dimension: 0 split_indices: 4 split_indices: 6 } }"
            ),
            "f32[8,128]{1,0:L(2)#(u8)*(u32)SC(0:4,6)}",
        ),
        (
            (
                f"{ARRAY} layout {{ {LAYOUT} dim_level_types: 0 dim_level_types: 1 dim_unique: true"
                " dim_unique: false physical_shape { element_type: S8 dimensions: 4 }"
                " dynamic_shape_metadata_prefix_bytes: 16 }"
            ),
            "f32[8,128]{1,0:D(D,C+)P(s8[4])M(16)}",
        ),
        (
            (
                "element_type: S32 dimensions: 4 dimensions: -9223372036854775808"
                " is_dynamic_dimension: true is_dynamic_dimension: true"
            ),
            "s32[<=4,?]",
        ),
        ("element_type: TOKEN layout {}", "token[]"),
        ("element_type: OPAQUE_TYPE", "opaque[]"),
        ("element_type: BUFFER tuple_shapes { element_type: F32 dimensions: 4 }", "b(f32[4])"),
        ("element_type: F8E4M3B11FNUZ dimensions: 2", "f8e4m3b11fnuz[2]"),
        ("element_type: TUPLE", "()"),
        (
            "element_type: TUPLE" + " tuple_shapes { element_type: PRED }" * 6,
            "(pred[], pred[], pred[], pred[], pred[], /*index=5*/pred[])",
        ),
    ],
)
def test_a_shape_is_printed_with_its_layout(message: str, text: str):
    found = shape_of(Parse(message, ShapeProto()))
    assert found.text == text
    assert astuple(found) == astuple(parse_shape(text))


def test_an_unknown_type_is_printed_as_its_number():
    assert shape_of(ShapeProto(element_type=77, dimensions=[2])).text == "type<77>[2]"


def test_the_layout_can_be_omitted():
    shape = Parse(f"{ARRAY} layout {{ {LAYOUT} }}", ShapeProto())
    assert shape_of(shape).bare == "f32[8,128]"


@pytest.mark.parametrize(
    ("message", "size"),
    [
        ("element_type: F32", 4),
        (ARRAY, 4096),
        ("element_type: PRED dimensions: 3", 3),
        ("element_type: C128 dimensions: 3", 48),
        ("element_type: S4 dimensions: 3", 3),
        ("element_type: S4 dimensions: 3 layout { element_size_in_bits: 4 }", 2),
        ("element_type: BF16 dimensions: 3 dimensions: 0", 0),
        ("element_type: TOKEN", 0),
        ("element_type: OPAQUE_TYPE", 8),
        ("element_type: TUPLE tuple_shapes { element_type: F32 } tuple_shapes {}", 16),
    ],
)
def test_the_size_of_a_shape_is_that_of_its_elements_or_pointers(message: str, size: int):
    assert shape_of(Parse(message, ShapeProto())).stored_bytes == size


def test_the_shape_at_an_index_is_that_element():
    message = Parse(
        "element_type: TUPLE tuple_shapes {} tuple_shapes { element_type: TUPLE"
        " tuple_shapes { element_type: S8 } }",
        ShapeProto(),
    )
    shape = shape_of(message)
    assert shape.at((1, 0)).text == "s8[]"
    with pytest.raises(IndexError):
        shape.at((2,))
