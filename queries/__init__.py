"""xlagraph.queries."""
