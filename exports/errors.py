"""What can be missing for an export."""

from xlagraph.queries.errors import QueryError

__all__ = ["NothingToExport"]


class NothingToExport(QueryError):
    """The compilation lacks what a format shows; the message says what, and what to do."""
