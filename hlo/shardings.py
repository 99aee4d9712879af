"""Read how an array is split over devices, in both notations of XLA.

With tiles of devices, of which two hold the same one here, with the axes of a mesh (since mid
2026), and with a part of an axis:

    {devices=[4,1,2]<=[8] last_tile_dim_replicate}
    {mesh['x'=4,'y'=2], [{'x'}, {}], replicated={'y'}}
    {mesh['x'=8], [{'x':(1)4}, {?}]}
"""

import re
from math import prod
from typing import Final

_TILES: Final = re.compile(r"\{devices=\[([\d,]+)\]")
_KINDS_OF_LAST_TILES: Final = re.compile(r"last_tile_dims=\{([^}]*)\}")
_NAMED: Final = re.compile(r"\{mesh\[([^\]]*)\](?:, device_ids=\([^)]*\))?(?:, \[([^\]]*)\])?")
_SIZE: Final = re.compile(r"'([^']*)'=(\d+)")
_DIMENSION: Final = re.compile(r"\{([^}]*)\}")
_AXIS: Final = re.compile(r"'([^']*)'(?::\(\d+\)(\d+))?")


def split_dimensions(sharding: str) -> tuple[int, ...] | None:
    """Return the number of parts of each dimension; none if every device holds the whole array.

    None if the text does not say it: for one device, a tuple, or sums that are not complete.
    """
    if sharding == "{replicated}":
        return ()
    if tiles := _TILES.match(sharding):
        parts = tuple(map(int, tiles[1].split(",")))
        kinds = _KINDS_OF_LAST_TILES.search(sharding)
        others = kinds[1].count(",") + 1 if kinds else "last_tile_dim_replicate" in sharding
        return parts[: len(parts) - others]
    named = _NAMED.match(sharding)
    if named is None or "unreduced=" in sharding:
        return None
    sizes = {name: int(size) for name, size in _SIZE.findall(named[1])}
    return tuple(
        prod(int(part) if part else sizes[name] for name, part in _AXIS.findall(axes))
        for axes in _DIMENSION.findall(named[2] or "")
    )


def part_count(sharding: str | None) -> int | None:
    """Return the number of different parts on the devices; 1 if each holds the whole array."""
    parts = None if sharding is None else split_dimensions(sharding)
    return None if parts is None else prod(parts)
