"""Statements of Python modules, one `.cypher` file each in the folder `statements` next to them.

A file begins with a comment that describes its rows. Its statement follows the rules of canned
queries. A test checks every file, and that no module contains a statement.
"""

from pathlib import Path


def load_statement(module_file: str, name: str) -> str:
    """Read a statement of a module, named by its ``__file__``."""
    path = Path(module_file).parent / "statements" / f"{name}.cypher"
    return path.read_text(encoding="utf-8")
