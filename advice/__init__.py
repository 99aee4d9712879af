"""Advise what to change, check what fits, and explain error messages."""
