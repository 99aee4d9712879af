"""Readers of the forms in which a compilation is stored: one package for each carrier."""
