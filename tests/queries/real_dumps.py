"""Real dumps, one or two of each producer: in a folder, or parsed next to a graph."""

from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

from tests.queries.plain.plan import PlainDump, read_dump
from xlagraph.graph import Graph
from xlagraph.ingest import find_dumps

MOST_VALUES = 300
OF_EACH_RUN = 2


@dataclass(frozen=True)
class RealDumps:
    """A graph, and its dumps parsed independently."""

    graph: Graph
    dumps: list[PlainDump]

    @property
    def telling(self) -> list[PlainDump]:
        """Return the dump with the most values of each run, and all odd ones.

        One is enough of those in which producers made the same values of a program.
        """
        by_run: dict[str, PlainDump] = {}
        for dump in sorted(self.dumps, key=lambda dump: len(dump.values)):
            by_run[dump.files.run if dump.files.run != "odd" else dump.key] = dump
        by_values = {
            tuple((value.shape, value.made.opcode) for value in dump.values): dump
            for dump in by_run.values()
        }
        return list(by_values.values())


def link_largest(corpus: Path, root: Path) -> None:
    """Link the largest dumps of each run into a folder that can be ingested."""
    found = [
        files
        for producer in sorted(corpus.iterdir())
        for files in find_dumps(producer).dumps
        if files.size_bytes <= 3_000_000  # a value takes about half a kilobyte
    ]
    found.sort(key=lambda files: (files.run, -files.size_bytes))
    for run, dumps in groupby(found, key=lambda files: files.run):
        chosen = (files for files in dumps if len(read_dump(files).values) <= MOST_VALUES)
        (root / run).mkdir(parents=True)
        for files in islice(chosen, OF_EACH_RUN):
            for source in files.sources:
                for part in source.parts:
                    (root / run / part.path.name).symlink_to(part.path)
