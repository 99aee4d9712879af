"""Files that are written completely or not at all."""

import os
from pathlib import Path

from xlagraph.graph.errors import raise_unwritable

__all__ = ["write_whole"]


def write_whole(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it; create the folder. Raise GraphUnwritable on errors."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with raise_unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_bytes(content)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
