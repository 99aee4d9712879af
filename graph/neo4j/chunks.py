"""Split the rows of compilations into chunks, the parameters of one statement each.

All part nodes of a batch are one sequence, compilation by compilation and there label by
label. A relationship goes with the later of its two ends in that sequence, so that its other
end is in the same chunk or in an earlier one; what is in an earlier one, or is not a part, is
looked up by its key.

    sequence    a0 a1 │ v0 v1 v2 │ v3 v4 i0 │ i1 i2 i3      a chunk between two bars
    v1→i2                                   └ here; v1 is looked up
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.neo4j.schema_statements import LOOKED_UP, PART_RELATIONSHIPS
from xlagraph.graph.row_tables import CompilationRows, keys_of
from xlagraph.graph.schema import PART_LABELS

Parameters = dict[str, list[Any]]


class CompilationBatch:
    """Compilations that are written together, in consecutive chunks."""

    def __init__(self, rows: CompilationRows) -> None:
        self.rows = rows
        self._nodes = {label: rows.nodes[label].combine_chunks() for label in PART_LABELS}
        self._keys = {
            label: rows.nodes[label].column("key").combine_chunks() for label in LOOKED_UP
        }
        self._indexes, self._ends = _sequence(rows)
        self.length = self._ends[-1]
        """Length of the sequence."""
        rows_at = [1] * self.length
        columns = {label: pa.array(indexes, pa.int32()) for label, indexes in self._indexes.items()}
        self._relationships: dict[str, tuple[pa.Table, list[int]]] = {}
        """Rows by relationship type, sorted by their later end, and the indexes of these ends."""
        for relationship in PART_RELATIONSHIPS:
            ends = rows.ends(relationship.name)
            later: pa.ChunkedArray[Any] = pc.max_element_wise(  # type: ignore[assignment]
                *(
                    columns[label].take(end)
                    for label, end in zip(
                        (relationship.source, relationship.target), ends, strict=True
                    )
                    if label in columns
                )
            )
            order = pc.sort_indices(later)
            given = rows.relationships[relationship.name]
            table = pa.table([*ends, *given.columns[2:]], names=given.column_names)
            later_indexes = _integers(later.take(order))
            self._relationships[relationship.name] = (
                table.combine_chunks().take(order),
                later_indexes,
            )
            for index in later_indexes:
                rows_at[index] += 1
        self._rows_before = list(accumulate(rows_at, initial=0))
        """Nodes and relationships that come before each index."""

    def chunk_end(self, start: int, rows: int) -> int:
        """Return the end, exclusive, of the chunk that begins at ``start``.

        It has so many rows at most, unless a single node has more, and ends with a
        compilation if it can.
        """
        end = bisect_right(self._rows_before, self._rows_before[start] + rows) - 1
        ended = bisect_right(self._ends, end)
        if ended and self._ends[ended - 1] > start:
            return self._ends[ended - 1]
        return max(end, start + 1)

    def parameters(self, start: int, end: int) -> Parameters:
        """Return the parameters of the chunk from ``start`` to before ``end``."""
        given: Parameters = {}
        made: dict[str, range] = {}
        """Rows of each label that the chunk makes."""
        old: dict[str, dict[int, int]] = {label: {} for label in LOOKED_UP}
        old_keys: dict[str, dict[str, int]] = {label: {} for label in LOOKED_UP}
        for label, table in self._nodes.items():
            indexes = self._indexes[label]
            made[label] = range(bisect_left(indexes, start), bisect_left(indexes, end))
            part = table.slice(made[label].start, len(made[label]))
            for name in table.column_names:
                given[f"{label}_{name}"] = part.column(name).to_pylist()
        for relationship in PART_RELATIONSHIPS:
            table, indexes = self._relationships[relationship.name]
            first = bisect_left(indexes, start)
            part = table.slice(first, bisect_left(indexes, end) - first)
            for end_name, label in (
                ("source", relationship.source),
                ("target", relationship.target),
            ):
                given[f"{relationship.name}_{end_name}"] = self._indexes_in_chunk(
                    _integers(part.column(end_name)),
                    label,
                    made.get(label, range(0)),
                    old[label],
                    old_keys[label],
                )
            for property_ in relationship.properties:
                name = property_.name
                given[f"{relationship.name}_{name}"] = part.column(name).to_pylist()
        for label in LOOKED_UP:
            given[f"old_{label}"] = list(old_keys[label])
        return given

    def relationships(self, start: int, end: int) -> int:
        """Return how many relationships a chunk has."""
        return self._rows_before[end] - self._rows_before[start] - (end - start)

    def _indexes_in_chunk(
        self,
        rows: Sequence[int],
        label: str,
        made: range,
        old: dict[int, int],
        old_keys: dict[str, int],
    ) -> list[int]:
        """Return the index of each row in the chunk's list of a label: new nodes, then old ones."""
        first, stop, count = made.start, made.stop, len(made)
        local: list[int] = []
        for row in rows:
            if first <= row < stop:
                local.append(row - first)
                continue
            index = old.get(row)
            if index is None:
                key: str = self._keys[label][row].as_py()
                index = old[row] = old_keys.setdefault(key, len(old_keys))
            local.append(count + index)
        return local


def _integers(column: "pa.ChunkedArray[Any]") -> list[int]:
    """Return a column without nulls as a list."""
    return cast("list[int]", column.to_pylist())


def _sequence(rows: CompilationRows) -> tuple[dict[str, list[int]], list[int]]:
    """Return the indexes of the nodes of each label, and those after each compilation's last."""
    counts = {
        label: Counter(cast("list[str]", rows.nodes[label].column("compilation").to_pylist()))
        for label in PART_LABELS
    }
    indexes: dict[str, list[int]] = {label: [] for label in PART_LABELS}
    ends = []
    length = 0
    for compilation in keys_of(rows.nodes["Compilation"]):
        for label, own in indexes.items():
            count = counts[label][compilation]
            own.extend(range(length, length + count))
            length += count
        ends.append(length)
    return indexes, ends


def key_pairs(relationships: pa.Table) -> list[list[str]]:
    """Return the ends of relationships as pairs of keys, sorted."""
    ends = (
        cast("list[str]", relationships.column(end).to_pylist()) for end in ("source", "target")
    )
    return sorted(map(list, zip(*ends, strict=True)))
