"""Errors that an ingest raises, and problems that it reports."""
