"""Everything that the graph holds about one value."""
