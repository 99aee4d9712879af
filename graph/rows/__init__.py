"""Rows of compilations as tables: how they are kept, written and read back."""
