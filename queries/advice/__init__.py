"""Advise what to change, ranked by what it may save."""
