"""Prepare dumps in several processes, and load their rows into a graph or an export."""
