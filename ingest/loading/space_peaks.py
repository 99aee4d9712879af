"""Compute the sums and peaks of a dump without making rows or a graph."""

from xlagraph.ingest.files.contents import read_compilation, read_dump
from xlagraph.ingest.files.discovery import DumpFiles
from xlagraph.ingest.measures.live_ranges import residents_of_allocations, value_spans
from xlagraph.ingest.measures.peaks import SpacePeaks, peaks
from xlagraph.ingest.measures.takeovers import takeovers

__all__ = ["space_peaks"]


def space_peaks(dump: DumpFiles) -> tuple[SpacePeaks, ...]:
    """Return the sums and peaks of each memory space of a dump.

    Raises `ParseError` and `UnreadableDump`.
    """
    plan, _ = read_compilation(read_dump(dump))
    spans = value_spans(plan)
    residents = residents_of_allocations(plan, spans)
    return peaks(plan, spans, residents, takeovers(residents)).spaces
