"""Conversion of the text of a dump to records, and back."""
