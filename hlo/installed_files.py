"""Recognises source files of installed packages and of Python itself."""

import re
from typing import Final

__all__ = ["is_installed"]

_INSTALLED: Final = re.compile(
    r"(?:^|[/\\])(?:site|dist)-packages[/\\]|[/\\]lib/python3\.|^<frozen "
)


def is_installed(file: str) -> bool:
    """Return whether a source file belongs to an installed package or to Python itself."""
    return _INSTALLED.search(file) is not None
