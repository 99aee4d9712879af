"""Measures derived from a plan: live ranges, successions, peaks."""
