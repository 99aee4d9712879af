"""The text of a dump as records, and back."""
