"""Why a folder has no dump, and what to do."""

import os
import re
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Final

__all__ = ["NoDumps", "why_no_dumps"]

_FLAGS: Final = "XLA_FLAGS=--xla_dump_to=DIR"
# jit_train_step-6b1c…-cache   jit_train_step-6b1c…-atime   .lockfile
_OF_CACHE: Final = re.compile(r".*-[0-9a-f]{64}(-cache|-atime)?|\.?lockfile|\.nfs\w+", re.DOTALL)


class NoDumps(Enum):
    """A reason, as what one should know and do."""

    EMPTY = (
        "it is empty: XLA reads XLA_FLAGS once, when it is first used; set "
        f"{_FLAGS} before the program starts"
    )
    MODULE_TEXTS = (
        "it holds texts of modules, but no buffer assignment: these programs were not compiled "
        "but came out of a compilation cache; run again without it "
        "(JAX_ENABLE_COMPILATION_CACHE=false), or with an empty one"
    )
    PROTOS = (
        "it holds modules in protobuf without a buffer assignment alone, which XLA dumps at the "
        f"last stage of a compilation: set {_FLAGS} and --xla_dump_hlo_as_proto, and run again "
        "without a compilation cache"
    )
    COMPILATION_CACHE = (
        "it is a JAX compilation cache, which holds no memory plans; run again with jax.profiler."
        f"trace and ingest the profile, or with {_FLAGS} and JAX_ENABLE_COMPILATION_CACHE=false"
    )
    OTHER_FILES = "XLA writes them with --xla_dump_to=DIR in XLA_FLAGS"


def why_no_dumps(folders: Iterable[str | Path]) -> NoDumps:
    """Look at the names of all files below folders without dumps; texts of modules decide first."""
    names = [name for folder in folders for _, _, files in os.walk(folder) for name in files]
    if not names:
        return NoDumps.EMPTY
    packed = [name.removesuffix(".gz") for name in names]
    if any("module_" in name and name.endswith(".txt") for name in packed):
        return NoDumps.MODULE_TEXTS
    if any(name.endswith((".hlo.pb", ".hlo_proto.pb")) for name in packed):
        return NoDumps.PROTOS
    if all(_OF_CACHE.fullmatch(name) for name in names):
        return NoDumps.COMPILATION_CACHE
    return NoDumps.OTHER_FILES
