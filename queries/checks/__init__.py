"""Compare totals and capacities with what the graph holds."""
