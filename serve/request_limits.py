"""How much one request may take: of the service, and of the tools of an assistant."""

from typing import Final

MOST_SECONDS: Final = 30.0
MOST_ROWS: Final = 100_000
"""Of a statement; a canned query has a limit of its own."""
MOST_BODY_BYTES: Final = 1 << 20
MOST_AT_ONCE: Final = 32
"""Requests under way; one more is refused, to come back later."""
