"""Compilations as rows of the graph's tables."""
