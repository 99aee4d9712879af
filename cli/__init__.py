"""xlagraph.cli."""
