"""The option that bounds the memory of the processes that read a graph for others."""

from typing import Annotated, Final

import typer

from xlagraph.cli.options.limits import parse_bytes_limit
from xlagraph.presentation.byte_sizes import human_bytes

__all__ = ["DEFAULT_MEMORY", "MemoryOption", "parse_memory"]

DEFAULT_MEMORY: Final = "2GiB"
_LEAST_BYTES: Final = 256 << 20
"""A process has some 150 MiB before its first read."""

MemoryOption = Annotated[
    str, typer.Option(metavar="SIZE", help="Most memory of one read: 512MiB, 4GiB.")
]


def parse_memory(text: str) -> int:
    """Read the value of the option, in bytes."""
    size_bytes = parse_bytes_limit(text)
    if size_bytes < _LEAST_BYTES:
        raise typer.BadParameter(
            f"expected --memory of at least {human_bytes(_LEAST_BYTES)}, found {text}"
        )
    return size_bytes
