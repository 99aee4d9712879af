"""Memory that an instruction of a TPU takes only while it runs, from its backend config.

    "scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"16777216"}]      the limit
    "used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"4558848"}]  what it takes

The blocks of a Pallas kernel, each twice if they are double-buffered, its scratch and what the
compiler adds are in it. XLA writes the second when it generates code, after the memory plan; the
limit of a kernel is in every text, if the kernel has one of its own.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_VMEM: Final = "1"
_SMEM: Final = "4"
_NEEDLE: Final = 'scoped_memory_configs":[{'
_KERNEL: Final = " custom-call("
_CONFIGS: Final = re.compile(r'"(used_)?scoped_memory_configs":\[([^\]]*)\]')
_SIZE: Final = re.compile(r'"memory_space":"?(\d+)"?,"offset":"?\d+"?,"size":"?(\d{1,18})"?')
_NAME: Final = re.compile(r" *(?:ROOT )?%?([^\s=]+) = ")


class ScopedMemory(NamedTuple):
    """Bytes that an instruction takes while it runs, and the most that it may take."""

    used_bytes: int | None
    """VMEM; None if the text is written before code is generated."""
    limit_bytes: int | None
    """Most VMEM; None if it has no limit of its own."""
    smem_bytes: int | None = None
    """Memory of scalars."""


def scoped_memory(config: str, *, is_kernel: bool = False) -> ScopedMemory | None:
    """Return what a backend config states; None if it states nothing of what runs.

    Every fusion has a limit, so that the limit alone counts only for a kernel.
    """
    sizes = {
        (used, space): int(size)
        for used, configs in _CONFIGS.findall(config)
        for space, size in _SIZE.findall(configs)
    }
    taken, limit = sizes.get(("used_", _VMEM)), sizes.get(("", _VMEM))
    smem = sizes.get(("used_", _SMEM))
    if taken is None and smem is None and not (is_kernel and limit is not None):
        return None
    return ScopedMemory(taken, limit, smem)


def scoped_memory_of_lines(text: str) -> Iterator[tuple[str, ScopedMemory]]:
    """Yield the name and the scoped memory of each instruction of a module text that has some."""
    at = text.find(_NEEDLE)
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        line = text[start : end if end >= 0 else len(text)]
        name, found = _NAME.match(line), scoped_memory(line, is_kernel=_KERNEL in line)
        if name is not None and found is not None:
            yield name[1], found
        at = text.find(_NEEDLE, start + len(line))
