"""Rows about memory: a folder ten times larger, a single large file."""

from collections.abc import Iterator
from pathlib import Path

from measure import in_child
from references import POOL_BYTES
from settings import Settings
from table import Row, Verdict, memory_row, spell_bytes

GIBIBYTE = 1 << 30


def rows(settings: Settings) -> Iterator[Row]:
    """Measure peaks of processes: an ingest and all its children together."""
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
    return Row(
        f"peak memory, one file of 140 MB, {what}",
        spell_bytes(peak),
        f"engine's pool: {spell_bytes(POOL_BYTES)}",
        None,
        "< pool + 1,024 MiB",
        Verdict.MET if peak < POOL_BYTES + GIBIBYTE else Verdict.MISSED,
    )


def _peak(settings: Settings, folder: Path) -> int:
    graph = settings.work / "memory.lbug"
    peak = in_child("ingest", graph, folder).peak_bytes
    graph.unlink()
    return peak
