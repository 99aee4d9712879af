"""A memory baseline as JSON: the bytes that each test's plan reserves, by source line.

{"tests": {TEST: {PLATFORM: {"reservedBytes": …, "peakBytes": …, "jaxlib": …, "lines": [
    {"bytes": …, "line": "model.py:12", "code": "h = jnp.tanh(x @ w)"}, …]}}}}
"""

import json
import linecache
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

from xlagraph.runtime.files import whole_file

if TYPE_CHECKING:
    from xlagraph.jax import FunctionPlan


class Line(TypedDict):
    """A source line with the bytes that it holds at the physical peak."""

    bytes: int
    line: str | None
    """File and number; None if no line is known."""
    code: str | None


class Entry(TypedDict):
    """Baseline of one plan on one platform."""

    reservedBytes: int
    peakBytes: int | None
    jaxlib: str
    lines: list[Line]


Entries = dict[str, dict[str, Entry]]
"""Baselines by test, then by platform."""

_ABOUT: Final = "written by pytest --update-memory-baseline; review its changes"
_LEAST_SHARE: Final = 0.01
"""Share of the peak below which a line is omitted."""
_INSTALLED: Final = re.compile(r".*[/\\](?:(?:site|dist)-packages|lib/python3\.\d+)[/\\]")
_UNKNOWN: Final = "(no line is known)"


def entry_of(plan: "FunctionPlan", root: Path) -> Entry:
    """Return the baseline of a plan; source files below `root` are relative to it."""
    from importlib.metadata import version

    least = _LEAST_SHARE * (plan.peak or 0)
    rows: list[dict[str, Any]] = plan.by_line(0).result.mappings()
    held: Counter[tuple[str | None, int | None]] = Counter()
    for row in rows:
        of = "user" if row["userFile"] is not None else "source"
        held[row[f"{of}File"], row[f"{of}Line"]] += row["physicalBytes"]
    return {
        "reservedBytes": plan.reserved,
        "peakBytes": plan.peak,
        "jaxlib": version("jaxlib"),
        "lines": [
            _line(size_bytes, file, line, root)
            for (file, line), size_bytes in held.most_common()
            if size_bytes >= least
        ],
    }


def _line(size_bytes: int, file: str | None, line: int | None, root: Path) -> Line:
    if file is None or line is None:
        return {"bytes": size_bytes, "line": None, "code": None}
    path = Path(file)
    linecache.checkcache(str(root / path))
    code = linecache.getline(str(root / path), line).strip()
    return {
        "bytes": size_bytes,
        "line": f"{portable_path(file, root)}:{line}",
        "code": code or None,
    }


def portable_path(file: str, root: Path) -> str:
    """Return a source file as it is called in every environment.

    Files of installed packages begin after ``site-packages``, those of Python itself after its
    folder of modules, and those of the project at its root.
    """
    if installed := _INSTALLED.match(file):
        return file[installed.end() :].replace("\\", "/")
    path = Path(file)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else file


def line_growth(before: Entry, after: Entry) -> list[tuple[int, int, str]]:
    """Return growth, current bytes and text of each line that grew at the peak, largest first.

    Lines are the same if their file and code are equal, even if the line number changed.
    """
    was, now = (_bytes_by_line(entry["lines"]) for entry in (before, after))
    grown = [(held - was[line], held, line) for line, held in now.items() if held > was[line]]
    texts = {_key(line): _text(line) for line in after["lines"]}
    return [(growth, held, texts[line]) for growth, held, line in sorted(grown, key=_by_growth)]


def _by_growth(grown: tuple[int, int, tuple[str, str]]) -> tuple[int, tuple[str, str]]:
    return -grown[0], grown[2]


def _bytes_by_line(lines: Sequence[Line]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for line in lines:
        found[_key(line)] += line["bytes"]
    return found


def _key(line: Line) -> tuple[str, str]:
    file, _, number = (line["line"] or "").rpartition(":")
    return file, line["code"] or number


def _text(line: Line) -> str:
    return _UNKNOWN if line["line"] is None else f"{line['line']}  {line['code'] or ''}".rstrip()


def read_baseline(file: Path) -> Entries:
    """Return the entries of a baseline; none if the file does not exist.

    Raises ValueError if it is not a baseline.
    """
    if not file.exists():
        return {}
    try:
        entries: Entries = json.loads(file.read_text(encoding="utf-8"))["tests"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file}: expected a baseline of memory: {error}") from None
    return entries


def write_baseline(file: Path, entries: Entries) -> None:
    """Write a baseline, sorted by test."""
    content = {"about": _ABOUT, "tests": dict(sorted(entries.items()))}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    with whole_file(file) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
