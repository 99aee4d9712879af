"""Sizes of arrays in tiled layouts, as TPUs pad them.

    f32[16,3]{1,0:T(8,128)}      a tile of 8 x 128 elements holds the last two dimensions

The first tile splits the innermost dimensions, each next one the tile before. Dimensions are padded
to whole tiles (docs/tiled_layout.md of OpenXLA).
"""

import re
from collections.abc import Sequence
from math import prod
from typing import Final

from xlagraph.hlo.shapes import Shape

# {2,1,0:T(8,128)(2,1)S(1)}: the order, innermost first, and the tiles
_TILED: Final = re.compile(r"\{([\d,]*):T((?:\([\d,]+\))+)")


def tiled_bytes(shape: Shape, lengths: Sequence[int]) -> int | None:
    """Return the bytes of an array with these lengths in the layout of a shape.

    None if it is not tiled, or if the tiles or the type are unknown.
    """
    found = _TILED.match(shape.layout or "")
    bits = shape.packed_bits or 8 * shape.element_bytes
    if found is None or not bits:
        return None
    order, tiles = found.groups()
    inside = [lengths[int(number)] for number in order.split(",")[::-1] if number]
    for tile in tiles[1:-1].split(")("):
        sizes = [int(size) for size in tile.split(",")]
        if len(sizes) > len(inside):
            return None
        outside, split = inside[: -len(sizes)], inside[-len(sizes) :]
        inside = [
            *outside,
            *(-(-length // size) for length, size in zip(split, sizes, strict=True)),
            *sizes,
        ]
    return prod(inside) * bits // 8
