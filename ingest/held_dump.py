"""A dump that is held in memory: its bytes outlive the folder that they were read from."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from xlagraph.graph.engine import LoadTarget
from xlagraph.ingest.carriers.carrier import Part
from xlagraph.ingest.carriers.file_bytes import read_bytes
from xlagraph.ingest.files.contents import read_compilation, read_dump
from xlagraph.ingest.files.discovery import DumpFiles, FoundDumps, find_dumps
from xlagraph.ingest.load import ingest_found
from xlagraph.ingest.measures.live_ranges import value_spans
from xlagraph.ingest.measures.peaks import SpacePeaks, peaks
from xlagraph.ingest.measures.takeovers import takeovers
from xlagraph.ingest.options import IngestOptions
from xlagraph.ingest.summary import IngestSummary

__all__ = ["hold_largest_dump", "ingest_held", "space_peaks"]


def hold_largest_dump(folder: Path, run: str) -> DumpFiles | None:
    """Read the largest dump of a folder into memory; None if the folder holds none.

    One compilation may dump more than one module: XLA compiles small ones to time its kernels.
    Raises OSError, EOFError or zlib.error if a file cannot be read.
    """
    dumps = find_dumps(folder, run).dumps
    if not dumps:
        return None
    largest = max(dumps, key=lambda dump: (dump.size_bytes, dump.key))
    sources = tuple(
        replace(source, parts=tuple(map(_held, source.parts))) for source in largest.sources
    )
    return replace(largest, sources=sources)


def _held(part: Part) -> Part:
    content = read_bytes(part.path, part.start, part.length)
    return part._replace(path=Path(part.path.name), content=content)


def space_peaks(dump: DumpFiles) -> tuple[SpacePeaks, ...]:
    """Return sums and peaks of each memory space by its color, without a graph.

    Raises `ParseError` and `UnreadableDump`.
    """
    plan, _ = read_compilation(read_dump(dump))
    spans = value_spans(plan)
    return peaks(plan, spans, takeovers(plan, spans)).spaces


def ingest_held(graph: LoadTarget, dump: DumpFiles, *, tags: Sequence[str] = ()) -> IngestSummary:
    """Ingest a dump that is held in memory, in this process; `GraphError` if the graph fails."""
    found = FoundDumps((dump,), (), frozenset())
    return ingest_found(graph, found, IngestOptions(run=dump.run, tags=tags), jobs=1)
