"""Real dumps, one or two of each producer, read plainly and loaded into a graph."""

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from plain.plan import PlainDump, read_dump

from xlagraph.graph import Graph
from xlagraph.ingest import find_dumps

FOLDERS = ("versions", "tpu", "runs/scan", "runs/donated")
MOST_VALUES = 550
OF_EACH_RUN = 2


@dataclass(frozen=True)
class Real:
    """A graph, and all that it holds read plainly."""

    graph: Graph
    dumps: list[PlainDump]

    @property
    def telling(self) -> list[PlainDump]:
        """Of each run the dump with the most values, and all that are odd."""
        by_run: dict[str, PlainDump] = {}
        for dump in sorted(self.dumps, key=lambda dump: len(dump.values)):
            by_run[dump.files.run if dump.files.run != "odd" else dump.key] = dump
        return list(by_run.values())


def choose_dumps(shared_dumps: Path, root: Path) -> list[PlainDump]:
    """Link the largest dumps of each run below a folder that can be ingested; read them."""
    found = [files for folder in FOLDERS for files in find_dumps(shared_dumps / folder).dumps]
    found.sort(key=lambda files: (files.run, -files.size_bytes))
    for run, dumps in groupby(found, key=lambda files: files.run):
        chosen = 0
        for files in dumps:
            # A value takes about half a kilobyte.
            if chosen == OF_EACH_RUN or files.size_bytes > 3_000_000:
                continue
            if len(read_dump(files).values) <= MOST_VALUES:
                chosen += 1
                (root / run).mkdir(exist_ok=True)
                for path in (files.allocations, files.values, files.live_range, files.module_text):
                    if path is not None:
                        (root / run / path.name).symlink_to(path)
    return [read_dump(files) for files in find_dumps(root).dumps]
