"""A plan under changes as cells for machines."""

from xlagraph.graph.engine import Cell
from xlagraph.queries.advice.whatif import WhatIf

__all__ = ["whatif_cells"]


def whatif_cells(result: WhatIf) -> dict[str, Cell]:
    """Return the cells of a result by name; what is live at the peak and donated as objects."""
    return {
        "compilation": result.compilation,
        "tempBytes": result.temp_bytes,
        "tempBytesReplayed": result.temp_bytes_replayed,
        "offsetsEqual": result.offsets_equal,
        "reservedBytes": result.reserved_bytes,
        "reservedBytesReplanned": result.reserved_bytes_replanned,
        "reservedBytesAfter": result.reserved_bytes_after,
        "reservedBytesAtMost": result.reserved_bytes_at_most,
        "tempBytesAfter": result.temp_bytes_after,
        "peakStepAfter": result.peak_step_after,
        "lowerBoundBytes": result.lower_bound_bytes,
        "liveAtPeak": [
            {
                "value": holder.value,
                "sizeBytes": holder.size_bytes,
                "shape": holder.shape,
                "opName": holder.op_name,
            }
            for holder in result.peak_values
        ],
        "donated": [
            {
                "parameter": donated.parameter,
                "output": donated.output,
                "sizeBytes": donated.size_bytes,
                "outcome": donated.outcome,
            }
            for donated in result.donated
        ],
        "assumptions": list(result.assumptions),
    }
