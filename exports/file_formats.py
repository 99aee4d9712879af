"""The formats of one file for one compilation; `xlagraph export` has a command for each.

A writer ends with a file written completely, or raises the reason why there is none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final, cast

from xlagraph.graph.errors import raise_unwritable
from xlagraph.queries.errors import QueryError
from xlagraph.runtime.files import whole_file

if TYPE_CHECKING:
    from xlagraph.graph import Graph


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of one file for one compilation."""

    name: str
    help: str
    """Text of the command; the first line is what it writes."""
    example: str
    """Name of a file."""
    writer: str
    """The function that writes it, imported on first use: it may need the extra `proto`."""

    def write(self, graph: "Graph", compilation: str, path: Path) -> None:
        """Write a compilation's file, given by its key."""
        writer = resolve_name(f"xlagraph.exports.{self.writer}")
        cast("Callable[[Graph, str, Path], None]", writer)(graph, compilation, path)


FILE_FORMATS: Final = (
    FileFormat(
        "pprof",
        "Write the peak by call stack for pprof; compare two with `pprof -diff_base`.",
        "baseline.pb.gz",
        "pprof_profile:write_pprof",
    ),
    FileFormat(
        "speedscope",
        "Write the peak by call stack, as a flame graph of speedscope.",
        "baseline.speedscope.json",
        "speedscope_file:write_speedscope",
    ),
    FileFormat(
        "perfetto",
        "Write the bytes along the schedule and the values of each allocation, for Perfetto.\n\n"
        "A step of the schedule is drawn as a microsecond; steps are not time.",
        "baseline.pftrace",
        "perfetto_trace:write_perfetto",
    ),
    FileFormat(
        "minimalloc",
        "Write the heap as CSV for MiniMalloc and other static allocators.\n\n"
        "A row is a value with its size; its time is that of XLA's heap simulation. The heap of"
        " another memory space is in a file of its own.",
        "baseline.csv",
        "minimalloc_file:write_minimalloc",
    ),
)


class NothingToExport(QueryError):
    """A compilation has no data that a format needs; the message says which, and what to do."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, and its folder if needed; raise GraphUnwritable on errors."""
    with raise_unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished:
            unfinished.write_bytes(content)
