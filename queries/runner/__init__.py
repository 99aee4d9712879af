"""Find what a query is asked about, run it, and explain an empty answer."""
