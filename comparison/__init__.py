"""Compare two runs or two compilations, and find what grew and why."""
