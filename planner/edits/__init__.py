"""Edits of a program, and the memory that XLA would plan after them."""
