"""Limits of one request, besides those of its read."""

from typing import Final

MOST_BODY_BYTES: Final = 1 << 20
BODY_SECONDS: Final = 10.0
HEADER_SECONDS: Final = 10.0
"""From the first byte of a request, or from the connection, to the end of its headers."""
SENDING_SECONDS: Final = 30.0
"""In which a reader takes the next piece of an answer."""
MOST_HELD_BYTES: Final = 256 << 20
"""Of answers whose readers are slow; one more is refused."""
