"""Convert a value's details to cells for machines."""

from collections.abc import Iterable
from typing import Final

from xlagraph.graph.engine import Cell
from xlagraph.graph.record_cells import cells_of_columns, record_cells
from xlagraph.planner.compilation.records import StoredFrame
from xlagraph.planner.compilation.value_details import ValueDetails

_ATTRIBUTION: Final = (
    *("attribution", "attributedOpName", "attributedFile", "attributedLine"),
    *("userFile", "userLine", "userFunction"),
)
_LOOP_STACK: Final = ("stackLoop", "stackTurns", "turnBytes", "stackElement")


def value_cells(details: ValueDetails) -> dict[str, Cell]:
    """Return all details except the note, as one object."""
    value = details.value
    return {
        "compilation": details.compilation,
        "value": value.label,
        "asked": details.asked,
        "what": {
            **cells_of_columns(value, ("shape", "layout", "dtype", "sizeBytes", "denseBytes")),
            "paddingBytes": details.padding_bytes,
            "isPhi": value.is_phi,
        },
        "storage": _storage(details),
        "maker": _maker(details),
        "stack": _frames(details.stack),
        "attribution": cells_of_columns(value, _ATTRIBUTION),
        "attributionStack": _frames(details.attribution_stack),
        "names": tuple(map(record_cells, details.names)),
        "before": tuple(map(record_cells, details.predecessors)),
        "after": tuple(map(record_cells, details.successors)),
        "aliases": details.aliases,
        "readers": tuple(map(record_cells, details.readers)),
        "life": record_cells(details.live_range) | {"ending": str(details.live_range.ending)},
        "peak": record_cells(details.peak),
        "loop": None if details.loop is None else record_cells(details.loop),
        "loopStack": None if value.stack_loop is None else cells_of_columns(value, _LOOP_STACK),
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
    return tuple(cells_of_columns(frame, ("function", "file", "line")) for frame in stack)
