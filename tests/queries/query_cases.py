"""The expected rows of each canned query: dumps and rows, written by hand.

A case is one file, `cases/theme/noun.txt`: its purpose; its dumps; then, under each `== ask`,
parameters and the expected rows. A dump is two tables, see `tests.tiny_dumps`; its name may
be followed by `printed at 7`, the step of the peak that XLA prints. Other parts, such as
a module's text, are a `== file` with its whole name.

    The table of a tuple is not padding.

    == dump f
    0 | 64 | preallocated-temp

    0 | a | f32[2]{0} | 0 | 64 | 0-1 | iota()

    == ask compilation=waste.padding/f limit=1
    value | paddingBytes
    a     | 56

Rows are JSON if possible, or else text. Only the named columns are compared.
The dumps of a case are ingested as the run `theme.noun` (`theme.noun/FOLDER` if the name has
a folder).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.tiny_dumps import tiny_dump

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Ask:
    """One question, and its expected rows."""

    parameters: dict[str, Any]
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]
    line: int


@dataclass(frozen=True)
class Case:
    """The questions put to one query."""

    query: str
    files: dict[str, str]
    asks: list[Ask]


def read_cases() -> list[Case]:
    """Read every case, by query."""
    return [_read_case(path) for path in sorted(CASES.rglob("*.txt"))]


def write_dumps(cases: list[Case], root: Path) -> None:
    """Write the dumps of all cases below a folder that can be ingested."""
    for case in cases:
        for name, text in case.files.items():
            path = root / case.query.replace("/", ".") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def _read_case(path: Path) -> Case:
    files: dict[str, str] = {}
    asks: list[Ask] = []
    lines = path.read_text().splitlines()
    heads = [place for place, line in enumerate(lines) if line.startswith("== ")]
    for start, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        word, _, rest = lines[start][3:].partition(" ")
        body = lines[start + 1 : end]
        if word == "dump":
            name, _, peak = rest.strip().partition(" printed at ")
            allocations, _, values = "\n".join(body).strip().partition("\n\n")
            files[f"{name}-buffer-assignment.txt"] = tiny_dump(
                allocations, values, peak_step=int(peak) if peak else None
            )
        elif word == "file":
            files[rest.strip()] = "\n".join(body).rstrip("\n") + "\n"
        else:
            table = [_cells(line) for line in body if line.strip()]
            parameters = dict(parameter.split("=", 1) for parameter in rest.split())
            asks.append(
                Ask(
                    {name: _cell(text) for name, text in parameters.items()},
                    tuple(str(cell) for cell in table[0]),
                    table[1:],
                    start + 1,
                )
            )
    return Case(path.relative_to(CASES).with_suffix("").as_posix(), files, asks)


def _cells(line: str) -> tuple[object, ...]:
    return tuple(_cell(text.strip()) for text in line.split("|"))


def _cell(text: str) -> object:
    if text.startswith("{"):  # a tuple index
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
