"""An export of a graph has all facts of the plan."""

from pathlib import Path

import pytest

from xlagraph.graph import CompilationRows, Graph
from xlagraph.hlo.shapes import printed_shape
from xlagraph.ingest import DumpFiles, DumpPart, PrintedPlan, find_dumps, ingest, parse_plan

Facts = dict[str, object]


def plan_of(dump: DumpFiles) -> PrintedPlan:
    paths = [dump.path, dump.file("values"), dump.file("live range")]
    return parse_plan(
        [DumpPart(path.name, path.read_bytes().decode()) for path in paths if path is not None]
    )


def said_by_plan(plan: PrintedPlan) -> Facts:
    """Return all facts of a plan except addresses and the stack-trace tree, without order."""
    label = {value.value_id: value.label for value in plan.values}
    used = plan.used_values or ()
    ranges = plan.live_ranges
    peak = ranges.peak if ranges else None
    return {
        "allocations": {
            (
                allocation.number,
                allocation.size_bytes,
                allocation.memory_space,
                allocation.page,
                allocation.parameter
                and (allocation.parameter.number, allocation.parameter.shape_index),
                allocation.parameter.shape if allocation.parameter else allocation.output_shape,
                allocation.is_thread_local,
                allocation.is_constant,
                allocation.is_preallocated_temp,
                allocation.maybe_live_out,
                allocation.output_shape is not None,
            )
            for allocation in plan.allocations
        },
        "values": {
            (
                value.value_id,
                value.name,
                value.shape_index,
                value.is_phi,
                value.memory_space,
                value.allocation,
                value.offset_bytes,
                value.size_bytes,
                value.shape.text,
            )
            for value in plan.values
        },
        "total": plan.total_bytes,
        "positions": {
            (label[used_value.value_id], *place)
            for used_value in used
            for place in used_value.positions
        },
        "uses": {
            (label[used_value.value_id], *use) for used_value in used for use in used_value.uses
        },
        "texts": {f"%{name} = {text}" for name, text in plan.instructions.items()},
        "schedule": list(ranges.schedule) if ranges else [],
        "ranges": {tuple(live_range) for live_range in ranges.ranges} if ranges else set(),
        "peak step": peak and peak.step,
        "peak": [(entry.name, entry.bytes) for entry in peak.entries] if peak else [],
    }


def said_by_graph(rows: CompilationRows) -> Facts:
    """Return the same facts from a graph."""
    compilation = rows.nodes["Compilation"].to_pylist()[0]
    values = rows.nodes["Value"].to_pylist()
    value_by_key = {value["key"]: value for value in values}
    names = {row["key"]: row["name"] for row in rows.nodes["Instruction"].to_pylist()}
    edges = {name: table.to_pylist() for name, table in rows.relationships.items()}
    slots = {edge["target"]: edge for edge in edges["HOLDS"]}
    allocations = rows.nodes["Allocation"].to_pylist()
    number_by_key = {allocation["key"]: allocation["number"] for allocation in allocations}
    return {
        "allocations": {
            (
                allocation["number"],
                allocation["sizeBytes"],
                allocation["memorySpace"],
                allocation["page"],
                None
                if allocation["parameterNumber"] is None
                else (allocation["parameterNumber"], allocation["shapeIndex"]),
                allocation["shape"],
                allocation["role"] == "threadLocal",
                allocation["role"] == "constant",
                allocation["role"] == "temp",
                allocation["maybeLiveOut"],
                allocation["isOutput"] or False,
            )
            for allocation in allocations
        },
        "values": {
            (
                value["valueId"],
                value["name"],
                value["shapeIndex"],
                value["isPhi"],
                value["memorySpace"],
                number_by_key[slots[value["key"]]["source"]],
                slots[value["key"]]["offsetBytes"],
                slots[value["key"]]["sizeBytes"],
                printed_shape(value["shape"], value["layout"]),
            )
            for value in values
        },
        "total": compilation["totalBytes"],
        "positions": {
            (value_by_key[edge["source"]]["label"], names[edge["target"]], edge["shapeIndex"])
            for edge in edges["APPEARS_AT"]
        },
        "uses": {
            (
                value_by_key[edge["source"]]["label"],
                names[edge["target"]],
                edge["operand"],
                edge["operandIndex"],
            )
            for edge in edges["USED_BY"]
        },
        "texts": set(rows.nodes["Instruction"].column("text").to_pylist()) - {None},
        "schedule": [
            names[edge["target"]] for edge in sorted(edges["SCHEDULES"], key=lambda e: e["step"])
        ],
        "ranges": {
            (value["name"], value["shapeIndex"] or "{}", value["liveFrom"], value["liveUntil"])
            for value in values
            if value["liveFrom"] is not None
        },
        "peak step": compilation["printedPeakStep"],
        "peak": [
            (value_by_key[edge["source"]]["name"], edge["printedBytes"])
            for edge in sorted(edges["IN_PRINTED_PEAK"], key=lambda e: e["rank"])
        ],
    }


@pytest.fixture(scope="module")
def dumps(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the largest dump below 100 kB of each producer's folder."""
    largest: dict[str, DumpFiles] = {}
    found = find_dumps(corpus).dumps
    for dump in (dump for dump in found if dump.size_bytes < 100_000):
        if dump.size_bytes > largest.setdefault(dump.run, dump).size_bytes:
            largest[dump.run] = dump
    folder = tmp_path_factory.mktemp("dumps")
    for run, dump in largest.items():
        (folder / run).mkdir(parents=True)
        for path in dump.path.parent.glob(f"{dump.stem}*"):
            (folder / run / path.name).symlink_to(path)
    return folder


def test_a_graph_has_all_facts_of_the_plans_of_all_producers(graph: Graph, dumps):
    summary = ingest(graph, dumps, jobs=1)
    assert summary.ok, summary.problems
    for dump in find_dumps(dumps).dumps:
        assert said_by_graph(graph.read(dump.key)) == said_by_plan(plan_of(dump)), dump.key
