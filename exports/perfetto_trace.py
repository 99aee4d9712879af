"""The schedule as a trace of Perfetto: bytes as counters, values as slices of their allocations.

A trace needs times, a schedule has steps: one step is drawn as one microsecond, and the tracks say
so.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import Final

from xlagraph.exports.file_formats import NothingToExport, write_whole
from xlagraph.exports.placed_program import (
    PlacedProgram,
    StepRange,
    read_program,
    step_range,
)
from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.record_cells import cells_of_columns
from xlagraph.hlo.descriptor_sets import DescriptorSet, Message
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.heap import summed_by_step
from xlagraph.planner.planned_program import PlannedAllocation
from xlagraph.presentation.byte_sizes import human_bytes

Trace: Final = DescriptorSet(Path(__file__).parent, "perfetto").message("Trace")
_NANOSECONDS_OF_A_STEP: Final = 1_000
_SEQUENCE: Final = 1
_STEPS_NOT_TIME: Final = "steps, not time: 1 µs is one step of the schedule"
_FACTS_OF_INSTRUCTIONS: Final = ("step", "opcode", "shape", "opName", "sourceFile", "sourceLine")
_FACTS_OF_VALUES: Final = (
    *("valueId", "shape", "sizeBytes", "offsetBytes", "liveFrom", "liveUntil", "opcode"),
    *("attributedOpName", "attributedFile", "attributedLine"),
)


def write_perfetto(graph: Graph, compilation: str, path: Path) -> None:
    """Write a compilation's schedule, by its key, with the bytes live at each step.

    Raises NothingToExport if the dump has no live ranges, NameUnknown, GraphUnwritable.
    """
    program = read_program(graph, compilation)
    if not any(map(step_range, program.values)):
        raise NothingToExport(
            f"{compilation} has no live ranges to draw along a schedule;"
            " parquet and csv export it without them"
        )
    writer = _TraceWriter()
    top = writer.add_track(f"{compilation} ({_STEPS_NOT_TIME})", description=_STEPS_NOT_TIME)
    _write_counters(writer, top, program)
    _write_schedule(writer, top, program)
    _write_allocations(writer, top, program)
    write_whole(path, writer.trace.SerializeToString(deterministic=True))


def _write_counters(writer: "_TraceWriter", top: int, program: PlacedProgram) -> None:
    steps = [each for each in program.instructions if each.step is not None]
    of_space_0 = program.space_names.get(0, "memory space 0")
    physical = [(each.step or 0, each.physical_bytes or 0) for each in steps]
    writer.add_counter(top, f"{of_space_0}: physical bytes", physical)
    for color, name in program.space_names.items():
        ranges = [
            (live, value.size_bytes)
            for value in program.values
            if value.memory_space == color and (live := step_range(value)) is not None
        ]
        if ranges:
            writer.add_counter(top, f"{name}: logical bytes", summed_by_step(ranges))


def _write_schedule(writer: "_TraceWriter", top: int, program: PlacedProgram) -> None:
    track = writer.add_track("schedule", top)
    for each in program.instructions:
        if each.step is not None:
            writer.add_slice(
                track,
                each.name,
                StepRange(each.step, each.step),
                cells_of_columns(each, _FACTS_OF_INSTRUCTIONS),
            )


def _write_allocations(writer: "_TraceWriter", top: int, program: PlacedProgram) -> None:
    """Write a group of tracks for each allocation, the largest first."""
    values: dict[int, list[tuple[StepRange, StoredValue]]] = defaultdict(list)
    for value in program.values:
        if (live := step_range(value)) is not None:
            values[value.allocation].append((live, value))
    largest_first = sorted(program.allocations, key=lambda each: (-each.size_bytes, each.number))
    for allocation in largest_first:
        for lane in _lanes(values[allocation.number]):
            track = writer.add_track(_allocation_name(allocation, program), top)
            for live_range, value in lane:
                writer.add_slice(
                    track, value.label, live_range, cells_of_columns(value, _FACTS_OF_VALUES)
                )


def _lanes(
    values: Sequence[tuple[StepRange, StoredValue]],
) -> Iterator[list[tuple[StepRange, StoredValue]]]:
    """Yield lanes of values that are never live together: slices of a track must not cross.

    Each value takes the first free lane. O(n log n).
    """
    lanes: list[list[tuple[StepRange, StoredValue]]] = []
    free: list[int] = []
    taken: list[tuple[int, int]] = []  # the last step of each taken lane, and its number
    for live_range, value in sorted(values, key=lambda each: (each[0].first, each[1].offset_bytes)):
        while taken and taken[0][0] < live_range.first:
            heappush(free, heappop(taken)[1])
        if not free:
            free.append(len(lanes))
            lanes.append([])
        number = heappop(free)
        lanes[number].append((live_range, value))
        heappush(taken, (live_range.last, number))
    yield from lanes


def _allocation_name(allocation: PlannedAllocation, program: PlacedProgram) -> str:
    space = program.space_names[allocation.memory_space]
    size = human_bytes(allocation.size_bytes)
    return f"allocation {allocation.number}: {allocation.role or 'no role'}, {size}, {space}"


class _TraceWriter:
    """A trace under construction."""

    def __init__(self) -> None:
        self.trace: Message = Trace()
        self._tracks = 0

    def add_track(self, name: str, parent: int = 0, *, description: str = "") -> int:
        """Add a track below another, after its siblings; return its number."""
        track = self._descriptor(name, parent)
        track.description = description
        track.child_ordering = "EXPLICIT"
        return self._tracks

    def add_counter(self, parent: int, name: str, bytes_at: Sequence[tuple[int, int]]) -> None:
        """Add a counter of bytes, given as the steps at which it changes."""
        track = self._descriptor(name, parent)
        track.counter.unit = "UNIT_SIZE_BYTES"
        number = self._tracks
        for step, count in bytes_at:
            self._event(number, step, type="TYPE_COUNTER", counter_value=count)

    def add_slice(self, track: int, name: str, steps: StepRange, facts: Mapping[str, Cell]) -> None:
        """Add a slice from the beginning of the first step to the end of the last."""
        event = self._event(track, steps.first, type="TYPE_SLICE_BEGIN", name=name)
        for fact, value in facts.items():
            if isinstance(value, int):
                event.debug_annotations.add(name=fact, int_value=value)
            elif isinstance(value, str):
                event.debug_annotations.add(name=fact, string_value=value)
        self._event(track, steps.last + 1, type="TYPE_SLICE_END")

    def _descriptor(self, name: str, parent: int) -> Message:
        self._tracks += 1
        track = self.trace.packet.add(trusted_packet_sequence_id=_SEQUENCE).track_descriptor
        track.uuid = self._tracks
        track.parent_uuid = parent
        track.sibling_order_rank = self._tracks
        track.name = name
        return track

    def _event(self, track: int, step: int, **fields: object) -> Message:
        packet = self.trace.packet.add(
            timestamp=step * _NANOSECONDS_OF_A_STEP,
            trusted_packet_sequence_id=_SEQUENCE,
            track_event={"track_uuid": track, **fields},
        )
        return packet.track_event
