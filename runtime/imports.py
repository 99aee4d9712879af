"""Controls imports of the process: public names on first use, numpy only if needed."""

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Final

_BLOCKED: Final = ("numpy", "pandas")


class _BlockedImports:  # no `MetaPathFinder`: to import `importlib.abc` takes five milliseconds
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname in _BLOCKED:
            raise ModuleNotFoundError(f"{fullname} is not used in this process", name=fullname)
        return None


def block_imports() -> None:
    """Make ``import numpy`` and ``import pandas`` fail in this process from now on.

    Where they are installed, pyarrow imports numpy as it starts and pandas at the first column
    that it makes: a query took 0.69 s of processor time in place of 0.56, an ingest of ten small
    dumps 3.3 s in place of 2.2. For processes of our own only: a library leaves its caller's
    imports alone.
    """
    sys.meta_path.insert(0, _BlockedImports())


def allow_imports() -> None:
    """Allow both imports again."""
    sys.meta_path[:] = [
        finder for finder in sys.meta_path if not isinstance(finder, _BlockedImports)
    ]


def lazy_names(package: str) -> Callable[[str], object]:
    """Return a ``__getattr__`` for a package that imports its public names on first use.

    The names and their modules are those of the block ``if TYPE_CHECKING:`` of the package, which
    is read when the first name is needed.

    Help takes 0.20 s of processor time; with every module of the packages imported first, 0.57 s.
    """

    @cache
    def module_by_name() -> Mapping[str, str]:
        text = Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")
        return {
            imported.name: statement.module or ""
            for block in ast.parse(text).body
            if isinstance(block, ast.If)
            for statement in block.body
            if isinstance(statement, ast.ImportFrom)
            for imported in statement.names
        }

    def find(name: str) -> object:
        if name.startswith("__") or name not in module_by_name():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(module_by_name()[name]), name)

    return find
