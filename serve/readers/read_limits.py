"""Limits of one read, for the service and for the tools of an assistant."""

from typing import Final

MOST_SECONDS: Final = 30.0
"""Seconds of one read, parsing and answer included."""
MOST_LONG_SECONDS: Final = 120.0
"""Seconds for advice and parts of a page."""
MOST_MEMORY_BYTES: Final = 2 << 30
"""Memory of a process that reads, by default."""
MOST_ROWS: Final = 100_000
"""Rows of a statement; canned queries have their own limits."""
MOST_ANSWER_BYTES: Final = 32 << 20
MOST_CHARACTERS: Final = 40_000
"""Characters in the answer of a tool: about ten thousand tokens."""

MOST_WAITING: Final = 128
"""Reads of one lane that may wait for a process; further ones are rejected."""
WAITING_SECONDS: Final = 60.0
"""Seconds that a read waits for a process: two reads of maximum length."""
GONE_SECONDS: Final = 1.0
"""Seconds until a read is ended after its client disconnected; most finish before."""
