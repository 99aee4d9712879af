"""Bytes of arrays in tiled layouts."""

import pytest

from xlagraph.hlo.shapes import parse_shape
from xlagraph.hlo.tiles import tiled_bytes


@pytest.mark.parametrize(
    ("shape", "lengths", "expected"),
    [
        ("f32[16,3]{1,0:T(8,128)}", (16, 3), 16 * 128 * 4),
        ("f32[16,3]{0,1:T(4,128)}", (16, 3), 4 * 128 * 4),
        ("bf16[9,256]{1,0:T(8,128)(2,1)S(1)}", (9, 256), 16 * 256 * 2),
        ("bf16[9,256]{1,0:T(8,128)(2,1)S(1)}", (5, 128), 8 * 128 * 2),
        ("f32[5,100]{1,0:T(1,128)}", (5, 100), 5 * 128 * 4),
        ("s32[100]{0:T(1024)}", (100,), 1024 * 4),
        ("s32[100]{0}", (100,), None),
        ("f32[]{:T(128)}", (), None),
    ],
)
def test_dimensions_are_padded_to_whole_tiles(shape, lengths, expected):
    assert tiled_bytes(parse_shape(shape), lengths) == expected
