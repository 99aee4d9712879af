"""Rows about the embedded engine: whole ingest, small dumps, one more into a large graph."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from measure import Measured, in_child, median_seconds
from references import copy_file
from settings import Settings
from table import Row, growth_row, ratio_row, shown_row, skipped_row

COPY = "COPY of the same rows"


def rows(settings: Settings) -> Iterator[Row]:
    """Measure ingest against the engine's own COPY, and against copying the file."""
    seconds = []
    for values in settings.folder_values:
        folder = settings.training_folder(values)
        found = [_ingest(settings, folder) for _ in range(settings.repeats)]
        seconds.append(_median(found))
    yield _against_copy(settings, f"ingest, {values:,} values", folder, seconds[-1], 2)
    yield growth_row("ingest", settings.folder_values, seconds)
    per_second = found[-1].answer["rows"] / seconds[-1]
    yield shown_row("ingest", f"{per_second:,.0f} rows/s", f"{found[-1].answer['rows']:,} rows")
    yield from _small(settings)
    yield _one_more(settings)


def graph_of(settings: Settings, values: int) -> Path:
    """Give a graph of a folder of training steps, made on first use."""
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
    found = [_ingest(settings, folder) for _ in range(settings.repeats)]
    count = found[0].answer["compilations"]
    yield _against_copy(settings, f"{what} ({count})", folder, _median(found), 2)


def _one_more(settings: Settings) -> Row:
    large = graph_of(settings, settings.folder_values[-1])
    more = settings.training_step(39, module_id=9000)  # 5,000 values
    found = []
    graph = settings.work / "one-more.lbug"
    for _ in range(settings.repeats):
        shutil.copyfile(large, graph)
        found.append(in_child("ingest", graph, more))
    target = settings.work / "copied.lbug"
    copied = median_seconds(settings.repeats, lambda: copy_file(large, target))
    size = large.stat().st_size / 2**20
    graph.unlink()
    target.unlink()
    return ratio_row(
        f"{found[0].answer['values']:,} values into a graph of {settings.folder_values[-1]:,}",
        _median(found), "copying the file", copied, 3, f"file of {size:,.0f} MiB",
    )  # fmt: skip


def _against_copy(settings: Settings, what: str, folder: Path, seconds: float, goal: float) -> Row:
    recorded = settings.work / "rows"
    graph = settings.work / "recorded.lbug"
    in_child("record", graph, folder, recorded)
    graph.unlink()
    copied = []
    for _ in range(settings.repeats):
        copied.append(in_child("copy_rows", recorded, graph))
        graph.unlink()
    shutil.rmtree(recorded)
    return ratio_row(what, seconds, COPY, _median(copied), goal)


def _ingest(settings: Settings, folder: Path) -> Measured:
    graph = settings.work / "timed.lbug"
    found = in_child("ingest", graph, folder)
    graph.unlink()
    return found


def _median(found: list[Measured]) -> float:
    return sorted(item.seconds for item in found)[len(found) // 2]
