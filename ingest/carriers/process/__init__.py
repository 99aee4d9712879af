"""A compilation of the process that runs, without any file."""
