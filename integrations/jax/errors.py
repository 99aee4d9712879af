"""What planning a JAX function raises.

NoPlan      the compiler wrote no memory plan
NoTarget    the hardware to compile for is unknown, or its compiler is not installed
"""

__all__ = ["NoPlan", "NoTarget"]


class NoPlan(RuntimeError):
    """Raised where a compilation finished and no memory plan of it could be read."""


class NoTarget(ValueError):
    """Raised for an unknown topology, or one whose compiler is not installed: what to install."""
