"""Read a compilation from a module and its buffer assignment.

Facts missing from the messages are derived: positions and uses (`dataflow`), the flat schedule and
live ranges (`live_steps`), the printed peak (`peak_rule`). A module without a schedule (XLA on
CPUs up to jaxlib 0.4.28) has no live ranges and no peak.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from xlagraph.hlo.buffer_sets import connected_components
from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.program import Program
from xlagraph.ingest.carriers.carrier import Contents
from xlagraph.ingest.carriers.proto.assigned_values import (
    AssignedValues,
    allocations,
    assigned_values,
)
from xlagraph.ingest.carriers.proto.dataflow import Definition, Flow, value_flow
from xlagraph.ingest.carriers.proto.live_steps import (
    ModuleSchedule,
    Variant,
    flat_schedule,
    live_steps,
    trace_agrees,
)
from xlagraph.ingest.carriers.proto.module import Module
from xlagraph.ingest.carriers.proto.peak_rule import LiveValue, printed_peak
from xlagraph.ingest.carriers.proto.stated_program import name_async_operations, program_of
from xlagraph.ingest.errors import Problem, UnfitMessage, UnreadableDump, readable
from xlagraph.ingest.plan import LiveRange, LiveRanges, Plan
from xlagraph.runtime.memory import collector_paused

HLO: Final = "hlo"
"""Name of the part with both a module and its assignment."""
MODULE: Final = "module"
"""Name of the part with only the module."""
ASSIGNMENT: Final = "assignment"
"""Name of the part with only the assignment."""
VERSION: Final = "version"
"""Name of the part with the version of jaxlib, known of a compilation in memory."""

_WITH_PAGES: Final = (0, 11, 2)
"""First version of jaxlib with pages: page 0 in all dumps seen. Messages do not state it."""
_MOST_BYTES: Final = 2**30
"""Largest size of a message; its decoded form takes six times as much memory."""
_STANDARD: Final = Variant("the rules of most releases")
_EARLY_CUT: Final = Variant("the rules of TensorFlow 2.8", is_cut_early=True)
_SLICED: Final = Variant("the rules of jaxlib 0.12 and libtpu 0.0.50", is_sliced=True)
_OTHERS: Final = (
    _SLICED,
    Variant("the rules of jaxlib 0.4.13", reads_at_call=True),
)
"""Rules to try if XLA's heap trace contradicts the standard rules."""
_CONTRADICTED: Final = (
    "its heap trace contradicts its derived live ranges: live ranges, peaks and reuse are "
    "uncertain; dump the text too: --xla_dump_hlo_as_text"
)
_NO_SCHEDULE: Final = (
    "its module has no schedule: live ranges, peaks and reuse are unknown; dump the text too: "
    "--xla_dump_hlo_as_text"
)


@collector_paused()
def read_proto_dump(contents: Contents) -> tuple[Plan, Program]:
    """Return the plan and the program.

    Raises `UnreadableDump` if a message cannot be decoded, has no assignment, or contradicts
    itself. Uncertain live ranges are added to the problems of the contents.
    """
    file = readable(contents.source.parts[0].path)
    try:
        message = _decoded(contents)
        module = Module(message.hlo_module)
        plan, remarks = _plan(message.buffer_assignment, module, _page(contents))
        program = program_of(module)
    except UnfitMessage as error:
        raise UnreadableDump(Problem(file, None, str(error))) from None
    contents.problems.extend(Problem(file, None, each, left_out=False) for each in remarks)
    return plan, program


def _decoded(contents: Contents) -> Message:
    from google.protobuf.message import DecodeError

    from xlagraph.hlo.proto_messages import HloProto

    message = HloProto()
    targets = {
        HLO: message,
        MODULE: message.hlo_module,
        ASSIGNMENT: message.buffer_assignment,
    }
    for name, target in targets.items():
        content = contents.take(name)
        if content is None:
            continue
        if len(content) > _MOST_BYTES:
            raise UnfitMessage("expected at most 1 GiB, found more; dump the text instead")
        try:
            target.MergeFromString(content)
        except DecodeError:
            raise UnfitMessage(
                "expected a whole HloProto with UTF-8 names, found bytes that are not one"
            ) from None
    if not message.ByteSize():
        raise UnfitMessage("is empty: the program ended before XLA had written it")
    if not message.HasField("buffer_assignment"):
        raise UnfitMessage("expected a buffer assignment, found none")
    return message


def _page(contents: Contents) -> int | None:
    """Return the page of every allocation; None without pages, or if the version is unknown."""
    version = re.findall(r"\d+", (contents.take(VERSION) or b"").decode())
    return 0 if tuple(map(int, version)) >= _WITH_PAGES else None


def _plan(assignment: Message, module: Module, page: int | None) -> tuple[Plan, list[str]]:
    assigned = assigned_values(assignment, module)
    flow = value_flow(module, assigned.definitions)
    sets = _buffer_sets(assignment, assigned, module)
    remarks = [
        f"several instructions run {name}; its parameters are taken from the first one"
        for name in sorted(flow.called_twice)
    ]
    live_ranges = agrees = None
    derived = ["total", "positions", "uses"]
    if module.has_schedule:
        timed = _timed(assignment, assigned, module, flow, sets)
        flow, live_ranges, agrees = timed.flow, timed.live_ranges, timed.agrees
        derived += ["schedule", "ranges", "peak"]
        if agrees is False:
            remarks.append(_CONTRADICTED)
    else:
        remarks.append(_NO_SCHEDULE)
    name_async_operations(module, [place.instruction for place in assigned.definitions.values()])
    output = _output(assigned, flow, module)
    listed = tuple(allocations(assignment, module, output, page))
    plan = Plan(
        allocations=listed,
        values=assigned.values,
        total_bytes=sum(allocation.size_bytes for allocation in listed),
        used_values=flow.used_values,
        live_ranges=live_ranges,
        buffer_sets=sets,
        derived=tuple(derived),
        heap_trace_agrees=agrees,
    )
    return plan, remarks


def _buffer_sets(assignment: Message, assigned: AssignedValues, module: Module) -> dict[int, int]:
    """Return the must-alias set of each value: the smallest id in the set."""
    by_place = {place: value_id for value_id, place in assigned.definitions.items()}
    pairs = []
    for alias in assignment.buffer_aliases:
        at = alias.location
        instruction = (
            module.named(at.instruction_name)
            if at.instruction_name
            else module.instruction(at.instruction_id)
        )
        other = by_place.get(Definition(instruction.name, tuple(at.shape_index)))
        if other is not None and alias.source_buffer_id in assigned.definitions:
            pairs.append((alias.source_buffer_id, other))
    return connected_components(assigned.definitions, pairs)


class _Timed(NamedTuple):
    """The facts that depend on the schedule."""

    flow: Flow
    live_ranges: LiveRanges
    agrees: bool | None


def _timed(
    assignment: Message,
    assigned: AssignedValues,
    module: Module,
    flow: Flow,
    sets: Mapping[int, int],
) -> _Timed:
    """Derive live ranges by the rules of the XLA that wrote the messages.

    Messages with names instead of ids are from an old producer, and those of jaxlib 0.12 have a
    field of their own. If a heap trace contradicts these rules, use the rules that it agrees with;
    without any, use the standard rules.
    """
    schedule = flat_schedule(module)
    colors = {value.value_id: value.memory_space or 0 for value in assigned.values}

    def timed(variant: Variant) -> _Timed:
        followed = flow
        if variant.is_sliced:
            followed = value_flow(module, assigned.definitions, is_sliced_variant=True)
        ranges = live_steps(module, schedule, followed, assigned.definitions, sets, variant)
        agrees = trace_agrees(assignment, ranges, colors)
        return _Timed(followed, _live_ranges(schedule, ranges, assigned), agrees)

    if schedule.waits and _is_since_0_12(module):
        newest = timed(_SLICED)
        if newest.agrees is not False:
            return newest
    standard = timed(_EARLY_CUT if assigned.has_names else _STANDARD)
    if standard.agrees is not False:
        return standard
    others = (timed(variant) for variant in _OTHERS if schedule.waits or not variant.is_sliced)
    return next((other for other in others if other.agrees), standard)


def _is_since_0_12(module: Module) -> bool:
    """Return True if jaxlib 0.12 or a later one wrote the module."""
    return any(
        instruction.HasField("of_product")
        for computation in module.message.computations
        for instruction in computation.instructions
    )


def _live_ranges(
    schedule: ModuleSchedule, ranges: Mapping[int, tuple[int, int]], assigned: AssignedValues
) -> LiveRanges:
    values = sorted(
        (value for value in assigned.values if value.value_id in ranges),
        key=lambda value: value.value_id,
    )
    live = [
        LiveValue(
            value.name,
            assigned.definitions[value.value_id].shape_index,
            *ranges[value.value_id],
            *assigned.sizes[value.value_id],
        )
        for value in values
    ]
    return LiveRanges(
        len(schedule.steps),
        tuple(schedule.steps),
        tuple(
            [
                LiveRange(value.name, value.shape_index or "{}", *ranges[value.value_id])
                for value in values
            ]
        ),
        printed_peak(live, len(schedule.steps)),
    )


def _output(assigned: AssignedValues, flow: Flow, module: Module) -> int | None:
    """Return the allocation's number with the whole result; None if there is none."""
    root = module.root(module.entry).name
    holders = {
        used.value_id
        for used in flow.used_values
        for name, index in used.positions
        if name == root and index in (None, "{}")
    }
    return next((value.allocation for value in assigned.values if value.value_id in holders), None)
