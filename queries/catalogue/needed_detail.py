"""Find the detail in which compilations must be stored to answer a statement."""

from functools import cache

from xlagraph.graph.schema_detail import LEFT_OUT, Detail
from xlagraph.queries.catalogue.statement import tokens

__all__ = ["needed_detail"]


@cache
def needed_detail(text: str) -> Detail:
    """Return the lowest detail that stores everything a statement reads."""
    names = {token.text for token in tokens(text) if token.kind == "name"}
    has_all_values = "Value" in names and "LIVE_AT_PEAK" not in names
    needs_all = has_all_values or not names.isdisjoint(LEFT_OUT[Detail.PEAK])
    return Detail.ALL if needs_all else Detail.PEAK
