"""Versions of a package: which are released, an environment of each, the first that is bad."""
