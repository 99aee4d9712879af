"""The option that limits the memory of processes that read a graph for a server."""

from typing import Annotated, Final

import typer

from xlagraph.cli.output.limits import parse_bytes_limit
from xlagraph.presentation.byte_sizes import human_bytes

__all__ = ["DEFAULT_MEMORY", "MemoryOption", "parse_memory"]

DEFAULT_MEMORY: Final = "2GiB"
_LEAST_BYTES: Final = 256 << 20
"""A process uses some 150 MiB before its first read."""

MemoryOption = Annotated[
    str, typer.Option(metavar="SIZE", help="Memory limit of one read: 512MiB, 4GiB.")
]


def parse_memory(text: str) -> int:
    """Parse the value of the option; return bytes."""
    size_bytes = parse_bytes_limit(text)
    if size_bytes < _LEAST_BYTES:
        raise typer.BadParameter(
            f"expected --memory of at least {human_bytes(_LEAST_BYTES)}, found {text}"
        )
    return size_bytes
