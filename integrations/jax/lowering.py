"""From a function and its arguments to what JAX lowers: abstract, for any device."""

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
    """Lower a function for the default device, or for another; nothing runs.

    Without options a function that is jitted is lowered as it is; options replace its own.
    Arguments for another device become shapes on it, unless they name a sharding or the
    options name `in_shardings`.
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
    """Return a shape on a device for an array; what is not an array stays as it is."""
    import jax
    from jax.sharding import SingleDeviceSharding

    if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
        return leaf
    if isinstance(leaf, jax.ShapeDtypeStruct) and leaf.sharding is not None:
        return leaf
    shape: Any = jax.ShapeDtypeStruct
    return shape(leaf.shape, leaf.dtype, sharding=SingleDeviceSharding(device))
