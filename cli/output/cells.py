"""Cells as text for people: bytes with units, null named, control characters visible."""

import json
import re
from typing import TYPE_CHECKING, Final

from xlagraph.graph.byte_sizes import counts_bytes, human_bytes, share_text

if TYPE_CHECKING:
    from xlagraph.graph import Cell

# C0, DEL, C1, zero-width and direction marks, line and paragraph separators, surrogates
_CONTROL: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def escape_control_characters(text: str) -> str:
    r"""Escape what could steer a terminal or hide a name: ``\x1b``, ``\n``, ``\u202e``."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def cell_text(column: str, cell: "Cell") -> str:
    """Return a cell as people read it, on one line."""
    match cell:
        case None:
            return "null"
        case bool():
            return "true" if cell else "false"
        case int() | float() if counts_bytes(column):
            return human_bytes(cell)
        case int():
            return str(cell)
        case float() if column.lower().endswith("share"):
            return share_text(cell, signed=column == "growthShare")
        case float():
            return f"{cell:.6g}"
        case str():
            return escape_control_characters(cell)
        case [*parts] if all(isinstance(part, str) for part in parts):
            return escape_control_characters(", ".join(map(str, parts)))
    return escape_control_characters(json.dumps(cell, ensure_ascii=False))
