"""Run a canned query, and explain an empty answer."""
