"""Explain why a folder has no dumps, and what to do."""

import os
import re
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Final

from xlagraph.runtime.files import without_packing

_FLAGS: Final = "XLA_FLAGS=--xla_dump_to=DIR"
# jit_train_step-6b1c…-cache   jit_train_step-6b1c…-atime   .lockfile
_OF_CACHE: Final = re.compile(r".*-[0-9a-f]{64}(-cache|-atime)?|\.?lockfile|\.nfs\w+", re.DOTALL)


class NoDumps(Enum):
    """A reason why there are no dumps, with the fix."""

    EMPTY = (
        "it is empty: XLA reads XLA_FLAGS once, when it is first used; set "
        f"{_FLAGS} before the program starts"
    )
    MODULE_TEXTS = (
        "it has texts of modules, but no buffer assignment: these programs were not compiled "
        "but loaded from a compilation cache; run again without the cache "
        "(JAX_ENABLE_COMPILATION_CACHE=false), or with an empty one"
    )
    PROTOS = (
        "it has only protobuf modules without a buffer assignment, which XLA dumps at the "
        f"last stage of a compilation; set {_FLAGS} and --xla_dump_hlo_as_proto, and run again "
        "without a compilation cache"
    )
    COMPILATION_CACHE = (
        "it is a JAX compilation cache, which has no memory plans; run again with jax.profiler."
        f"trace and ingest the profile, or with {_FLAGS} and JAX_ENABLE_COMPILATION_CACHE=false"
    )
    RIEGELI = (
        "it has only Riegeli files (.riegeli), which are not read; set "
        f"{_FLAGS} and --xla_dump_hlo_as_text, or --xla_dump_hlo_as_proto, instead"
    )
    OTHER_FILES = "XLA writes them with --xla_dump_to=DIR in XLA_FLAGS"


def why_no_dumps(folders: Iterable[str | Path]) -> NoDumps:
    """Return the reason, judged by the names of all files below folders without dumps."""
    names = [name for folder in folders for _, _, files in os.walk(folder) for name in files]
    if not names:
        return NoDumps.EMPTY
    packed = [without_packing(name) for name in names]
    if any("module_" in name and name.endswith(".txt") for name in packed):
        return NoDumps.MODULE_TEXTS
    if any(name.endswith((".hlo.pb", ".hlo_proto.pb")) for name in packed):
        return NoDumps.PROTOS
    if all(_OF_CACHE.fullmatch(name) for name in names):
        return NoDumps.COMPILATION_CACHE
    if any(name.endswith(".riegeli") for name in packed):
        return NoDumps.RIEGELI
    return NoDumps.OTHER_FILES
