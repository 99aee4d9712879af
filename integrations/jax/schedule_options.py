"""Options of XLA that choose the order of instructions."""

from collections.abc import Mapping
from typing import Final, Literal

__all__ = ["options_of_schedule"]

_GPU: Final = {
    "xla_gpu_enable_latency_hiding_scheduler": False,
    "xla_gpu_enable_analytical_sol_latency_estimator": False,
}
_FIRST_WITH_TYPE: Final = (0, 10)
"""First jaxlib whose CPU compiler knows the type of its scheduler."""


def options_of_schedule(schedule: Literal["memory"], platform: str) -> Mapping[str, str | bool]:
    """Return the options with which XLA orders instructions to save memory.

    Raises ValueError if there is no such order for a platform.
    """
    if schedule != "memory":
        raise ValueError(f"expected the schedule 'memory', found {schedule!r}")
    if platform in ("gpu", "cuda", "rocm"):
        return _GPU
    if platform != "cpu":
        raise ValueError(f"there is no memory-optimized order for {platform}, only for CPU and GPU")
    from importlib.metadata import version

    if tuple(map(int, version("jaxlib").split(".")[:2])) >= _FIRST_WITH_TYPE:
        return {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
    return {"xla_cpu_enable_concurrency_optimized_scheduler": False}
