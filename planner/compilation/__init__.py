"""A compilation read back from a graph as typed records."""
