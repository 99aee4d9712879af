"""Limits of one request, in addition to those of its read."""

from typing import Final

MOST_BODY_BYTES: Final = 1 << 20
BODY_SECONDS: Final = 10.0
HEADER_SECONDS: Final = 10.0
"""Seconds from the connection, or the first byte of a request, to the end of its headers."""
SENDING_SECONDS: Final = 30.0
"""Seconds in which a client must read the next piece of an answer."""
MOST_HELD_BYTES: Final = 256 << 20
"""Bytes of unsent answers to slow clients; further answers are refused."""
