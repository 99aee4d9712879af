"""Options that recur, each defined once."""
