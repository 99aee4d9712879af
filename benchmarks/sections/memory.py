"""Rows about memory: a folder ten times larger, a single large file."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import peak_bytes_in_child
from benchmarks.references.embedded import POOL_BYTES
from benchmarks.settings import Settings
from benchmarks.table import Row, memory_row


def rows(settings: Settings) -> Iterator[Row]:
    """Measure an ingest's peak with all its child processes."""
    values = settings.folder_values[-1]
    small = _peak(settings, settings.training_folder(values // 10))
    large = _peak(settings, settings.training_folder(values))
    yield memory_row(
        f"peak memory, ingest of {values:,} values", large, f"of {values // 10:,}", small, 1.1,
        "engine's pool of up to 1 GiB included",
    )  # fmt: skip
    yield _single(settings, "long lines", settings.wide_loop(140))
    if settings.full:
        yield _single(settings, "short lines", settings.training_step(1900))


def _single(settings: Settings, what: str, folder: Path) -> Row:
    peak = _peak(settings, folder)
    return memory_row(
        f"peak memory, one file of 140 MB, {what}", peak, "engine's pool", POOL_BYTES, 2,
        "as much again for the process",
    )  # fmt: skip


def _peak(settings: Settings, folder: Path) -> int:
    return peak_bytes_in_child("ingest", settings.fresh("memory.lbug"), folder)
