"""A profile that shows the plan in the memory viewer."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from tests.exports.small_plans import OLD, SMALL
from tests.exports.viewers import printed_by_xprof_python
from xlagraph.exports import write_xprof
from xlagraph.exports.placed_program import read_program, step_range
from xlagraph.graph import Graph, GraphUnwritable, NameUnknown, open_graph
from xlagraph.hlo.proto_messages import HloProto, XSpace
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.records import StoredValue

_MEMORY_VIEWER = """
import json, sys
from xprof.convert import raw_to_tool_data as convert
path = sys.argv[1]
print(json.dumps({
    "tools": convert.xspace_to_tool_names([path]),
    "views": [
        json.loads(convert.xspace_to_tool_data(
            [path], "memory_viewer", {"module_name": module, "memory_space": str(color)})[0])
        for module, color in json.loads(sys.argv[2])
    ],
}))
"""
_MIB = 1 << 20


def read_programs(path: Path) -> dict[str, Any]:
    """Return the programs of a profile by name."""
    (plane,) = XSpace.FromString(path.read_bytes()).planes
    assert plane.name == "/host:metadata"
    programs = {}
    for event in plane.event_metadata.values():
        (stat,) = event.stats
        assert plane.stat_metadata[stat.metadata_id].name == "Hlo Proto"
        programs[event.name] = HloProto.FromString(stat.bytes_value)
    return programs


def test_the_profile_is_where_xprof_looks_for_it(small: Graph, tmp_path: Path) -> None:
    path = write_xprof(small, "small", [SMALL], tmp_path)
    assert path == tmp_path / "plugins" / "profile" / "small" / "xlagraph.xplane.pb"
    assert list(read_programs(path)) == ["jit_f(1)"]


def test_the_assignment_is_that_of_the_dump(small: Graph, tmp_path: Path) -> None:
    proto = read_programs(write_xprof(small, "small", [SMALL], tmp_path))["jit_f(1)"]
    names = {
        each.id: each.name
        for computation in proto.hlo_module.computations
        for each in computation.instructions
    }
    assignment = proto.buffer_assignment
    values = {each.id: names[each.defined_at.instruction_id] for each in assignment.logical_buffers}
    assert [
        (
            allocation.size,
            allocation.is_entry_computation_parameter,
            allocation.maybe_live_out,
            [
                (values[each.logical_buffer_id], each.offset, each.size)
                for each in allocation.assigned
            ],
        )
        for allocation in assignment.buffer_allocations
    ] == [
        (4096, True, False, [("x", 0, 4096)]),
        (1024, False, True, [("out", 0, 1024)]),
        (6144, False, False, [("wide", 0, 4096), ("kept", 4096, 1024), ("over", 0, 4096)]),
    ]


def test_the_trace_of_temporaries_follows_the_live_ranges(small: Graph, tmp_path: Path) -> None:
    proto = read_programs(write_xprof(small, "small", [SMALL], tmp_path))["jit_f(1)"]
    (trace,) = proto.buffer_assignment.heap_simulator_traces
    assert trace.buffer_allocation_index == 2
    assert [
        (trace.Event.Kind.Name(each.kind), each.buffer_id, each.instruction_name)
        for each in trace.events
    ] == [
        ("ALLOC", 1, "wide"),
        ("ALLOC", 2, "kept"),
        ("SHARE_WITH", 3, "over"),
        ("FREE", 1, "over"),
        ("FREE", 2, "out"),
        ("FREE", 3, "out"),
    ]


def test_shapes_keep_dimensions_layout_and_type(small: Graph, tmp_path: Path) -> None:
    proto = read_programs(write_xprof(small, "small", [SMALL], tmp_path))["jit_f(1)"]
    (instruction,) = (
        each
        for computation in proto.hlo_module.computations
        for each in computation.instructions
        if each.name == "kept"
    )
    assert instruction.shape.element_type == 11  # F32
    assert instruction.shape.dimensions == [256]
    assert instruction.shape.layout.minor_to_major == [0]
    assert instruction.metadata.op_name == "jit(f)/layer/slice"


@pytest.fixture(scope="module")
def real(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """The example run `baseline`, and TPU dumps, which have several memory spaces."""
    with open_graph(tmp_path_factory.mktemp("real") / "graph.lbug", create=True) as graph:
        assert ingest(graph, [corpus / "runs" / "baseline", corpus / "tpu"], jobs=1).added
        yield graph


def test_xprof_shows_the_bytes_of_the_graph(real: Graph, tmp_path: Path) -> None:
    spaces = real.query(
        "MATCH (c:Compilation)-[:USES_SPACE]->(s:MemorySpace)"
        " RETURN c.key, s.color ORDER BY c.key, s.color"
    ).rows
    assert len({color for _, color in spaces}) > 1
    keys = sorted({str(key) for key, _ in spaces})
    path = write_xprof(real, "real", keys, tmp_path)
    names = list(read_programs(path))
    asked = [(names[keys.index(str(key))], color) for key, color in spaces]
    shown = json.loads(printed_by_xprof_python(_MEMORY_VIEWER, path, json.dumps(asked)))
    assert "memory_viewer" in shown["tools"]
    for (key, color), view in zip(spaces, shown["views"], strict=True):
        expected = shown_bytes(real, str(key), cast("int", color))
        assert {name: view.get(name, 0) * _MIB for name in expected} == expected, (key, color)


def shown_bytes(graph: Graph, compilation: str, color: int) -> dict[str, int]:
    """Return the bytes that the memory viewer adds up, computed from the graph.

    The viewer counts everything else as live throughout, and follows the temporaries.
    """
    program = read_program(graph, compilation)
    allocations = [each for each in program.allocations if each.memory_space == color]
    temporaries = {each.number for each in allocations if each.role in ("temp", None)}
    values = [value for value in program.values if value.allocation in temporaries]
    lasting = sum(
        each.size_bytes
        for each in allocations
        if each.number not in temporaries and each.role != "threadLocal"
    )
    steps = {live.first for live in map(step_range, values) if live is not None}
    return {
        "indefiniteBufferAllocationMib": lasting,
        "peakHeapMib": lasting + max((live_bytes(values, step) for step in steps), default=0),
    }


def live_bytes(values: Sequence[StoredValue], step: int) -> int:
    """Return the bytes that are live at a step."""
    total = 0
    ends: dict[int, int] = {}
    for value in sorted(values, key=lambda each: each.offset_bytes):
        live = step_range(value)
        if live is not None and live.first <= step <= live.last:
            end = max(value.offset_bytes, ends.get(value.allocation, 0))
            own_end = value.offset_bytes + value.size_bytes
            total += max(0, own_end - end)
            ends[value.allocation] = max(own_end, end)
    return total


@pytest.mark.parametrize("compilation", [SMALL, OLD])
def test_xprof_opens_small_and_old_dumps(small: Graph, compilation: str, tmp_path: Path) -> None:
    path = write_xprof(small, compilation, [compilation], tmp_path)
    asked = json.dumps([("jit_f(1)", 0)])
    (view,) = json.loads(printed_by_xprof_python(_MEMORY_VIEWER, path, asked))["views"]
    assert view["totalBufferAllocationMib"] * _MIB == 4096 + 1024 + 6144
    assert view["moduleName"] == "jit_f"


def test_an_existing_session_is_not_replaced(small: Graph, tmp_path: Path) -> None:
    first = write_xprof(small, "small", [SMALL], tmp_path)
    written = first.read_bytes()
    with pytest.raises(GraphUnwritable, match="already exists; remove it, or name another"):
        write_xprof(small, "small", [OLD], tmp_path)
    assert first.read_bytes() == written


def test_an_unknown_name_is_refused(small: Graph, tmp_path: Path) -> None:
    with pytest.raises(NameUnknown, match="no compilation small/nothing"):
        write_xprof(small, "small", ["small/nothing"], tmp_path)
    assert not list(tmp_path.iterdir())
