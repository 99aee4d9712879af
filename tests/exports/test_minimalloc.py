"""The heaps of a plan as problems for static allocators."""

import csv
from collections import defaultdict
from pathlib import Path

from xlagraph.exports import write_minimalloc
from xlagraph.graph import Graph
from xlagraph.queries import find_compilation, whatif


def test_the_rows_are_the_heap_that_is_packed(examples: Graph, tmp_path: Path) -> None:
    key = find_compilation(examples, "baseline").key
    write_minimalloc(examples, key, tmp_path / "heap.csv")
    with (tmp_path / "heap.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:4] == ["id", "lower", "upper", "size"]
    assert len({row["id"] for row in rows}) == len(rows)
    changes: defaultdict[int, int] = defaultdict(int)
    for row in rows:
        lower, upper, size = int(row["lower"]), int(row["upper"]), int(row["size"])
        assert lower < upper
        spans = [lower, *map(int, (row.get("gaps") or "").replace("-", " ").split()), upper]
        for start, end in zip(spans[::2], spans[1::2], strict=True):
            changes[start] += size
            changes[end] -= size
    live = most = 0
    for tick in sorted(changes):
        live += changes[tick]
        most = max(most, live)
    lower_bound = whatif(examples, key).lower_bound_bytes
    assert lower_bound is not None
    assert 0 <= lower_bound - most < 1024  # the tables of tuples are not in the heap
