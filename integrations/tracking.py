"""Memory plans in experiment trackers: Weights & Biases, MLflow, TensorBoard and others.

`log_to` passes the numbers of a plan to any object with a method `log`, and a folder with report
and graph to its `log_artifact`, if it has one. `memory_scalars` returns the numbers.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol, cast

from xlagraph.graph import Graph, open_graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries import run
from xlagraph.queries.runner.compilations import find_compilation
from xlagraph.report import make_report

_TOTALS: Final = load_statement(__file__, "memory-totals")
_NAMES: Final = ("reserved_bytes", "peak_bytes", "largest_block_bytes")


class Tracker(Protocol):
    """A run of an experiment tracker.

    If it also has a method `log_artifact(folder, name=…, type=…)`, it receives files.
    """

    def log(self, scalars: dict[str, int], /) -> Any:  # noqa: ANN401 - nothing reads it
        """Record numbers by name."""


def memory_scalars(
    graph: Graph, compilation: str | None = None, *, prefix: str = "memory_plan"
) -> dict[str, int]:
    """Return the main numbers of a compilation in memory space 0, in bytes, by name.

    The names are ``PREFIX/reserved_bytes``, ``PREFIX/peak_bytes``, ``PREFIX/largest_block_bytes``
    (the largest allocation), and ``PREFIX/category/NAME_bytes`` for each category of values at the
    peak. A number that the dump does not state is left out. The compilation is found as by
    `xlagraph.queries.run`: the one with the most reserved bytes by default.
    """
    key = find_compilation(graph, compilation).key
    ((*totals,),) = graph.query(_TOTALS, {"compilation": key}).rows
    named = dict(zip(_NAMES, totals, strict=True))
    if named["peak_bytes"] is not None:
        for row in run(graph, "peak/by-category", compilation=key, limit=0).result.mappings():
            named[f"category/{row['category']}_bytes"] = row["physicalBytes"]
    return {
        f"{prefix}/{name}": cast("int", size) for name, size in named.items() if size is not None
    }


def log_to(
    tracker: Tracker, graph: Graph, compilation: str | None = None, *, prefix: str = "memory_plan"
) -> dict[str, int]:
    """Pass the numbers of `memory_scalars` to ``tracker.log``, and return them.

    If the tracker has a method `log_artifact`, it is called once with a temporary folder, with
    ``name=PREFIX`` and ``type="memory-plan"``. The folder contains `report.html`, the page of
    `xlagraph report`, and `plan.lbug`, a graph with only this compilation. It is removed
    afterwards.
    """
    key = find_compilation(graph, compilation).key
    scalars = memory_scalars(graph, key, prefix=prefix)
    tracker.log(scalars)
    if log_artifact := getattr(tracker, "log_artifact", None):
        with TemporaryDirectory(prefix="xlagraph-") as folder:
            _write_files(graph, key, Path(folder))
            log_artifact(folder, name=prefix, type="memory-plan")
    return scalars


def _write_files(graph: Graph, key: str, folder: Path) -> None:
    make_report(graph, [key]).written_to(folder / "report.html")
    with open_graph(folder / "plan.lbug", create=True) as copy:
        rows = graph.read(key)
        with copy.load() as load:
            load.write(rows)
    (folder / "plan.lbug.lock").unlink(missing_ok=True)
