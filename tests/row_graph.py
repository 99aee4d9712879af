"""A graph of one compilation that answers what planning reads, without an engine.

Many tests look at a plan of a few values. To store and read these takes an engine ten times as
long as the planner plans them. `test_row_graph` checks that an engine answers the same.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Final

from xlagraph.graph.engine import Cell, Load, Result, StoredRun
from xlagraph.graph.row_tables import CompilationRows
from xlagraph.graph.statement_files import load_statement
from xlagraph.planner.compilation import stored_compilation
from xlagraph.planner.compilation.records import (
    CompilationTotals,
    StoredDependence,
    StoredFrame,
    StoredInstruction,
    StoredMaker,
    StoredOverwrite,
    StoredPosition,
    StoredReturn,
    StoredSpace,
    StoredUse,
    StoredValue,
    column_names,
)
from xlagraph.planner.planned_program import PlannedAllocation
from xlagraph.queries.runner import compilations

Row = dict[str, Any]
Parameters = Mapping[str, Cell]


class RowGraph(Load):
    """The rows of one compilation: what ingesting it and planning ask of a graph."""

    location = "rows"

    def __init__(self) -> None:
        self._tables: dict[str, list[Row]] = {}

    def stored_runs(self, names: Collection[str]) -> Mapping[str, StoredRun]:
        del names
        return {}

    @contextmanager
    def load(self) -> Iterator[Load]:
        yield self

    def write(self, rows: CompilationRows) -> None:
        assert not self._tables, "a second compilation"
        self._tables = {name: table.to_pylist() for name, table in rows.tables.items()}

    def remove(self, compilation: str) -> None:
        raise NotImplementedError

    def tag(self, run: str, tags: Sequence[str]) -> None:
        raise NotImplementedError

    def store_snapshots(self, run: str, snapshots: Sequence[str]) -> None:
        raise NotImplementedError

    def read_ahead(self, _: object) -> nullcontext[None]:
        return nullcontext()

    def query(self, statement: str, parameters: Parameters) -> Result:
        columns, answer = ANSWERS[statement]
        rows = [tuple(map(row.__getitem__, columns)) for row in answer(self, parameters)]
        return Result(columns, tuple(rows))

    def nodes(self, label: str, *order: str) -> list[Row]:
        """Return the nodes with a label as their properties, in this order."""
        return _sorted(self._tables[label], order)

    def pairs(self, type_: str, source: str, target: str) -> Iterator[tuple[Row, Row, Row]]:
        """Yield the relationships of a type between nodes with these labels.

        Each is the source, the properties of the relationship, and the target.
        """
        sources, targets = (
            {node["key"]: node for node in self._tables[label]} for label in (source, target)
        )
        for row in self._tables[type_]:
            yield sources[row["source"]], row, targets[row["target"]]


def _sorted(rows: Iterable[Row], order: Iterable[str]) -> list[Row]:
    # an engine sorts unknown cells last
    names = tuple(order)
    return sorted(rows, key=lambda row: [(row[name] is None, row[name] or 0) for name in names])


def _spaces(graph: RowGraph, _: Parameters) -> list[Row]:
    (compilation,) = graph.nodes("Compilation")
    module = compilation["moduleName"] or compilation["name"]
    spaces = graph.nodes("MemorySpace", "color") or [dict.fromkeys(column_names(StoredSpace))]
    return [
        compilation | {"module": module} | {name: space[name] for name in column_names(StoredSpace)}
        for space in spaces
    ]


def _scheduled(graph: RowGraph, _: Parameters) -> list[Row]:
    return [target for _, _, target in graph.pairs("SCHEDULES", "Compilation", "Instruction")]


def _result_shape(graph: RowGraph, asked: Parameters) -> list[Row]:
    (compilation,) = graph.nodes("Compilation")
    return [row for row in _scheduled(graph, asked) if row["name"] == compilation["result"]]


def _uses(graph: RowGraph, _: Parameters) -> list[Row]:
    found = (
        read | {"valueId": value["valueId"], "instruction": reader["name"]}
        for value, read, reader in graph.pairs("USED_BY", "Value", "Instruction")
    )
    return _sorted(found, column_names(StoredUse))


def _positions(graph: RowGraph, _: Parameters) -> list[Row]:
    found = (
        shown
        | {"valueId": value["valueId"], "instruction": instruction["name"]}
        | {name: instruction[name] for name in ("opcode", "computation")}
        for value, shown, instruction in graph.pairs("APPEARS_AT", "Value", "Instruction")
    )
    return _sorted(found, column_names(StoredPosition))


def _returns(graph: RowGraph, asked: Parameters) -> list[Row]:
    return [
        row
        for row in _positions(graph, asked)
        if row["instruction"] == asked["result"] or row["opcode"] == "call"
    ]


def _makers(graph: RowGraph, _: Parameters) -> list[Row]:
    return [
        maker | {"valueId": value["valueId"]}
        for maker, _, value in graph.pairs("DEFINES", "Instruction", "Value")
    ]


def _overwrites(graph: RowGraph, _: Parameters) -> list[Row]:
    found = (
        may | {"valueId": value["valueId"], "overwritten": other["valueId"]}
        for value, may, other in graph.pairs("MAY_OVERWRITE", "Value", "Value")
    )
    return _sorted(found, ("valueId", "operand", "overwritten"))


def _frames_of_values(graph: RowGraph, _: Parameters) -> list[Row]:
    found = (
        {"valueId": value["valueId"], "frame": frame["key"]}
        for value, _, frame in graph.pairs("ATTRIBUTED_FRAME", "Value", "Frame")
    )
    return _sorted(found, ("valueId",))


def _frames(graph: RowGraph, asked: Parameters) -> list[Row]:
    callers = {
        frame["key"]: caller["key"]
        for frame, _, caller in graph.pairs("CALLED_FROM", "Frame", "Frame")
    }
    wanted = asked["frames"]
    assert isinstance(wanted, list)
    return [
        frame | {"caller": callers.get(frame["key"])}
        for frame in graph.nodes("Frame", "key")
        if frame["key"] in wanted
    ]


def _statement(name: str) -> str:
    return load_statement(stored_compilation.__file__, name)


_Answer = tuple[tuple[str, ...], Callable[[RowGraph, Parameters], Iterable[Row]]]

ANSWERS: Final[Mapping[str, _Answer]] = {
    load_statement(compilations.__file__, "compilations-at-peak"): (
        ("compilation",),
        lambda *_: [],
    ),
    _statement("compilation"): (
        column_names(CompilationTotals) + column_names(StoredSpace),
        _spaces,
    ),
    _statement("allocations"): (
        column_names(PlannedAllocation),
        lambda graph, _: graph.nodes("Allocation", "number"),
    ),
    _statement("values"): (
        column_names(StoredValue),
        lambda graph, _: graph.nodes("Value", "valueId"),
    ),
    _statement("makers"): (column_names(StoredMaker), _makers),
    _statement("uses"): (column_names(StoredUse), _uses),
    _statement("returns"): (column_names(StoredReturn), _returns),
    _statement("result-shape"): (("shape",), _result_shape),
    _statement("instructions"): (
        column_names(StoredInstruction),
        lambda graph, _: graph.nodes("Instruction"),
    ),
    _statement("dependences"): (column_names(StoredDependence), _scheduled),
    _statement("positions"): (column_names(StoredPosition), _positions),
    _statement("overwrites"): (column_names(StoredOverwrite), _overwrites),
    _statement("packed-module"): (
        ("form", "packed"),
        lambda graph, _: graph.nodes("PackedModule", "form"),
    ),
    _statement("frames-of-values"): (("valueId", "frame"), _frames_of_values),
    _statement("frames"): (column_names(StoredFrame), _frames),
}
"""Columns and rows by statement."""
