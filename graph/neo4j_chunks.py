"""Cuts the rows of compilations into chunks, each the parameters of one statement.

All part nodes of a batch stand in one line, compilation by compilation and there label by
label. A relationship goes with that of
its two ends which stands later in the line, so that its other end is in the same chunk or
in one before; what is in one before, or is no part, is looked up by its key.

    line    a0 a1 │ v0 v1 v2 │ v3 v4 i0 │ i1 i2 i3      a chunk between two bars
    v1→i2                               └ here; v1 is looked up
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from xlagraph.graph.neo4j_texts import LOOKED_UP, OF_PARTS, PARTS
from xlagraph.graph.rows import CompilationRows, keys_of

CHUNK_ROWS: Final = 10_000
"""Nodes and relationships of one transaction. 194 000 in one took three times as long."""

Parameters = dict[str, object]

_PART_LABELS: Final = tuple(node.label for node in PARTS)


class Batch:
    """Compilations that are written together, in chunks that follow one another."""

    def __init__(self, compilations: Sequence[CompilationRows]) -> None:
        self.compilations = tuple(compilations)
        self._nodes: dict[str, pa.Table] = {}
        """By label, those of all compilations one after another."""
        self._keys: dict[str, pa.Array[Any]] = {}
        self._places: dict[str, list[int]] = {label: [] for label in _PART_LABELS}
        """Places in the line of the nodes of a label."""
        self._ends: list[int] = []
        """Place in the line after each compilation's last node."""
        length = 0
        first_rows: list[dict[str, int]] = []
        """Row of each compilation's first node among those of its label."""
        for rows in self.compilations:
            first_rows.append({label: len(places) for label, places in self._places.items()})
            for label, places in self._places.items():
                count = rows.nodes[label].num_rows
                places.extend(range(length, length + count))
                length += count
            self._ends.append(length)
        for label in LOOKED_UP:
            table = pa.concat_tables([rows.nodes[label] for rows in self.compilations])
            self._keys[label] = table.column("key").combine_chunks()
            if label in self._places:
                self._nodes[label] = table.combine_chunks()
            else:
                row = 0
                for number, rows in enumerate(self.compilations):
                    first_rows[number][label] = row
                    row += rows.nodes[label].num_rows
        places_by_row = {
            label: pa.array(places, pa.int32()) for label, places in self._places.items()
        }
        self._relationships: dict[str, tuple[pa.Table, list[int]]] = {}
        """By type: the rows in the order of their places, and these places."""
        self._weights = [1] * length
        """Rows that go with each place: its node, and the relationships."""
        for item in OF_PARTS:
            table = pa.concat_tables(
                [
                    _shifted(
                        rows.relationships[item.name],
                        first_rows[number][item.source],
                        first_rows[number][item.target],
                    )
                    for number, rows in enumerate(self.compilations)
                ]
            ).combine_chunks()
            highest: pa.ChunkedArray[Any] = pc.max_element_wise(  # type: ignore[assignment]
                *(
                    places_by_row[label].take(table.column(end))
                    for end, label in (("source", item.source), ("target", item.target))
                    if label in places_by_row
                )
            )
            order = pc.sort_indices(highest)
            sorted_places = _integers(highest.take(order))
            self._relationships[item.name] = (table.take(order), sorted_places)
            for place in sorted_places:
                self._weights[place] += 1

    def spans(self) -> list[tuple[int, int]]:
        """Cut the line into pieces of about `CHUNK_ROWS` rows, between compilations if it can."""
        spans: list[tuple[int, int]] = []
        start = first = rows = 0
        for end in self._ends:
            weight = sum(self._weights[first:end])
            if rows and rows + weight > CHUNK_ROWS:
                spans.append((start, first))
                start, rows = first, 0
            if weight > 2 * CHUNK_ROWS:
                for place in range(first, end):
                    if rows and rows + self._weights[place] > CHUNK_ROWS:
                        spans.append((start, place))
                        start, rows = place, 0
                    rows += self._weights[place]
            else:
                rows += weight
            first = end
        if start < first:
            spans.append((start, first))
        return spans

    def parameters(self, start: int, end: int) -> Parameters:
        """Give the parameters of the chunk from ``start`` to before ``end`` in the line."""
        given: Parameters = {}
        held: dict[str, range] = {}
        """Rows of each label that the chunk makes."""
        old: dict[str, dict[int, int]] = {label: {} for label in LOOKED_UP}
        old_keys: dict[str, dict[str, int]] = {label: {} for label in LOOKED_UP}
        for label, table in self._nodes.items():
            places = self._places[label]
            rows = held[label] = range(bisect_left(places, start), bisect_left(places, end))
            part = table.slice(rows.start, len(rows))
            for name in table.column_names:
                given[f"{label}_{name}"] = part.column(name).to_pylist()
        for item in OF_PARTS:
            table, places = self._relationships[item.name]
            first = bisect_left(places, start)
            part = table.slice(first, bisect_left(places, end) - first)
            for end_name, label in (("source", item.source), ("target", item.target)):
                indexes = _integers(part.column(end_name))
                given[f"{item.name}_{end_name}"] = self._local(
                    indexes, label, held.get(label, range(0)), old[label], old_keys[label]
                )
            for item_property in item.properties:
                name = item_property.name
                given[f"{item.name}_{name}"] = part.column(name).to_pylist()
        for label in LOOKED_UP:
            given[f"old_{label}"] = list(old_keys[label])
        return given

    def relationships(self, start: int, end: int) -> int:
        """Count the relationships of a chunk."""
        return sum(
            bisect_left(places, end) - bisect_left(places, start)
            for _, places in self._relationships.values()
        )

    def _local(
        self,
        indexes: Sequence[int],
        label: str,
        held: range,
        old: dict[int, int],
        old_keys: dict[str, int],
    ) -> list[int]:
        """Say where in the chunk's list of a label each row stands: its own, then the old."""
        first, stop, made = held.start, held.stop, len(held)
        local: list[int] = []
        for index in indexes:
            if first <= index < stop:
                local.append(index - first)
                continue
            place = old.get(index)
            if place is None:
                # a shared node stands once for each compilation of the batch
                key: str = self._keys[label][index].as_py()
                place = old[index] = old_keys.setdefault(key, len(old_keys))
            local.append(made + place)
        return local


def _integers(column: "pa.ChunkedArray[Any]") -> list[int]:
    """Give a column without nulls as a list."""
    return cast("list[int]", column.to_pylist())


def _shifted(table: pa.Table, source: int, target: int) -> pa.Table:
    if not source and not target:
        return table
    for name, shift in (("source", source), ("target", target)):
        place = table.schema.get_field_index(name)
        shifted = pc.add(table.column(name), pa.scalar(shift, pa.int32()))
        table = table.set_column(place, table.schema.field(name), shifted)
    return table


def keyed_pairs(rows: CompilationRows, name: str, source: str, target: str) -> list[list[str]]:
    """Give the ends of a type's relationships as pairs of keys."""
    table = rows.relationships[name]
    if not table.num_rows:
        return []
    sources = keys_of(rows.nodes[source].take(table.column("source")))
    targets = keys_of(rows.nodes[target].take(table.column("target")))
    return [list(pair) for pair in zip(sources, targets, strict=True)]
