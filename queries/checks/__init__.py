"""Check the totals and the capacities of the compilations in a graph."""
