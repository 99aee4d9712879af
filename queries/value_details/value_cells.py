"""The details of a value as cells for machines."""

from xlagraph.graph.engine import Cell
from xlagraph.queries.value_details.details import ValueDetails

__all__ = ["value_cells"]


def value_cells(details: ValueDetails) -> dict[str, Cell]:
    """Return all details by name but the note, as one object."""
    live_range = details.live_range
    return {
        "compilation": details.compilation,
        "value": details.value,
        "asked": details.asked,
        "what": details.properties,
        "storage": details.storage,
        "maker": details.maker,
        "stack": details.stack,
        "attribution": details.attribution,
        "attributionStack": details.attribution_stack,
        "names": details.names,
        "before": details.predecessors,
        "after": details.successors,
        "aliases": details.aliases,
        "readers": details.readers,
        "life": {
            "liveFrom": live_range.live_from,
            "liveUntil": live_range.live_until,
            "lastUse": live_range.last_use,
            "scheduleLength": live_range.schedule_length,
            "endsAt": live_range.ends_at,
            "ending": str(live_range.ending),
            "why": live_range.why,
        },
        "peak": details.peak,
    }
