"""Read the program and the platform from a dump's name.

[TIMESTAMP.]module_NNNN[.NAME][.cl_N].STAGE
[HOST/]NAME(NNNN)                             in a profile or process
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

# 1795217606140152.
_TIMESTAMP: Final = re.compile(r"\d{10,}\.")
# 1795217606140152.module_0000.after_optimizations
# module_0001.SyncTensorsGraph.45.cl_829516930.sm_8.0_gpu_after_optimizations
_NAME: Final = re.compile(
    r"""(?:\d{10,}\.)?
        module_(?P<module_id>\d{1,18})
        (?:\.(?P<module_name>.+?))??
        (?:\.cl_\d+)?
        (?:\.(?P<target>cpu_|(?:sm_(?:[\d.]+[a-z]?_)?)?gpu_|gfx[^.]*_gpu_)?after_optimizations)?
    """,
    re.VERBOSE | re.DOTALL,
)
# jit_train_step(8)   vm_1/jit_train_step(8)
_EXECUTABLE: Final = re.compile(
    r"(?:.*/)?(?P<module_name>[^/]+)\((?P<module_id>\d{1,18})\)", re.DOTALL
)
_PLATFORMS: Final[Mapping[str, str]] = {"cpu": "cpu", "gfx": "rocm"}
# SyncTensorsGraph.45
_TRAILING_NUMBER: Final = re.compile(r"\.\d+\Z")


class DumpName(NamedTuple):
    """The facts in a dump's name; None if the name does not state them."""

    module_id: int | None
    module_name: str | None
    module: str | None
    """Module name without trailing ``.digits``: the same program in all runs."""
    platform: str | None
    """Platform: ``cpu``, ``gpu`` or ``rocm``."""


def dump_name(stem: str) -> DumpName:
    """Parse a stem: ``module_0064.jit_train_step.cpu_after_optimizations``, ``jit_f(8)``."""
    match = _NAME.fullmatch(stem) or _EXECUTABLE.fullmatch(stem)
    if match is None:
        return DumpName(None, None, None, None)
    module_name: str | None = match["module_name"]
    module = None if module_name is None else _TRAILING_NUMBER.sub("", module_name)
    target: str | None = match.groupdict().get("target")
    platform = None if target is None else _PLATFORMS.get(target[:3], "gpu")
    return DumpName(int(match["module_id"]), module_name, module or None, platform)


def split_timestamp(stem: str) -> tuple[int, str]:
    """Return the timestamp in microseconds (0 if there is none) and the rest of the stem."""
    match = _TIMESTAMP.match(stem)
    return (0, stem) if match is None else (int(match[0][:-1]), stem[match.end() :])
