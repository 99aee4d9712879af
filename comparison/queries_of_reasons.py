"""The query that shows the details of each kind of reason."""

from xlagraph.comparison.reasons import Reason, ReasonKind


def query_of(reason: Reason, names: tuple[str, str]) -> tuple[str, dict[str, str]]:
    """Return the id and the parameters of the query that shows the details."""
    sides = {"runA": names[0], "runB": names[1]}
    before, after = reason.compilations
    match reason.subject.kind:
        case ReasonKind.UNDONATED:
            return "alias/not-donated", {"compilation": after}
        case ReasonKind.DONATED:
            return "alias/donated", {"compilation": after}
        case ReasonKind.UNCHECKPOINTED:
            return "lifetime/recomputed", {"compilation": before}
        case ReasonKind.CHECKPOINTED:
            return "lifetime/recomputed", {"compilation": after}
        case ReasonKind.COPIES:
            is_more = reason.count_b >= reason.count_a
            return "alias/copies", {"compilation": after if is_more else before}
        case ReasonKind.SCOPE_NEW | ReasonKind.SCOPE_GONE:
            return "compare/scopes", sides
        case (
            ReasonKind.PEAK
            | ReasonKind.SPACE
            | ReasonKind.PLACED
            | ReasonKind.REPLACED
            | ReasonKind.STACKED
            | ReasonKind.ORDER
            | ReasonKind.FUSED
            | ReasonKind.LIBRARY
            | ReasonKind.NEW_CODE
            | ReasonKind.CALLED
            | ReasonKind.EDITED
            | ReasonKind.COLLECTIVES
            | ReasonKind.UNROLLED
            | ReasonKind.TURNS
            | ReasonKind.AGAIN
        ):
            return "compare/lines", sides
        case ReasonKind.FRAGMENTATION:
            return "reuse/fragmentation", {"compilation": after}
        case ReasonKind.IDLE | ReasonKind.UNKNOWN:
            return "compare/causes", sides
        case ReasonKind.PLATFORM | ReasonKind.VERSION:
            return "overview/compilations", {}
        case ReasonKind.UNPAIRED | ReasonKind.OTHER:
            return "compare/modules", sides
        case _:
            return "compare/values", sides
