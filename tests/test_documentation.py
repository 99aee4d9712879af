"""The commands on the pages are run, and their output is compared.

In a block called ``console`` a line that begins with ``$`` is a command; the lines after it are
its output on both streams, without the line that names the graph. A line ``…`` replaces omitted
lines. A block called ``pycon`` is a Python session, which continues through the page. A block
called ``cypher FILE``, or another language with a file, is written to that file. A page is run
from top to bottom in an empty folder next to the examples; it must ingest the dumps that it uses.

XLAGRAPH_REWRITE=1 writes the actual output into the pages; read the diff.
"""

import doctest
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from xlagraph.queries import load_catalogue

TREE = Path(__file__).resolve().parents[1]
PAGES = [TREE / "README.md", TREE / "CONTRIBUTING.md", *sorted((TREE / "docs").glob("*.md"))]
REWRITE = "XLAGRAPH_REWRITE" in os.environ

BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: (?P<file>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
COMMAND = re.compile(r"^\$ (?P<text>(?:.*\\\n)*.*\n)(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
DIFFERS_EACH_TIME = re.compile(
    r"(?P<seconds>\d+(\.\d+)? ?s\b)"
    r"|(?P<when>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?)"
)


class Command(NamedTuple):
    page: Path
    text: str
    output: str


def blocks(page: Path) -> Iterator[re.Match[str]]:
    yield from BLOCK.finditer(page.read_text(encoding="utf-8"))


def commands(page: Path, console: str) -> Iterator[Command]:
    for shown in COMMAND.finditer(console):
        yield Command(page, shown["text"].rstrip("\n"), shown["output"])


def masked(output: str) -> str:
    output = re.sub(r" +$", "", output, flags=re.MULTILINE)  # a page cuts a table here
    return DIFFERS_EACH_TIME.sub(lambda found: f"<{found.lastgroup}>", output)


def fits(shown: str, found: str) -> bool:
    parts = [re.escape(part) for part in re.split(r"^…\n", masked(shown), flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), masked(found)) is not None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked_xlagraph: Path) -> Path:
    """Return an empty folder next to the examples, and unset variables that name a graph."""
    (tmp_path / "examples").symlink_to(TREE / "examples")
    for name in list(os.environ):
        if name.startswith(("NEO4J_", "XLAGRAPH_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(forked_xlagraph), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    expects_failure = "$?" in command
    assert done.returncode == 0 or expects_failure, f"$ {command}\n{done.stdout}"
    return re.sub(r"^graph: .*\n", "", done.stdout, flags=re.MULTILINE)


def compare(command: Command, folder: Path) -> None:
    found = run(command.text, folder)
    if REWRITE and not fits(command.output, found):
        before = command.page.read_text(encoding="utf-8")
        old, new = (
            f"$ {command.text}\n{output}"
            for output in (command.output, re.sub(" +\n", "\n", found))
        )
        command.page.write_text(before.replace(old, new, 1), encoding="utf-8")
    else:
        assert fits(command.output, found), f"$ {command.text}\n{found}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TREE).as_posix())
def test_a_page_shows_the_output_of_its_commands(page: Path, folder: Path) -> None:
    names: dict[str, object] = {}
    for block in blocks(page):
        if block["file"]:
            (folder / block["file"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / block["file"]).write_text(block["body"], encoding="utf-8")
        elif block["language"] == "console":
            for command in commands(page, block["body"]):
                compare(command, folder)
        elif block["language"] == "pycon":
            session = doctest.DocTestParser().get_doctest(block["body"], names, page.name, None, 0)
            results = doctest.DocTestRunner(verbose=False).run(session, clear_globs=False)
            assert results.failed == 0
            names = session.globs


def test_every_link_to_a_file_of_the_repository_has_a_target() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_query_named_on_a_page_is_in_the_catalogue() -> None:
    catalogue = load_catalogue()
    themes = "|".join({query.partition("/")[0] for query in catalogue})
    for page in PAGES:
        for query in re.findall(rf"`((?:{themes})/[a-z-]+)`", page.read_text(encoding="utf-8")):
            assert query in catalogue, f"{page.name} names {query}"


def test_the_examples_are_small_and_have_no_path_of_a_machine() -> None:
    dumps = [path for path in (TREE / "examples" / "runs").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in dumps) <= 3_000_000
    for path in dumps:
        sources = re.findall(r'^\d+ "(.*\.py)"$', path.read_text("utf-8"), flags=re.MULTILINE)
        assert set(sources) <= {"examples/train_step.py", "examples/make_runs.py"}
        assert "site-packages" not in path.read_text("utf-8")
