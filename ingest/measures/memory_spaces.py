"""Names of memory spaces, which a dump only numbers."""

from collections.abc import Mapping
from typing import Final

from xlagraph.ingest.plan import Plan

__all__ = ["memory_space_names", "shown_platform"]

_SPACES: Final[Mapping[int, str]] = {5: "host"}
"""`Layout::kHostMemorySpace` (xla/layout.h): the host's memory, on every platform."""
_SPACES_OF_TPU: Final[Mapping[int, str]] = {0: "HBM", 1: "VMEM", 2: "SMEM", **_SPACES}
"""XLA has no names for the others: libtpu's own usage reports call 6 `color_6`."""


def memory_space_names(plan: Plan) -> Mapping[int, str]:
    """Return the known names of memory spaces by color."""
    return _SPACES_OF_TPU if shown_platform(plan) == "tpu" else _SPACES


def shown_platform(plan: Plan) -> str | None:
    """Return ``tpu`` if a layout of the plan has tiles, as only TPUs use them; else None."""
    return "tpu" if any(":T(" in value.shape.text for value in plan.values) else None
