"""Names of memory spaces, which a dump only numbers."""

from collections.abc import Mapping
from typing import Final

from xlagraph.ingest.plan import Plan

HOST: Final = 5
"""Color of the host's memory on every platform: `Layout::kHostMemorySpace` in xla/layout.h."""
_SPACES: Final[Mapping[int, str]] = {HOST: "host"}
_SPACES_OF_GPU: Final[Mapping[int, str]] = {1: "collective memory", **_SPACES}
"""XLA puts buffers of collectives that NCCL or NVSHMEM registers into color 1."""
_SPACES_OF_TPU: Final[Mapping[int, str]] = {
    0: "HBM",
    1: "VMEM",
    2: "sync flag",
    3: "CMEM",
    4: "SMEM",
    6: "workspace register",
    7: "SparseCore private stack HBM",
    8: "SparseCore semaphore",
    9: "pinned HBM",
    **_SPACES,
}
"""Names in XProf, and in the colors that JAX gives Pallas kernels.

XLA's usage reports call 2 `smem`, but it holds the semaphores of asynchronous operations.
"""


def memory_space_names(plan: Plan, *, is_gpu: bool) -> Mapping[int, str]:
    """Return the known names of memory spaces by color."""
    if is_gpu:
        return _SPACES_OF_GPU
    return _SPACES_OF_TPU if shown_platform(plan) == "tpu" else _SPACES


def shown_platform(plan: Plan) -> str | None:
    """Return ``tpu`` if a layout of the plan has tiles, as only TPUs use them; else None."""
    return "tpu" if any(":T(" in value.shape.text for value in plan.values) else None
