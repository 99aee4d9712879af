"""Rows about commands that a person waits for, in turns with another checkout."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

from benchmarks.measure import seconds_of
from benchmarks.settings import Settings
from benchmarks.table import Row, format_seconds, ratio_row, shown_row, skipped_row

LAYERS = (180, 360)
"""Layers of steps of about 23,000 and 46,000 values."""
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "advise": ("advise",),
    "report": ("report", "--output", "page.html"),
    "whatif --shrink": ("whatif", "--shrink", "*broadcast*=0.5"),
    "query peak/contributors": ("query", "peak/contributors"),
}


def rows(settings: Settings) -> Iterator[Row]:
    """Measure each command on each step; with another checkout, also how much longer it takes."""
    here = Path(sys.executable).with_name("xlagraph")
    if not here.exists():
        yield skipped_row("advise, report, whatif, query", f"no {here.name} next to this Python")
        return
    programs = [here] if settings.against is None else [here, settings.against]
    for layers in LAYERS:
        dump = settings.training_step(layers)
        graphs = [settings.fresh(f"waits-{layers}-{turn}.lbug") for turn in range(len(programs))]
        for program, graph in zip(programs, graphs, strict=True):  # each stores its own schema
            _run(settings, program, graph, "ingest", str(dump))
        for name, command in COMMANDS.items():
            times: list[list[float]] = [[] for _ in programs]
            for _ in range(settings.repeats):
                for seconds, program, graph in zip(times, programs, graphs, strict=True):
                    seconds.append(_run(settings, program, graph, *command))
            what = f"{name}, {128 * layers:,} values"
            own, *other = map(median, times)
            if other:
                yield ratio_row(what, own, "other checkout", other[0], None)
            else:
                yield shown_row(what, format_seconds(own), "name another checkout with --against")


def _run(settings: Settings, program: Path, graph: Path, *command: str) -> float:
    """Run a command with a graph; return its seconds with start-up."""
    line = [str(program), *command, "--graph", str(graph)]
    return seconds_of(
        lambda: subprocess.run(
            line, check=True, capture_output=True, cwd=settings.work, env=_environment(settings)
        )
    )


def _environment(settings: Settings) -> Mapping[str, str]:
    """Let the first run write bytecode, as an installer does; else each start compiles."""
    known = {k: each for k, each in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return known | {"PYTHONPYCACHEPREFIX": str(settings.work / "bytecode")}
