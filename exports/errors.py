"""Errors of exports."""

from xlagraph.queries.errors import QueryError

__all__ = ["NothingToExport"]


class NothingToExport(QueryError):
    """The compilation lacks data that a format needs; the message says which, and what to do."""
