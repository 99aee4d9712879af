"""Plan a function's memory: compile it, never run it."""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal

from xlagraph.jax.compiling import compile_lowered, lower
from xlagraph.jax.function_plan import FunctionPlan
from xlagraph.jax.target_devices import devices_of

_GPU_OPTIONS: Final = {
    "xla_gpu_enable_latency_hiding_scheduler": False,
    "xla_gpu_enable_analytical_sol_latency_estimator": False,
}
_FIRST_WITH_TYPE: Final = (0, 9, 1)
"""First jaxlib whose CPU compiler knows the type of its scheduler."""


def memory_plan(
    function: Callable[..., Any],
    *arguments: Any,  # noqa: ANN401 - pytrees
    topology: str | Path | None = None,
    name: str | None = None,
    schedule: Literal["memory"] | None = None,
    **jit_options: Any,  # noqa: ANN401 - those of `jax.jit`
) -> FunctionPlan:
    """Compile a function, and return the memory plan that XLA makes for it; nothing runs.

    Arguments are arrays, `jax.ShapeDtypeStruct`s or pytrees of them. Options are those of
    `jax.jit`; they replace the options of a jitted function. ``topology`` compiles for other
    hardware, which need not be present; `devices_of` describes its names. ``name`` is the run of
    the plan, by default the function's name. ``schedule="memory"`` compiles in the order of
    instructions that saves memory, which on a CPU is nearer to what other hardware needs.

    A plan that the compiler rejected because it does not fit is returned, too: see `error`.
    Raises NoTarget, NoPlan, JAX's error if it cannot compile, and ValueError if there is no such
    order for the hardware.
    """
    import jax

    device = None if topology is None else devices_of(topology)[0]
    lowered = lower(function, arguments, jit_options, device)
    holds_plan = topology is None and jax.default_backend() == "cpu"
    platform = jax.default_backend() if device is None else device.platform
    options = {} if schedule is None else _options_of_schedule(schedule, platform)
    compiled = compile_lowered(lowered, name or name_of(function), options, holds_plan=holds_plan)
    return FunctionPlan(compiled.files, compiled.error)


def _options_of_schedule(schedule: Literal["memory"], platform: str) -> Mapping[str, str | bool]:
    """Return the options with which XLA orders instructions to save memory.

    Raises ValueError if there is no such order for a platform.
    """
    if schedule != "memory":
        raise ValueError(f"expected the schedule 'memory', found {schedule!r}")
    if platform in ("gpu", "cuda", "rocm"):
        return _GPU_OPTIONS
    if platform != "cpu":
        raise ValueError(f"there is no memory-optimized order for {platform}, only for CPU and GPU")
    if tuple(map(int, version("jaxlib").split(".")[:3])) >= _FIRST_WITH_TYPE:
        return {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
    return {"xla_cpu_enable_concurrency_optimized_scheduler": False}


def name_of(function: Callable[..., Any]) -> str:
    """Return a function's name; for a partial one, of the function it wraps."""
    wrapped = getattr(function, "func", function)
    return str(getattr(wrapped, "__name__", type(wrapped).__name__))
