"""Memory that an instruction of a TPU takes only while it runs, from its backend config.

    "scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"16777216"}]      the limit
    "used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"4558848"}]  what it takes

The blocks of a Pallas kernel, each twice if they are double-buffered, its scratch and what the
compiler adds are in it. XLA writes the second when it generates code, after the memory plan.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["ScopedMemory", "scoped_memory", "scoped_memory_of_lines"]

_VMEM: Final = 1
_NEEDLE: Final = '"used_scoped_memory_configs":[{'
_CONFIGS: Final = re.compile(r'"(used_)?scoped_memory_configs":\[([^\]]*)\]')
_SIZE: Final = re.compile(r'"memory_space":"?(\d+)"?,"offset":"?\d+"?,"size":"?(\d{1,18})"?')
_NAME: Final = re.compile(r" *(?:ROOT )?%?([^\s=]+) = ")


class ScopedMemory(NamedTuple):
    """Bytes of VMEM that an instruction takes while it runs, and the most that it may take."""

    used_bytes: int
    limit_bytes: int | None


def scoped_memory(config: str) -> ScopedMemory | None:
    """Return what a backend config states; None if it states nothing."""
    used: int | None = None
    limit: int | None = None
    for is_used, configs in _CONFIGS.findall(config):
        for space, size in _SIZE.findall(configs):
            if int(space) == _VMEM and is_used:
                used = int(size)
            elif int(space) == _VMEM:
                limit = int(size)
    return None if used is None else ScopedMemory(used, limit)


def scoped_memory_of_lines(text: str) -> Iterator[tuple[str, ScopedMemory]]:
    """Yield the name and the scoped memory of each instruction of a module text that has some."""
    at = text.find(_NEEDLE)
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        line = text[start : end if end >= 0 else len(text)]
        name, found = _NAME.match(line), scoped_memory(line)
        if name is not None and found is not None:
            yield name[1], found
        at = text.find(_NEEDLE, start + len(line))
