"""Errors and problems of an ingest, which every part of it can raise or report."""
