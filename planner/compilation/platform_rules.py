"""Rules of memory planning that depend on the platform."""

from collections.abc import Iterable, Mapping
from typing import Final

from xlagraph.planner.compilation.records import StoredValue

GPUS: Final = ("gpu", "rocm")
"""Platforms of GPUs."""
_ALIGNMENTS: Final[Mapping[str | None, tuple[int, ...]]] = {
    "cpu": (64, 16),
    "gpu": (256, 128),
    "rocm": (256, 128),
}
_ALIGNMENTS_OF_OTHERS: Final = (16384, 512, 256, 128, 64, 16, 4)
_WRITTEN_BY_OTHERS: Final = frozenset(("all-gather", "all-to-all"))


def alignments_of(platform: str | None) -> tuple[int, ...]:
    """Return the alignments in bytes that a platform may use; each dump shows which one it uses."""
    return _ALIGNMENTS.get(platform, _ALIGNMENTS_OF_OTHERS)


def written_by_others(values: Iterable[StoredValue]) -> frozenset[int]:
    """Return the values that other TPUs write.

    They lie in a heap, as planned by libtpu 0.0.42, and not in the block of a result. A fusion that
    gathers while it computes has a name for it, and no opcode.
    """
    return frozenset(
        value.value_id
        for value in values
        if value.opcode in _WRITTEN_BY_OTHERS or value.name.startswith("async-collective-")
    )
