"""From a compilation of this process into a graph, without a dump."""

from collections.abc import Sequence
from typing import Any

from xlagraph.graph.engine import LoadTarget
from xlagraph.ingest.files.compiled_dump import compiled_dump
from xlagraph.ingest.files.discovery import DumpFiles, FoundDumps
from xlagraph.ingest.load import ingest_found
from xlagraph.ingest.options import IngestOptions
from xlagraph.ingest.summary import IngestSummary

__all__ = ["ingest_compiled", "ingest_held"]


def ingest_compiled(
    graph: LoadTarget,
    compiled: Any,  # noqa: ANN401 - of any version of JAX
    *,
    run: str,
    tags: Sequence[str] = (),
) -> IngestSummary:
    """Ingest what `jax.jit(f).lower(…).compile()` returned, as a compilation of a run.

    It is named after its module, ``jit_f(8)``; the same again replaces it if it has changed.
    Needs no flag, no folder and no environment, only `pip install 'xlagraph[proto]'`.

    Raises TypeError for anything else, NoMemoryPlan with what to do where JAX does not hold the
    plan, ModuleNotFoundError without protobuf, and `GraphError` if the graph fails.
    """
    found = FoundDumps((compiled_dump(compiled, run),), (), frozenset())
    return ingest_found(graph, found, IngestOptions(run=run, tags=tags))


def ingest_held(graph: LoadTarget, dump: DumpFiles) -> IngestSummary:
    """Ingest a dump that is held in memory, in this process; `GraphError` if the graph fails."""
    found = FoundDumps((dump,), (), frozenset())
    return ingest_found(graph, found, IngestOptions(run=dump.run), jobs=1)
