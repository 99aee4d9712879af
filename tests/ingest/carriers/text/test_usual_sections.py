"""Reading many lines with each call gives the plan and the errors of reading line by line."""

import pytest

from tests.ingest.carriers.text.sample_dumps import SAMPLES, SUFFIXES, paths_of
from xlagraph.ingest.carriers.text import (
    allocation_section,
    used_values_section,
    usual_allocations,
    usual_used_values,
)
from xlagraph.ingest.carriers.text.parser import parse_plan
from xlagraph.ingest.carriers.text.text import DumpPart
from xlagraph.ingest.errors import ParseError

PATHS = sorted(SAMPLES.rglob(f"*{SUFFIXES[0]}"))
DAMAGES = {
    "a character removed": lambda line: line[:-1],
    "a character added": lambda line: line[:2] + "<" + line[2:],
    "a line twice": lambda line: f"{line}\n{line}",
    "a larger number": lambda line: line.replace("1", "99"),
}


def parts_of(path):
    return [DumpPart(each.name, each.read_text(encoding="utf-8")) for each in paths_of(path)]


def parsed(parts):
    try:
        return parse_plan(parts)
    except ParseError as error:
        return str(error)


def in_turn(monkeypatch, parts):
    """Return what is read line by line, in the smallest chunks, and as always."""
    with monkeypatch.context() as patched:
        patched.setattr(
            allocation_section, "read_usual_allocations", lambda lines, start, draft: start
        )
        patched.setattr(
            used_values_section, "read_usual_used_values", lambda lines, start, *_: start
        )
        by_line = parsed(parts)
    with monkeypatch.context() as patched:
        patched.setattr(usual_allocations, "_CHUNK_CHARACTERS", 1)
        patched.setattr(usual_used_values, "_CHUNK_CHARACTERS", 1)
        in_small_chunks = parsed(parts)
    return by_line, in_small_chunks, parsed(parts)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_the_plan_is_the_same(monkeypatch, path):
    by_line, in_small_chunks, usual = in_turn(monkeypatch, parts_of(path))
    assert by_line == in_small_chunks == usual


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_the_errors_are_the_same(monkeypatch, damage):
    for path in PATHS:
        parts = parts_of(path)
        for number, part in enumerate(parts):
            lines = part.text.split("\n")
            for at in range(1, len(lines), 1 + len(lines) // 20):
                text = "\n".join([*lines[:at], damage(lines[at]), *lines[at + 1 :]])
                damaged = [*parts[:number], part._replace(text=text), *parts[number + 1 :]]
                by_line, in_small_chunks, usual = in_turn(monkeypatch, damaged)
                assert by_line == in_small_chunks == usual, (path, at)
