"""Statements of Python modules: one `.cypher` file each, in the folder `statements` beside them.

A file begins with a comment that describes its rows. The rules for canned queries hold
for its statement too; a test checks every file, and that no statement stands in a module.
"""

from pathlib import Path

__all__ = ["load_statement"]


def load_statement(module_file: str, name: str) -> str:
    """Read a statement of a module, named by its ``__file__``."""
    path = Path(module_file).parent / "statements" / f"{name}.cypher"
    return path.read_text(encoding="utf-8")
