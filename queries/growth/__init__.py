"""Compare two runs or two compilations."""
