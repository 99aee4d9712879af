"""Files that exist completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces a file if the block ends without an error."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield unfinished
        if path.exists():
            unfinished.chmod(path.stat().st_mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
