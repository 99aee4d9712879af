"""What the numbers of memory spaces stand for; a dump does not say."""

from collections.abc import Mapping
from typing import Final

from xlagraph.ingest.model.plan import Plan

__all__ = ["memory_space_names", "shown_platform"]

_SPACES: Final[Mapping[int, str]] = {5: "host"}
"""`Layout::kHostMemorySpace` (xla/layout.h): the host's memory, on every platform."""
_SPACES_OF_TPU: Final[Mapping[int, str]] = {0: "HBM", 1: "VMEM", 2: "SMEM", **_SPACES}
"""XLA has no names for the others: libtpu's own usage reports call 6 `color_6`."""


def memory_space_names(plan: Plan) -> Mapping[int, str]:
    """Return the names of memory spaces that are known, by color."""
    return _SPACES_OF_TPU if shown_platform(plan) == "tpu" else _SPACES


def shown_platform(plan: Plan) -> str | None:
    """Return the platform that the layouts of a plan show: only TPUs lay arrays out in tiles."""
    return "tpu" if any(":T(" in value.shape for value in plan.values) else None
