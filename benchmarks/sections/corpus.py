"""Rows about whole folders: processor time of preparing, by compilation and by megabyte."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import median_in_child
from benchmarks.settings import Settings
from benchmarks.table import Row, format_seconds, shown_row, skipped_row


def rows(settings: Settings) -> Iterator[Row]:
    """Measure a folder of one large dump, and real folders of many small ones."""
    yield _prepared(settings, "one step of 5,000 values", settings.training_folder(5000))
    for name in ("runs", "versions"):
        folder = settings.dumps(name)
        if folder is None:
            yield skipped_row(f"prepare, dumps/{name}", "no real dumps here")
        else:
            yield _prepared(settings, f"dumps/{name}", folder)


def _prepared(settings: Settings, what: str, folder: Path) -> Row:
    measured = median_in_child(settings.repeats, "prepare", folder)
    count, megabytes = measured.answer["compilations"], measured.answer["bytes"] / 1e6
    each, of_a_megabyte = measured.seconds / count, measured.seconds / megabytes
    return shown_row(
        f"prepare, {what}: {count} compilations, {megabytes:.3g} MB",
        format_seconds(measured.seconds),
        f"{format_seconds(each)} a compilation, {format_seconds(of_a_megabyte)} a MB, one process",
    )
