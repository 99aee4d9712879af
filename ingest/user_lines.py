"""Which code the user calls their own, and the lines of values that follow from it.

xlagraph.toml next to the graph or in the current folder:

[lines]
own = ["my_models"]          # a package or a path; installed packages are libraries by default
library = ["~/src/flax"]     # a checkout that is a library nevertheless
"""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.ladybug.private_copy import copy_with_user_lines
from xlagraph.graph.statement_files import load_statement
from xlagraph.hlo.metadata import is_installed

_FRAMES: Final = load_statement(__file__, "frames")
_LINES: Final = load_statement(__file__, "user-lines")


class CodeOwners(NamedTuple):
    """Packages and paths of the user's code and of libraries; the longest that fits decides."""

    own: tuple[str, ...] = ()
    library: tuple[str, ...] = ()

    def is_library(self, file: str) -> bool:
        """Return True if a source file is not the user's."""
        own = max((len(each) for each in self.own if _fits(each, file)), default=0)
        library = max((len(each) for each in self.library if _fits(each, file)), default=0)
        return is_installed(file) if own == library == 0 else library > own


_UserLine = tuple[str, Cell, Cell]
"""File, line and function."""


def read_code_owners(file: Path) -> CodeOwners:
    """Return the choice in a file such as xlagraph.toml; empty without a table [lines].

    Raises OSError, and ValueError with the file and what was expected.
    """
    try:
        table = tomllib.loads(file.read_text("utf-8")).get("lines", {})
    except ValueError as error:
        raise ValueError(f"{file}: not TOML: {error}") from None
    lists = [table.get(name, []) for name in CodeOwners._fields] if isinstance(table, dict) else []
    is_valid = bool(lists) and set(table) <= set(CodeOwners._fields)
    if not is_valid or not all(
        isinstance(each, list) and all(isinstance(name, str) and name for name in each)
        for each in lists
    ):
        raise ValueError(
            f'{file}: expected packages or paths in [lines], such as own = ["my_models"],'
            f" found {table!r}"
        )
    return CodeOwners(*map(tuple, lists))


@contextmanager
def with_user_lines(graph: Graph, owners: CodeOwners) -> Iterator[Graph]:
    """Open the graph with the user's lines that follow from a choice; it is copied if they differ.

    Without call stacks, the only candidate is the line of the instruction itself.
    """
    frames = {str(row["frame"]): row for row in graph.query(_FRAMES).mappings()}
    by_frame: list[Cell] = []
    by_line: list[Cell] = []
    for row in graph.query(_LINES).mappings():
        frame, file = row["frame"], row["file"]
        found: _UserLine | None = None
        if isinstance(frame, str):
            found = _user_line(frames, frame, owners)
        elif isinstance(file, str) and not owners.is_library(file):
            found = file, row["line"], None
        user_file, user_line, function = found or (None, None, None)
        if (user_file, user_line) == (row["userFile"], row["userLine"]):
            continue
        # the engine takes no list of maps with only nulls under a key
        user: dict[str, Cell] = {
            "userFile": user_file or "",
            "userLine": user_line or 0,
            "userFunction": function or "",
        }
        if frame is not None:
            by_frame.append({"frame": frame, **user})
        else:
            by_line.append({"file": file, "line": row["line"], **user})
    if not by_frame and not by_line:
        yield graph
        return
    with copy_with_user_lines(graph, by_frame, by_line) as copied:
        yield copied


def _user_line(
    frames: Mapping[str, Mapping[str, Cell]], innermost: str, owners: CodeOwners
) -> _UserLine | None:
    at: Cell = innermost
    while isinstance(at, str) and at in frames:
        frame = frames[at]
        file = frame["file"]
        if isinstance(file, str) and not owners.is_library(file):
            return file, frame["line"], frame["function"]
        at = frame["caller"]
    return None


def _fits(choice: str, file: str) -> bool:
    """Return True if a file lies in a package, `my_models` or `my.models`, or below a path."""
    is_path = "/" in choice or choice.startswith((".", "~")) or choice.endswith(".py")
    if is_path and choice.startswith(("/", ".", "~")):
        path = str(Path(choice).expanduser().resolve())
        return file == path or file.startswith(f"{path}/")
    part = choice.strip("/") if is_path else choice.replace(".", "/")
    return f"/{part}/" in f"/{file}" or f"/{file}".endswith((f"/{part}", f"/{part}.py"))
