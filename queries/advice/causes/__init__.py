"""Causes of memory use that a single query does not name, each with its own edit."""
