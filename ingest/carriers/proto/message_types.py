"""Messages, and what is raised where one is not as XLA writes it."""

from typing import Any, TypeAlias

__all__ = ["Message", "UnfitMessage"]

Message: TypeAlias = Any
"""A message of `xlagraph.protos`: its fields are known to protobuf, not to mypy."""


class UnfitMessage(ValueError):
    """Raised where a message contradicts itself: a sentence with what was expected and found."""
