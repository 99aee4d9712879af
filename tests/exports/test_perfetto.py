"""The schedule as a Perfetto trace."""

import json
import shutil
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from tests.exports.small_plans import OLD, SMALL
from tests.exports.viewers import printed_by_xprof_python
from xlagraph.exports import NothingToExport, write_perfetto
from xlagraph.exports.perfetto_trace import Trace, _lanes
from xlagraph.exports.placed_program import StepRange
from xlagraph.graph import Graph
from xlagraph.queries import find_compilation

_STEP = 1_000
_IN_PERFETTOS_OWN_WORDS = """
import json, sys
from google.protobuf.json_format import MessageToDict
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

def unknown(message):
    inner = [child for field, value in message.ListFields() if field.message_type
             for child in (value if field.is_repeated else [value])]
    return len(UnknownFieldSet(message)) + sum(map(unknown, inner))

trace = Trace.FromString(open(sys.argv[1], "rb").read())
kinds = [packet.WhichOneof("data") for packet in trace.packet]
print(json.dumps({"unknown": unknown(trace), "events": kinds.count("track_event"),
                  "packets": MessageToDict(trace, preserving_proto_field_name=True)["packet"]}))
"""
_IN_THE_TRACE_PROCESSOR = """
import json, sys
from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

config = TraceProcessorConfig(bin_path=sys.argv[2])
with TraceProcessor(trace=sys.argv[1], config=config) as processor:
    def number(statement):
        (row,) = processor.query(statement)
        return row.n

    of_track = "select count(*) as n from slice join track on track.id = track_id where track.name"
    print(json.dumps({
        "values": number(f"{of_track} glob 'allocation *'"),
        "steps": number(f"{of_track} = 'schedule'"),
        "most_bytes": int(number("select max(value) as n from counter")),
        "size_bytes_of_kept": number(
            "select extract_arg(arg_set_id, 'debug.sizeBytes') as n from slice "
            "where name = 'kept' and extract_arg(arg_set_id, 'debug.sizeBytes') is not null"),
    }))
"""


@pytest.fixture
def trace(small: Graph, tmp_path: Path) -> Any:
    """The trace of the small program."""
    write_perfetto(small, SMALL, tmp_path / "small.pftrace")
    return Trace.FromString((tmp_path / "small.pftrace").read_bytes())


def tracks(trace: Any) -> dict[int, str]:
    found = [packet.track_descriptor for packet in trace.packet]
    return {track.uuid: track.name for track in found if track.uuid}


def events(trace: Any, kind: str) -> list[tuple[str, int, Any]]:
    """Return track, step and event of each packet of a kind."""
    names = tracks(trace)
    return [
        (names[packet.track_event.track_uuid], packet.timestamp // _STEP, packet.track_event)
        for packet in trace.packet
        if packet.HasField("track_event")
        and packet.track_event.Type.Name(packet.track_event.type) == kind
    ]


def test_the_first_track_says_that_steps_are_not_time(trace: Any) -> None:
    first = trace.packet[0].track_descriptor
    assert first.name.startswith(SMALL)
    assert "steps, not time" in first.name
    assert all(
        packet.track_descriptor.parent_uuid == first.uuid
        for packet in trace.packet[1:]
        if packet.HasField("track_descriptor")
    )


def test_counters_are_the_bytes_live_along_the_schedule(trace: Any) -> None:
    counted = [
        (track, step, event.counter_value) for track, step, event in events(trace, "TYPE_COUNTER")
    ]
    physical, logical = "memory space 0: physical bytes", "memory space 0: logical bytes"
    # at step 3 `over` replaces `wide`, which is live there for the last time
    assert [row[1:] for row in counted if row[0] == physical] == [
        (0, 4096),
        (1, 8192),
        (2, 9216),
        (3, 9216),
        (4, 10240),
    ]
    assert [row[1:] for row in counted if row[0] == logical] == [
        (0, 4096),
        (1, 8192),
        (2, 9216),
        (3, 13312),
        (4, 10240),
        (5, 5120),
        (6, 0),
    ]


def test_a_value_is_a_slice_on_the_track_of_its_allocation_with_its_facts_as_arguments(
    trace: Any,
) -> None:
    temp = "allocation 2: temp, 6.0 KiB, memory space 0"
    begun = [
        (step, event) for track, step, event in events(trace, "TYPE_SLICE_BEGIN") if track == temp
    ]
    assert [(step, event.name) for step, event in begun] == [(1, "wide"), (2, "kept"), (3, "over")]
    arguments = {
        each.name: each.string_value or each.int_value for each in begun[1][1].debug_annotations
    }
    assert arguments == {
        "valueId": 2,
        "shape": "f32[256]",
        "sizeBytes": 1024,
        "offsetBytes": 4096,
        "liveFrom": 2,
        "liveUntil": 4,
        "opcode": "slice",
        "attributedOpName": "jit(f)/layer/slice",
        "attributedFile": "model.py",
        "attributedLine": 14,
    }


def test_slices_of_one_track_never_cross(examples: Graph, tmp_path: Path) -> None:
    write_perfetto(examples, find_compilation(examples, "remat").key, tmp_path / "remat.pftrace")
    trace = Trace.FromString((tmp_path / "remat.pftrace").read_bytes())
    ends: dict[int, int] = {}
    for packet in trace.packet:
        track = packet.track_event.track_uuid
        kind = packet.track_event.Type.Name(packet.track_event.type)
        if kind == "TYPE_SLICE_BEGIN":
            assert packet.timestamp >= ends.get(track, 0)
        elif kind == "TYPE_SLICE_END":
            ends[track] = packet.timestamp
    assert ends


def test_perfettos_own_messages_know_every_field(examples: Graph, tmp_path: Path) -> None:
    file = tmp_path / "baseline.pftrace"
    write_perfetto(examples, find_compilation(examples, "baseline").key, file)
    read = json.loads(printed_by_xprof_python(_IN_PERFETTOS_OWN_WORDS, file))
    assert read["unknown"] == 0
    assert read["events"] > 500
    assert "steps, not time" in read["packets"][0]["track_descriptor"]["name"]
    assert {"unit": "UNIT_SIZE_BYTES"} in [
        packet.get("track_descriptor", {}).get("counter") for packet in read["packets"]
    ]


def test_the_trace_processor_finds_slices_counters_and_arguments(
    small: Graph, tmp_path: Path
) -> None:
    program = shutil.which("trace_processor_shell")
    if program is None:
        pytest.skip(
            "trace_processor_shell is not on the path; Perfetto publishes it for download only"
        )
    write_perfetto(small, SMALL, tmp_path / "small.pftrace")
    found = json.loads(
        printed_by_xprof_python(_IN_THE_TRACE_PROCESSOR, tmp_path / "small.pftrace", program)
    )
    assert found == {"values": 5, "steps": 5, "most_bytes": 13312, "size_bytes_of_kept": 1024}


def test_a_dump_without_live_ranges_has_nothing_to_draw(small: Graph, tmp_path: Path) -> None:
    with pytest.raises(NothingToExport, match=rf"{OLD} has no live ranges"):
        write_perfetto(small, OLD, tmp_path / "old.pftrace")


def test_each_value_takes_the_first_lane_that_is_free():
    random = Random(1)
    for _ in range(100):
        values: list[tuple[StepRange, Any]] = []
        for offset in range(random.randrange(40)):
            first = random.randrange(20)
            live = StepRange(first, first + random.randrange(8))
            values.append((live, SimpleNamespace(offset_bytes=offset)))
        expected: list[list[tuple[StepRange, Any]]] = []
        for live, value in sorted(values, key=lambda each: (each[0].first, each[1].offset_bytes)):
            free = (lane for lane in expected if lane[-1][0].last < live.first)
            lane = next(free, None)
            if lane is None:
                lane = []
                expected.append(lane)
            lane.append((live, value))
        assert list(_lanes(values)) == expected
