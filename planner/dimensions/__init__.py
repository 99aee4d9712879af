"""Dimensions of a program's arrays, followed through its operations."""
