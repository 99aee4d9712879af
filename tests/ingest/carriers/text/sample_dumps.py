"""The samples of the generations of the format, by name."""

from pathlib import Path
from typing import Final

from xlagraph.ingest.carriers.text.text import DumpPart

SAMPLES: Final = Path(__file__).parent / "samples"
SUFFIXES: Final = ("-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt")
"""Endings of the files of one dump; the first file always exists."""
NAMES: Final = sorted(
    path.name.removesuffix(SUFFIXES[0]) for path in SAMPLES.glob(f"*{SUFFIXES[0]}")
)


def paths_of(allocations: Path) -> list[Path]:
    """Return the existing files of a dump, found by its first file."""
    stem = allocations.name.removesuffix(SUFFIXES[0])
    paths = [allocations, *(allocations.with_name(stem + suffix) for suffix in SUFFIXES[1:])]
    return [path for path in paths if path.exists()]


def parts_of(name: str) -> tuple[DumpPart, ...]:
    """Return the parts of a sample."""
    paths = paths_of(SAMPLES / f"{name}{SUFFIXES[0]}")
    return tuple(DumpPart(path.name, path.read_text("utf-8")) for path in paths)


def sample(name: str) -> str:
    """Return the text of a sample, or of its first file."""
    return (SAMPLES / f"{name}{SUFFIXES[0]}").read_text("utf-8")


NEW = sample("jaxlib-0.9.2")
GLUED = sample("jaxlib-0.4.30")
LOGICAL = sample("tensorflow-1.14")
MULTI_LINE = sample("tensorflow-1.15")
UNSAID = sample("tensorflow-2.1")
