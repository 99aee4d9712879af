"""The measured sections of the table, one module each."""
