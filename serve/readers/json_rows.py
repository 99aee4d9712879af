"""Rows as JSON within a size limit: arrays for programs, lines for assistants."""

import json
from collections.abc import Sequence
from typing import Final

from xlagraph.graph import Cell, QueryFailed, Result
from xlagraph.graph.row_cells import without_nan
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.queries import Answer, Query
from xlagraph.queries.graph_formats import picture_of
from xlagraph.serve.readers.service_limits import MOST_ANSWER_BYTES, MOST_CHARACTERS

_ROOM_FOR_NOTES: Final = 4_000
"""Characters reserved for notes, such as the number of omitted rows."""


def answer_result(answer: Answer) -> Result:
    """Return the rows of an answer; for a picture, its edges."""
    is_picture = answer.query.kind == "graph"
    return picture_of(answer.result).edge_table() if is_picture else answer.result


def json_rows(result: Result) -> list[Cell]:
    """Return a mapping from column to cell for each row."""
    return [without_nan(row) for row in result.mappings()]


def query_description(query: Query) -> dict[str, Cell]:
    """Return the description of a canned query for callers."""
    return {
        "id": query.id,
        "kind": query.kind,
        "title": query.title,
        "question": query.answers,
        "measure": query.measure,
        "parameters": [
            {
                "name": parameter.name,
                "type": parameter.type,
                "required": parameter.must_be_given,
                "default": parameter.default,
                "description": parameter.description,
            }
            for parameter in query.parameters
        ],
        "columns": [
            {"name": column.name, "type": column.type, "description": column.description}
            for column in query.columns
        ],
        "text": query.text,
    }


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
