"""The type, layout and dense bytes of a shape."""

import re

import pytest

from xlagraph.hlo.shapes import parse_shape, printed_shape


def facts(text):
    shape = parse_shape(text)
    return shape.bare, shape.layout, shape.dtype, shape.dense_bytes


@pytest.mark.parametrize(
    ("text", "shape", "layout", "dtype", "dense_bytes"),
    [
        ("f32[64,64]{1,0}", "f32[64,64]", "{1,0}", "f32", 16384),
        ("f32[]", "f32[]", None, "f32", 4),
        ("f32[]{:T(128)}", "f32[]", "{:T(128)}", "f32", 4),
        ("u32[]{:S(2)}", "u32[]", "{:S(2)}", "u32", 4),
        ("pred[3]{0}", "pred[3]", "{0}", "pred", 3),
        ("bf16[4,2048]{1,0:T(4,128)(2,1)}", "bf16[4,2048]", "{1,0:T(4,128)(2,1)}", "bf16", 16384),
        ("f32[0,4]{1,0}", "f32[0,4]", "{1,0}", "f32", 0),
        ("c64[2]{0}", "c64[2]", "{0}", "c64", 16),
        ("c128[2]{0}", "c128[2]", "{0}", "c128", 32),
        ("f8e4m3b11fnuz[7]{0}", "f8e4m3b11fnuz[7]", "{0}", "f8e4m3b11fnuz", 7),
    ],
)
def test_an_array_is_parsed_into_its_parts(text, shape, layout, dtype, dense_bytes):
    assert facts(text) == (shape, layout, dtype, dense_bytes)
    assert printed_shape(shape, layout) == text


@pytest.mark.parametrize(
    ("text", "dense_bytes"),
    [
        ("s4[9]{0}", 5),
        ("u4[8,128]{1,0:T(8,128)(8,1)E(4)}", 512),
        ("s2[5]{0}", 2),
        ("f4e2m1fn[3]{0}", 2),
        ("s4[9]{0:E(8)}", 9),
        ("f32[4]{0:P(s8[4]{0:E(4)})}", 16),
    ],
)
def test_small_elements_are_packed_and_the_layout_overrides_the_type(text, dense_bytes):
    assert parse_shape(text).dense_bytes == dense_bytes


@pytest.mark.parametrize(
    ("text", "dimensions"),
    [
        ("f32[8,<=16]{1,0}", (8, 16)),
        ("f32[]", ()),
        ("b(f32[4]{0})", (4,)),
        ("f32[?,8]", None),
        ("(f32[8])", None),
        ("no shape", None),
    ],
)
def test_dimensions_are_known_unless_one_is_unbounded(text, dimensions):
    assert parse_shape(text).dimensions == dimensions


def test_a_tuple_has_elements_which_shape_indices_name():
    shape = parse_shape("(s32[], (f32[2]{0}, /*index=1*/pred[3]{0}))")
    assert [each.text for each in shape.elements] == ["s32[]", "(f32[2]{0}, /*index=1*/pred[3]{0})"]
    assert shape.at((1, 1)).text == "pred[3]{0}"


def test_a_bounded_dimension_counts_as_its_bound():
    assert parse_shape("f32[<=8,4]{1,0}").dense_bytes == 128


@pytest.mark.parametrize(
    "text",
    [
        "f32[?,4]{1,0}",
        "token[]",
        "opaque[]",
        "mystery[4]",
        "(f32[4]{0})",
        "()",
        "f32[4,]",
        "s8[999999999999999999,999999999999999999]",
        "f32[99999999999999999999999]",
    ],
)
def test_dense_bytes_are_unknown_without_fixed_elements_of_known_width(text):
    assert parse_shape(text).dense_bytes is None


def test_a_tuple_keeps_the_layouts_of_its_leaves():
    text = "(s32[], f32[2]{0}, (f32[], /*index=3*/pred[1]{0:T(8,128)S(1)}), ())"
    shape, layout, dtype, _ = facts(text)
    assert shape == "(s32[], f32[2], (f32[], /*index=3*/pred[1]), ())"
    assert layout == "(, {0}, (, {0:T(8,128)S(1)}), ())"
    assert dtype == "tuple"
    assert printed_shape(shape, layout) == text


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("()", None),
        ("(f32[], (s32[]))", None),
        ("(token[], f32[?,<=4]{1,0:D(D,C)L(8)#(u32)*(s8)M(16)})",
         "(, {1,0:D(D,C)L(8)#(u32)*(s8)M(16)})"),
        ("f32[8]{0:SC(1:8)P((s8[2]{0}, s32[]))}", "{0:SC(1:8)P((s8[2]{0}, s32[]))}"),
        ("b(f32[4]{0})", "{0}"),
        ("(b(f32[4]), b(f32[4]{0}))", "(, {0})"),
    ],
)  # fmt: skip
def test_shape_and_layout_render_the_text_back(text, layout):
    found = parse_shape(text)
    assert found.layout == layout
    assert found.dtype is not None
    assert printed_shape(found.bare, found.layout) == text


@pytest.mark.parametrize(
    "text",
    ["", "f32", "f32[4", "(f32[4]", "f32[4]{0", "(f32[4]))", "(f32[4],)", "(, f32[4])", ")(",
     "f32[4] f32[4]", "(f32[4]f32[4])", "f32[4]{0}{0}", "hello world", "(f32[4]), (f32[4])",
     "()()", "(f32[4], )"],
)  # fmt: skip
def test_text_that_is_not_a_shape_is_kept_unchanged(text):
    assert facts(text) == (text, None, None, None)


def test_a_tuple_of_a_hundred_thousand_leaves_is_a_tuple():
    text = f"({', '.join(['f32[2,3]{1,0:T(8,128)}'] * 100_000)})"
    shape, layout, dtype, _ = facts(text)
    assert dtype == "tuple"
    assert printed_shape(shape, layout) == text


def test_every_shape_of_real_dumps_is_parsed_and_rendered_back(real_dumps):
    for path in sorted(path for folder in real_dumps for path in folder.rglob("*.txt")):
        for line in set(re.findall(r"(?m)(?:\)|\]): ([a-z(].+)$", path.read_text("utf-8"))):
            if line.startswith(("(", *"abcfopstu")) and "bytes" not in line:
                found = parse_shape(line)
                assert found.dtype is not None, f"{path}: {line}"
                assert "{" not in found.bare
                assert printed_shape(found.bare, found.layout) == line
