"""Limits of one request, of one read for it, and of the answer.

Reads are those of the service and of the tools of an assistant.
"""

from typing import Final

MOST_BODY_BYTES: Final = 1 << 20
MOST_CHUNKS: Final = 2048
"""Chunks of a body; each costs time however small it is."""
MOST_HEADERS: Final = 100
MOST_HEADER_BYTES: Final = 64 << 10
MOST_PIPELINED: Final = 16
"""Requests that a connection may send before their answers."""
BODY_SECONDS: Final = 10.0
HEADER_SECONDS: Final = 10.0
"""Seconds from the connection, or the first byte of a request, to the end of its headers."""
HALF_CLOSED_SECONDS: Final = 1.0
"""Seconds that an answer may take after its client has closed its side of the connection."""
SENDING_SECONDS: Final = 30.0
"""Seconds in which a client must read the next piece of an answer."""
MOST_HELD_BYTES: Final = 256 << 20
"""Bytes of unsent answers to slow clients; further answers are rejected."""
MOST_CONNECTIONS: Final = 4096
"""Open connections; a low limit of open files lowers it."""
MOST_MESSAGE_CHARACTERS: Final = 2_000
"""Characters of a message that says why there is no answer."""

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
