"""Ingest a compilation of this process into a graph, or compute its peaks, without a dump."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from xlagraph.graph.engine import LoadTarget
from xlagraph.ingest.files.contents import read_compilation, read_dump
from xlagraph.ingest.files.dump_files import DumpFiles, FoundDumps
from xlagraph.ingest.files.memory_dumps import compiled_dump
from xlagraph.ingest.loading.load import ingest_found
from xlagraph.ingest.loading.summary import IngestSummary
from xlagraph.ingest.measures.live_ranges import residents_of_allocations, value_spans
from xlagraph.ingest.measures.peaks import SpacePeaks, peaks
from xlagraph.ingest.measures.succession import takeovers
from xlagraph.ingest.options import IngestOptions


def ingest_compiled(
    graph: LoadTarget,
    compiled: Any,  # noqa: ANN401 - of any version of JAX
    *,
    run: str,
    tags: Sequence[str] = (),
) -> IngestSummary:
    """Ingest the result of `jax.jit(f).lower(…).compile()` as a compilation of a run.

    The compilation is named after its module, such as ``jit_f(8)``. A later one of the same name
    replaces it if its content differs. No flag, folder or environment variable is required, only
    `pip install 'xlagraph[proto]'`.

    Raises TypeError for any other object, NoMemoryPlan with what to do if JAX does not keep the
    plan, ModuleNotFoundError without protobuf, and `GraphError` if the graph fails.
    """
    found = FoundDumps((compiled_dump(compiled, run),), (), frozenset())
    return ingest_found(graph, found, IngestOptions(run=run, tags=tags))


def ingest_held(
    graph: LoadTarget, dump: DumpFiles, *, run: str | None = None, replace: bool = False
) -> IngestSummary:
    """Ingest a dump that is in memory, in this process; raises `GraphError` if the graph fails.

    ``run`` is another name for its run; ``replace`` replaces a run that came from elsewhere.
    """
    if run is not None:
        dump = dataclasses.replace(dump, run=run, key=f"{run}/{dump.stem}", other_key=None)
    found = FoundDumps((dump,), (), frozenset())
    return ingest_found(graph, found, IngestOptions(run=dump.run, replace=replace), jobs=1)


def space_peaks(dump: DumpFiles) -> tuple[SpacePeaks, ...]:
    """Return the sums and peaks of each memory space of a dump.

    Raises `ParseError` and `UnreadableDump`.
    """
    plan, _ = read_compilation(read_dump(dump))
    spans = value_spans(plan)
    residents = residents_of_allocations(plan, spans)
    return peaks(plan, spans, residents, takeovers(residents)).spaces
