"""Rows about how the time of every command grows with the values that are live together."""

import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from math import log
from pathlib import Path
from typing import Final

from benchmarks.settings import Settings
from benchmarks.table import Row, broken_row, ratio_row, skipped_row

COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "ingest": ("ingest", "{dump}"),
    "advise": ("advise",),
    "query peak/contributors": ("query", "peak/contributors"),
    "value": ("value", "broadcast.1"),
    "whatif --shrink": ("whatif", "--shrink", "*broadcast*=0.5"),
    "order": ("order",),
    "check": ("check",),
    "report": ("report", "--output", "page.html"),
    "export perfetto": ("export", "perfetto", "--output", "out.perfetto"),
    "export pprof": ("export", "pprof", "--output", "out.pb.gz"),
    "export speedscope": ("export", "speedscope", "--output", "out.json"),
    "export minimalloc": ("export", "minimalloc", "--output", "out.csv"),
    "export xprof": ("export", "xprof", "--output", "xprof"),
}
_MOST_SECONDS: Final = 900


def rows(settings: Settings) -> Iterator[Row]:
    """Measure each command on two sizes; the goal is n log n: the ratio of n log n and a tenth."""
    program = Path(sys.executable).with_name("xlagraph")
    if not program.exists():
        yield skipped_row("growth of commands", f"no {program.name} next to this Python")
        return
    small, large = settings.live_values
    goal = 1.1 * large * log(large) / (small * log(small))
    dumps = {live: settings.wide_peak(live) for live in (small, large)}
    graphs = {live: settings.fresh(f"growth-{live}.lbug") for live in dumps}
    for name, command in COMMANDS.items():
        try:
            few, many = (
                _seconds(
                    settings, program, graphs[live], [part.format(dump=dump) for part in command]
                )
                for live, dump in dumps.items()
            )
        except subprocess.SubprocessError as error:
            yield broken_row(f"{name}, {large:,} values live together", str(error)[:200])
            continue
        what = f"{name}, {large:,} values live together"
        yield ratio_row(what, many, f"{small:,} values", few, goal)


def _seconds(settings: Settings, program: Path, graph: Path, command: list[str]) -> float:
    """Run a command with a graph; return its seconds of processor time with start-up.

    Other programs of the machine then count little, and several cores do not hide growth.
    """
    line = [str(program), *command, "--graph", str(graph)]
    before = _child_seconds()
    subprocess.run(line, check=True, capture_output=True, cwd=settings.work, timeout=_MOST_SECONDS)
    return _child_seconds() - before


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
