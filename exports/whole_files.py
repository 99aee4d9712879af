"""Files that appear whole or not at all."""

import os
from pathlib import Path

from xlagraph.graph.errors import raise_unwritable

__all__ = ["write_whole"]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it, and make its folder; or GraphUnwritable."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with raise_unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_bytes(content)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
