"""Readers of all input formats: one package for each."""
