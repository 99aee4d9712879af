"""The embedded engine: a graph in one file."""
