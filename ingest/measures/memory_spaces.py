"""What the numbers of memory spaces stand for; a dump does not say."""

from collections.abc import Mapping
from typing import Final

from xlagraph.ingest.model.plan import Plan

__all__ = ["memory_space_names"]

_SPACES: Final[Mapping[int, str]] = {5: "host"}
"""`Layout::kHostMemorySpace` (xla/layout.h): the host's memory, on every platform."""
_SPACES_OF_TPU: Final[Mapping[int, str]] = {0: "HBM", 1: "VMEM", 2: "SMEM", **_SPACES}


def memory_space_names(plan: Plan) -> Mapping[int, str]:
    """Return the names of memory spaces that are known, by color."""
    # Only TPUs lay arrays out in tiles.
    is_tpu = any(":T(" in value.shape for value in plan.values)
    return _SPACES_OF_TPU if is_tpu else _SPACES
