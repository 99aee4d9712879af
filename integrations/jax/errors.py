"""Errors of planning a JAX function.

NoPlan      the compiler wrote no memory plan
NoTarget    the hardware to compile for is unknown, or its compiler is not installed
"""

__all__ = ["NoPlan", "NoTarget"]


class NoPlan(RuntimeError):
    """A compilation finished, but its memory plan could not be read."""


class NoTarget(ValueError):
    """A topology is unknown or its compiler is not installed; the message says what to install."""
