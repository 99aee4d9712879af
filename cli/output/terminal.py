"""Whether there is somebody at a terminal to be asked."""

import sys
from typing import TextIO


def can_ask() -> bool:
    """Return whether a question would be seen and answered."""
    # a stream that the caller closed is None
    streams: tuple[TextIO | None, ...] = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)
