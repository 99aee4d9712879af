"""Read the user's categories from a file such as xlagraph.toml.

[categories]
embedding = ["params['wte']", "params['wpe']"]
state = ["kv_*", "ring"]
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["PROJECT_FILE", "read_categories"]

PROJECT_FILE: Final = "xlagraph.toml"
"""Name of the file in the current folder that is read by default."""


def read_categories(file: Path) -> tuple[tuple[str, str], ...]:
    """Return categories and their patterns of names, in the file's order.

    Raises OSError, and ValueError with the file and what was expected.
    """
    try:
        table = tomllib.loads(file.read_text("utf-8")).get("categories", {})
    except ValueError as error:
        raise ValueError(f"{file}: not TOML: {error}") from None
    if not isinstance(table, Mapping):
        raise ValueError(  # noqa: TRY004  a fault of the file, like the others
            f"{file}: expected a table [categories], found {table!r}"
        )
    pairs: list[tuple[str, str]] = []
    for category, patterns in table.items():
        if not (
            isinstance(patterns, list)
            and all(isinstance(pattern, str) and pattern for pattern in patterns)
        ):
            raise ValueError(
                f"{file}: expected a list of parts of names, such as"
                f" {category} = [\"params['w']\"], found {patterns!r}"
            )
        pairs += [(category, pattern) for pattern in patterns]
    return tuple(pairs)
