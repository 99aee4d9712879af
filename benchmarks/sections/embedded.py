"""Rows about the embedded engine: whole ingest, small dumps, one more into a large graph."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measure import Measured, in_child, median_run, seconds_of
from benchmarks.references.embedded import copy_file
from benchmarks.settings import Settings
from benchmarks.table import Row, format_seconds, growth_row, ratio_row, shown_row, skipped_row


def rows(settings: Settings) -> Iterator[Row]:
    """Measure ingest against the engine's COPY, and against copying the file."""
    seconds = []
    for values in settings.folder_values:
        folder = settings.training_folder(values)
        found = [_ingest(settings, folder) for _ in range(settings.repeats)]
        seconds.append(median_run(found).seconds)
    yield _against_copy(settings, f"ingest, {values:,} values", folder, seconds[-1])
    yield growth_row("ingest", settings.folder_values, seconds)
    count = found[-1].answer["rows"]
    yield shown_row("ingest", f"{count / seconds[-1]:,.0f} rows/s", f"{count:,} rows")
    yield from _small(settings)
    yield from _one_more(settings)


def graph_of(settings: Settings, values: int) -> Path:
    """Return a graph of a folder of training steps, made on first use."""
    path = settings.work / f"graph-{values}.lbug"
    if not path.exists():
        in_child("ingest", path, settings.training_folder(values))
    return path


def _small(settings: Settings) -> Iterator[Row]:
    folder = settings.dumps("runs")
    what = "ingest of small compilations"
    if folder is None:
        yield skipped_row(what, "no real dumps here")
        return
    found = median_run([_ingest(settings, folder) for _ in range(settings.repeats)])
    count = found.answer["compilations"]
    yield _against_copy(settings, f"{what} ({count})", folder, found.seconds)


def _one_more(settings: Settings) -> Iterator[Row]:
    values = settings.folder_values[-1]
    large = graph_of(settings, values)
    more = settings.training_step(39, module_id=9000)  # 5,000 values
    rows = settings.fresh("rows")
    copied: list[float] = []

    def on_a_copy(task: str, *arguments: object) -> Measured:
        graph = settings.fresh("one-more.lbug")
        copied.append(seconds_of(lambda: copy_file(large, graph)))
        return in_child(task, graph, *arguments)

    on_a_copy("record", more, rows)
    whole = median_run([on_a_copy("ingest", more) for _ in range(settings.repeats)])
    alone = median_run([on_a_copy("add_rows", rows) for _ in range(settings.repeats)])
    size = large.stat().st_size / 2**20
    what = f"{whole.answer['values']:,} values into a graph of {values:,}"
    yield ratio_row(
        what, whole.seconds, "copying the file", median(copied), 3, f"file of {size:,.0f} MiB"
    )
    checkpoint = format_seconds(alone.answer["checkpoint_seconds"])
    yield ratio_row(
        f"{what}: what the engine takes", alone.seconds, "copying the file", median(copied), None,
        f"the same rows into a copy that is there, CHECKPOINT {checkpoint} of it",
    )  # fmt: skip


def _against_copy(settings: Settings, what: str, folder: Path, seconds: float) -> Row:
    rows = settings.fresh("rows")
    in_child("record", settings.fresh("recorded.lbug"), folder, rows)
    copied = median_run(
        [
            in_child("copy_rows", settings.fresh("copied.lbug"), rows)
            for _ in range(settings.repeats)
        ]
    )
    return ratio_row(what, seconds, "COPY of the same rows", copied.seconds, 2)


def _ingest(settings: Settings, folder: Path) -> Measured:
    return in_child("ingest", settings.fresh("timed.lbug"), folder)
