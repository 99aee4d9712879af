"""The jobs that the service gives to the processes that read the graph, and their exchange.

A frame is four bytes with the length of a JSON header, the header, and a body whose length the
header has as `size`. What comes back is JSON, never pickled: a statement may have broken into
the process that ran it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from xlagraph.graph import Cell
from xlagraph.graph.read_only import check_nesting
from xlagraph.queries import Query

__all__ = [
    "LENGTH_BYTES",
    "Answer",
    "Catalogue",
    "Form",
    "Job",
    "Lane",
    "Setup",
    "frame",
    "statement_job",
]

Catalogue = Mapping[str, Query]

LENGTH_BYTES: Final = 4


class Lane(Enum):
    """Reads that wait for each other; what is slow does not make wait what is quick."""

    LISTS = "lists"
    """Runs, compilations, one value: some milliseconds."""
    QUERIES = "queries"
    """Canned queries, advice, comparisons, the parts of a page: seconds of a large graph."""
    STATEMENTS = "statements"
    """Statements of users, which may do anything."""


class Form(Enum):
    """How rows are written."""

    JSON = "json"
    """One array of objects."""
    LINES = "lines"
    """An object a line below notes, as many as an assistant can read."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings that a process needs before its first read."""

    location: str | None
    """What `open_graph` takes."""
    password: str | None
    """The answer of the user who was asked for it."""
    catalogue: Catalogue
    niceness: int
    """Of its priority: statements of users give way to what is quick."""


@dataclass(frozen=True, slots=True)
class Job:
    """One read of the graph: the name of a function of `reads`, and its arguments."""

    read: str
    arguments: Mapping[str, Cell] = field(default_factory=dict)
    lane: Lane = Lane.LISTS
    form: Form = Form.JSON
    is_long: bool = False
    """Advice and the parts of a page, which plan memory again: they may take longer."""


def statement_job(text: str, parameters: Mapping[str, Cell], form: Form = Form.JSON) -> Job:
    """Return the read of a user's statement; QueryFailed if its parameters are nested too deep.

    That is checked before they are sent: to write them down would overflow the stack here.
    """
    check_nesting(parameters)
    return Job("statement", {"text": text, "parameters": parameters}, Lane.STATEMENTS, form)


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a read, or the reason for its refusal."""

    status: int
    """HTTP status: 200, or that of the refusal."""
    body: bytes
    """A refusal is a sentence in UTF-8."""
    notes: tuple[str, ...] = ()

    @property
    def is_refusal(self) -> bool:
        """Return whether the body says why there is no answer."""
        return self.status != 200

    @classmethod
    def refusal(cls, status: int, message: str) -> "Answer":
        """Return an answer that says why there is none."""
        return cls(status, message.encode(errors="replace"))


def frame(header: Mapping[str, Cell], body: bytes = b"") -> bytes:
    """Return a header and a body as they are sent."""
    text = json.dumps({**header, "size": len(body)}).encode()
    return len(text).to_bytes(LENGTH_BYTES, "big") + text + body
