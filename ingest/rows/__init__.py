"""Rows of compilations for the graph's tables."""
