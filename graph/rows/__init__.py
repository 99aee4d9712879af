"""Rows of compilations as tables: stored, written and read back."""
