"""Conversion of a dump's text to records, and back."""
