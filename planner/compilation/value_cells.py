"""Convert a value's details to cells for machines."""

from collections.abc import Iterable
from typing import NamedTuple

from xlagraph.graph.engine import Cell
from xlagraph.planner.compilation.records import StoredFrame, column_names
from xlagraph.planner.compilation.value_details import ValueDetails

__all__ = ["value_cells"]


def value_cells(details: ValueDetails) -> dict[str, Cell]:
    """Return all details except the note, as one object."""
    value, live_range, peak = details.value, details.live_range, details.peak
    return {
        "compilation": details.compilation,
        "value": value.label,
        "asked": details.asked,
        "what": {
            "shape": value.shape,
            "layout": value.layout,
            "dtype": value.dtype,
            "sizeBytes": value.size_bytes,
            "denseBytes": value.dense_bytes,
            "paddingBytes": details.padding_bytes,
            "isPhi": value.is_phi,
        },
        "storage": _storage(details),
        "maker": _maker(details),
        "stack": _frames(details.stack),
        "attribution": {
            "attribution": value.attribution,
            "attributedOpName": value.attributed_op_name,
            "attributedFile": value.attributed_file,
            "attributedLine": value.attributed_line,
            "userFile": value.user_file,
            "userLine": value.user_line,
            "userFunction": value.user_function,
        },
        "attributionStack": _frames(details.attribution_stack),
        "names": _mappings(details.names),
        "before": _mappings(details.predecessors),
        "after": _mappings(details.successors),
        "aliases": details.aliases,
        "readers": _mappings(details.readers),
        "life": {
            "liveFrom": live_range.live_from,
            "liveUntil": live_range.live_until,
            "lastUse": live_range.last_use,
            "scheduleLength": live_range.schedule_length,
            "endsAt": live_range.ends_at,
            "ending": str(live_range.ending),
            "why": live_range.why,
        },
        "peak": {
            "physicalBytes": peak.physical_bytes,
            "share": peak.share,
            "rank": peak.rank,
            "contributors": peak.contributors,
            "peakBytes": peak.peak_bytes,
            "peakStep": peak.peak_step,
        },
        "loop": None if details.loop is None else _mapping(details.loop),
        "loopStack": None
        if value.stack_loop is None
        else {
            "stackLoop": value.stack_loop,
            "stackTurns": value.stack_turns,
            "turnBytes": value.turn_bytes,
            "stackElement": value.stack_element,
        },
    }


def _storage(details: ValueDetails) -> dict[str, Cell]:
    allocation = details.allocation
    return {
        "memorySpace": allocation.memory_space,
        "allocation": allocation.number,
        "role": allocation.role,
        "allocationBytes": allocation.size_bytes,
        "offsetBytes": details.value.offset_bytes,
        "parameterNumber": allocation.parameter_number,
        "memorySpaceName": details.space.name,
    }


def _maker(details: ValueDetails) -> dict[str, Cell]:
    value, maker = details.value, details.maker
    return {
        "instruction": value.name,
        "opcode": value.opcode,
        "opName": value.op_name,
        "sourceFile": value.source_file,
        "sourceLine": value.source_line,
        "step": None if maker is None else maker.step,
        "computation": None if maker is None else maker.computation,
    }


def _frames(stack: Iterable[StoredFrame]) -> tuple[dict[str, Cell], ...]:
    return tuple(
        {"function": frame.function, "file": frame.file, "line": frame.line} for frame in stack
    )


def _mappings(records: Iterable[NamedTuple]) -> tuple[dict[str, Cell], ...]:
    """Return records as mappings from column names to cells."""
    return tuple(map(_mapping, records))


def _mapping(record: NamedTuple) -> dict[str, Cell]:
    return dict(zip(column_names(type(record)), record, strict=True))
