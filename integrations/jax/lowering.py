"""Lowering of a function with JAX, for any device, without running it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jax

__all__ = ["lower"]


def lower(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    jit_options: Mapping[str, Any],
    device: "jax.Device | None" = None,
) -> "jax.stages.Lowered":
    """Lower a function for the default device, or for another one; nothing runs.

    Without options a jitted function is lowered unchanged; options replace those it was jitted
    with. Arguments for another device become shapes on it, unless they have a sharding or the
    options contain `in_shardings`.
    """
    import jax

    if device is not None and "in_shardings" not in jit_options:
        arguments = jax.tree.map(lambda leaf: _placed(leaf, device), arguments)
    is_jitted = hasattr(function, "lower")
    if is_jitted and not jit_options:
        lowered: jax.stages.Lowered = function.lower(*arguments)  # type: ignore[attr-defined]
        return lowered
    plain = getattr(function, "__wrapped__", function) if is_jitted else function
    return jax.jit(plain, **jit_options).lower(*arguments)


def _placed(leaf: Any, device: "jax.Device") -> Any:  # noqa: ANN401 - a leaf of any pytree
    """Return a shape on a device for an array; anything else is returned unchanged."""
    import jax
    from jax.sharding import SingleDeviceSharding

    if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
        return leaf
    if isinstance(leaf, jax.ShapeDtypeStruct) and leaf.sharding is not None:
        return leaf
    shape: Any = jax.ShapeDtypeStruct
    return shape(leaf.shape, leaf.dtype, sharding=SingleDeviceSharding(device))
