"""Limits of one read, for the service and for the tools of an assistant."""

from typing import Final

MOST_SECONDS: Final = 30.0
"""Of a read, its parsing and answer included."""
MOST_LONG_SECONDS: Final = 120.0
"""Of advice and the parts of a page, which are no statements of users."""
MOST_MEMORY_BYTES: Final = 2 << 30
"""Memory of a process that reads, by default."""
MOST_ROWS: Final = 100_000
"""Of a statement; a canned query has a limit of its own."""
MOST_ANSWER_BYTES: Final = 32 << 20
MOST_CHARACTERS: Final = 40_000
"""Of the answer of a tool: some ten thousand tokens."""

MOST_WAITING: Final = 128
"""Reads of one lane that wait for a process; one more is refused, to come back later."""
WAITING_SECONDS: Final = 60.0
"""For a process: those of two reads before it, which take as long as they may."""
GONE_SECONDS: Final = 1.0
"""Grace of a read after its client has gone: most end by then, and spare a new process."""
