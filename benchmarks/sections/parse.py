"""Rows about text: parse, and parse with derive, against counting the lines."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measure import median_in_child
from benchmarks.settings import Settings, dump_parts
from benchmarks.table import Row, growth_row, ratio_row, skipped_row

LINES = "for line in file"


def rows(settings: Settings) -> Iterator[Row]:
    """Measure files with short lines, with long lines, and a real one of each."""
    short = [settings.training_step(layers) for layers in settings.step_layers]
    yield from _growing(settings, "short lines", short, parse_goal=20, derive_goal=35)
    long = [settings.wide_loop(megabytes) for megabytes in settings.loop_megabytes]
    yield from _growing(settings, "long lines", long, parse_goal=None, derive_goal=4)
    for name, parse_goal, derive_goal in (("carry300", None, 15), ("unrolled24", 20, 35)):
        folder = settings.dumps(f"big/{name}")
        if folder is None:
            yield skipped_row(f"parse + derive, {name}", "no real dumps here")
        else:
            yield from _against_lines(settings, name, folder, parse_goal, derive_goal)[0]


def _growing(
    settings: Settings,
    what: str,
    folders: Sequence[Path],
    parse_goal: float | None,
    derive_goal: float,
) -> Iterator[Row]:
    sizes, costs = [], []
    for folder in folders:
        found, seconds = _against_lines(settings, what, folder, parse_goal, derive_goal)
        sizes.append(_megabytes(folder))
        costs.append(seconds)
    yield from found
    yield growth_row(f"parse + derive, {what}", sizes, costs)


def _against_lines(
    settings: Settings, what: str, folder: Path, parse_goal: float | None, derive_goal: float
) -> tuple[list[Row], float]:
    """Return the rows of one dump, and the seconds of parse and derive."""
    paths = dump_parts(folder)
    size = f"{_megabytes(folder):.3g} MB"
    lines = median_in_child(settings.repeats, "count_lines", *paths).seconds
    found = []
    if parse_goal is not None:
        seconds = median_in_child(settings.repeats, "parse", *paths).seconds
        found.append(ratio_row(f"parse, {what}, {size}", seconds, LINES, lines, parse_goal))
    seconds = median_in_child(settings.repeats, "parse_and_derive", *paths).seconds
    found.append(ratio_row(f"parse + derive, {what}, {size}", seconds, LINES, lines, derive_goal))
    return found, seconds


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in dump_parts(folder)) / 1e6
