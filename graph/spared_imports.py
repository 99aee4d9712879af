"""Keeps pyarrow from importing pandas, which it tries at the first column that it makes.

Where pandas is installed, that takes as long as to start a process, or to prepare a hundred
small dumps. For processes of our own only: a library leaves its caller's imports alone.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["forbid_pandas"]


class _NoPandas(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not used in this process", name="pandas")
        return None


def forbid_pandas() -> None:
    """Let ``import pandas`` fail in this process from now on."""
    sys.meta_path.insert(0, _NoPandas())
