"""Plan the memory of a function: compile it, never run it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from xlagraph.jax.compiling import compile_lowered
from xlagraph.jax.function_plan import FunctionPlan
from xlagraph.jax.lowering import lower
from xlagraph.jax.target_devices import devices_of

__all__ = ["memory_plan", "name_of"]


def memory_plan(
    function: Callable[..., Any],
    *arguments: Any,  # noqa: ANN401 - pytrees
    topology: str | Path | None = None,
    name: str | None = None,
    **jit_options: Any,  # noqa: ANN401 - those of `jax.jit`
) -> FunctionPlan:
    """Compile a function, and return the memory plan that XLA makes for it; nothing runs.

    Arguments are arrays, `jax.ShapeDtypeStruct`s or pytrees of them; options are those of
    `jax.jit`, and replace those of a function that is jitted. ``topology`` compiles for hardware
    that is not there, as `devices_of` names it. ``name`` is the run of the plan, by default the
    function's.

    A plan that the compiler refused because it does not fit is returned too: see `error`.
    Raises what JAX raises where it cannot compile, NoTarget and NoPlan.
    """
    import jax

    device = None if topology is None else devices_of(topology)[0]
    lowered = lower(function, arguments, jit_options, device)
    holds_plan = topology is None and jax.default_backend() == "cpu"
    compiled = compile_lowered(lowered, name or name_of(function), holds_plan=holds_plan)
    return FunctionPlan(compiled.files, compiled.error)


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function, also of a partial one."""
    wrapped = getattr(function, "func", function)
    return str(getattr(wrapped, "__name__", type(wrapped).__name__))
