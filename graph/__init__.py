"""xlagraph.graph."""
