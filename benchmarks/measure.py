"""Measures in fresh processes: seconds, peak memory, growth over doubled sizes.

A task is a function of `tasks`, named on the command line of a child; it prepares outside of the
timed part, measures the rest and prints the result as JSON.
"""

import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[1]
SAMPLE_SECONDS = 0.05
PACKAGES = ("xlagraph", "ladybug", "neo4j", "neo4j-rust-ext", "pyarrow", "typer")


class TaskFailed(Exception):
    """An error of a child; the message is its last line, a note has all lines."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Cost of a child."""

    seconds: float
    """Seconds of the timed part."""
    answer: Mapping[str, Any]


def in_child(task: str, *arguments: object) -> Measured:
    """Run one task in a fresh Python; TaskFailed if it fails."""
    return _run(task, arguments, lambda child: child.wait())


def peak_bytes_in_child(task: str, *arguments: object) -> int:
    """Return the peak resident memory of a task's process and all its children together.

    Shared pages count once. The measurement takes a fifth of a processor, so times of such a
    run are useless.
    """
    peak = 0

    def watch(child: "subprocess.Popen[str]") -> None:
        nonlocal peak
        while child.poll() is None:
            peak = max(peak, sum(map(resident_bytes, process_tree(child.pid))))
            time.sleep(SAMPLE_SECONDS)

    measured = _run(task, arguments, watch)
    own_peak: int = measured.answer["peak_bytes"]
    return max(peak, own_peak)


def _run(
    task: str, arguments: Sequence[object], until_end: Callable[["subprocess.Popen[str]"], object]
) -> Measured:
    command = [sys.executable, "-m", "benchmarks.tasks", task, *map(str, arguments)]
    # files, not pipes: nothing reads while the child runs, and it may write much
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(command, cwd=TREE, stdout=out, stderr=err, text=True) as child:
            until_end(child)
        out.seek(0)
        err.seek(0)
        if child.returncode:
            said = err.read().strip()
            *_, last = said.split("\n")
            failure = TaskFailed(f"{task}, exit code {child.returncode}: {last}")
            failure.add_note(said)
            raise failure
        *_, last = out.read().strip().split("\n")
        answer = json.loads(last)
    return Measured(answer["seconds"], answer)


def median_in_child(repeats: int, task: str, *arguments: object) -> Measured:
    """Run a task several times; return the run of median time."""
    return median_run([in_child(task, *arguments) for _ in range(repeats)])


def median_run(runs: Sequence[Measured]) -> Measured:
    """Return the run of median time; of an even number, the slower one in the middle."""
    return sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]


def seconds_of(action: Callable[[], object]) -> float:
    """Return the seconds of an action in this process."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def growth_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Fit ``cost = factor * size ** exponent``: slope of the logarithms, least squares."""
    if len(sizes) != len(costs) or len(set(sizes)) < 2:
        raise ValueError(f"expected costs for two different sizes, got {sizes} and {costs}")
    points = [(math.log(size), math.log(cost)) for size, cost in zip(sizes, costs, strict=True)]
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / spread


def machine() -> dict[str, str]:
    """Return a description of the machine."""
    facts = {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            facts[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            facts[package] = "not installed"
    return facts


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def process_tree(pid: int) -> Iterator[int]:
    """List a process and all its living descendants."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):  # children of each thread
        with suppress(OSError):
            for child in children.read_text().split():
                yield from process_tree(int(child))


def resident_bytes(pid: int) -> int:
    """Return a process's memory, with its part of shared pages; 0 once it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
