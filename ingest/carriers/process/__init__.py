"""Compilations of the running process, which need no file."""
