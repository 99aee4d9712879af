"""Print a parameter's sharding in the notation of XLA.

XLA prints it with `HloSharding::Print` and `TileAssignment::Print` (xla/hlo/ir). Since mid 2026,
a named sharding can replace all the other fields.
"""

from collections.abc import Iterable
from typing import Final

from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.shapes import listed

_KINDS: Final = (
    "replicated", "maximal", "tuple", "other", "manual", "unknown", "unreduced",
)  # fmt: skip
_MAXIMAL: Final = 1
_TUPLE: Final = 2
_OTHER: Final = 3
_REPLICATED: Final = 0


def sharding_text(sharding: Message) -> str:
    """Return the text of a sharding, with braces."""
    if sharding.HasField("named_sharding"):
        return _named(sharding.named_sharding)
    kind = sharding.type
    if kind == _TUPLE:
        return f"{{{listed(map(sharding_text, sharding.tuple_shardings))}}}"
    group = ""
    if sharding.is_shard_group:
        group = f" shard_{'like' if sharding.shard_group_type else 'as'} {sharding.shard_group_id}"
    if kind == _MAXIMAL:
        devices = list(sharding.tile_assignment_devices)
        return f"{{maximal device={devices[0] if devices else 0}{group}}}"
    if kind != _OTHER:
        name = _KINDS[kind] if 0 <= kind < len(_KINDS) else "unknown"
        return f"{{{name}{group}}}"
    return f"{{{_tiles(sharding)}{_last_dimensions(sharding)}{group}}}"


def _tiles(sharding: Message) -> str:
    text = f"devices=[{_numbers(sharding.tile_assignment_dimensions)}]"
    if not sharding.iota_reshape_dims:
        return text + _numbers(sharding.tile_assignment_devices)
    text += f"<=[{_numbers(sharding.iota_reshape_dims)}]"
    order = list(sharding.iota_transpose_perm)
    return text if order == sorted(order) else f"{text}T({_numbers(order)})"


def _last_dimensions(sharding: Message) -> str:
    kinds = list(sharding.last_tile_dims)
    if sharding.replicate_on_last_tile_dim or kinds == [_REPLICATED]:
        return " last_tile_dim_replicate"
    names = [_KINDS[kind] if 0 <= kind < len(_KINDS) else "unknown" for kind in kinds]
    return f" last_tile_dims={{{', '.join(names)}}}" if names else ""


def _numbers(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _named(sharding: Message) -> str:
    if sharding.tuple_shardings:
        return f"{{{listed(map(_named, sharding.tuple_shardings))}}}"
    mesh = sharding.mesh
    axes = ", ".join(f"'{axis.name}'={axis.size}" for axis in mesh.axes)
    devices = f", device_ids=({_numbers(mesh.device_ids)})" if mesh.device_ids else ""
    text = f"mesh[{axes}]{devices}"
    if sharding.dim_shardings:
        text += f", [{', '.join(_dimension(each, mesh) for each in sharding.dim_shardings)}]"
    for name, found in (
        ("replicated", sharding.replicated_axes),
        ("unreduced", sharding.unreduced_axes),
    ):
        if found:
            text += f", {name}={{{', '.join(_axis(axis, mesh) for axis in found)}}}"
    is_bare = not (sharding.dim_shardings or sharding.replicated_axes or sharding.unreduced_axes)
    return f"{{{text}, replicated}}" if is_bare else f"{{{text}}}"


def _dimension(dimension: Message, mesh: Message) -> str:
    axes = [_axis(axis, mesh) for axis in dimension.axes]
    return f"{{{', '.join([*axes, *([] if dimension.is_closed else ['?'])])}}}"


def _axis(axis: Message, mesh: Message) -> str:
    number = axis.mesh_axis_index
    name = mesh.axes[number].name if 0 <= number < len(mesh.axes) else str(number)
    if not axis.HasField("sub_axis_info"):
        return f"'{name}'"
    return f"'{name}':({axis.sub_axis_info.pre_size}){axis.sub_axis_info.size}"
