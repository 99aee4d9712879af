"""Encodes rows within a size limit: JSON for programs, lines for assistants."""

import json
from collections.abc import Sequence
from typing import Final

from xlagraph.graph import Cell, QueryFailed
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.serve.readers.read_limits import MOST_ANSWER_BYTES, MOST_CHARACTERS

__all__ = ["json_array", "json_lines", "json_object"]

_ROOM_FOR_NOTES: Final = 4_000
"""Characters reserved for notes, such as the number of omitted rows."""


def json_array(rows: Sequence[Cell]) -> bytes:
    """Return rows as one array; QueryFailed if they exceed the size limit of an answer."""
    pieces: list[bytes] = []
    room = MOST_ANSWER_BYTES
    for row in rows:
        pieces.append(_json(row).encode(errors="replace"))
        room -= len(pieces[-1]) + 2
        if room < 0:
            raise QueryFailed(
                f"the answer has more than {human_bytes(MOST_ANSWER_BYTES)}; ask for fewer rows"
                " with a limit"
            )
    return b"[" + b", ".join(pieces) + b"]\n"


def json_object(row: Cell) -> bytes:
    """Return one row as an object."""
    return json_array([row])[1:-2] + b"\n"


def json_lines(rows: Sequence[Cell], notes: Sequence[str]) -> bytes:
    """Return rows as JSON lines under their notes, as many as an assistant can read."""
    lines = _fitting_notes(notes)
    room = MOST_CHARACTERS - _ROOM_FOR_NOTES
    for number, row in enumerate(rows):
        line = _json(row)
        if len(line) >= room:
            if number == 0:
                lines.append(line[:room])
            left = len(rows) - number
            lines.append(
                f"# {left} of {len(rows)} rows are left out: ask for fewer with a limit, for one"
                " compilation, or with an aggregating Cypher statement"
                if number
                else f"# the first of {len(rows)} rows is cut after {room:,} characters: return"
                " fewer columns or elements with a Cypher statement"
            )
            break
        lines.append(line)
        room -= len(line) + 1
    return "\n".join(lines or ["# no rows"]).encode(errors="replace")


def _fitting_notes(notes: Sequence[str]) -> list[str]:
    lines: list[str] = []
    room = _ROOM_FOR_NOTES // 2
    for note in notes:
        line = "# " + " ".join(note.split())
        if len(line) >= room:
            lines.append(line[: max(room - 2, 0)] + " …")
            break
        lines.append(line)
        room -= len(line) + 1
    return lines


def _json(cell: Cell) -> str:
    return json.dumps(cell, ensure_ascii=False)
