"""The type of messages, and the error for an invalid message."""

from typing import Any, TypeAlias

__all__ = ["Message", "UnfitMessage"]

Message: TypeAlias = Any
"""A message of `xlagraph.hlo.proto_messages`; mypy does not know its fields."""


class UnfitMessage(ValueError):
    """Raised if a message is inconsistent; the text states what was expected and found."""
