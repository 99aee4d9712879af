"""Jobs for the processes that read the graph, and their answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from xlagraph.graph import Cell
from xlagraph.graph.read_only import check_nesting
from xlagraph.queries import Query

Catalogue = Mapping[str, Query]


class Lane(Enum):
    """A queue of reads; slow reads never delay fast ones in another lane."""

    LISTS = "lists"
    """Lists of runs and compilations, one value: some milliseconds."""
    QUERIES = "queries"
    """Canned queries, advice, comparisons, a page's parts: seconds of a large graph."""
    STATEMENTS = "statements"
    """Statements of users, which can take any time."""


class Form(Enum):
    """The format of rows."""

    JSON = "json"
    """One array of objects."""
    LINES = "lines"
    """Notes, then one object per line, as many as an assistant can read."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings that a process needs before its first read."""

    location: str | None
    """The location for `open_graph`."""
    password: str | None
    """The password that the user entered."""
    catalogue: Catalogue
    niceness: int
    """Nice value of the process: statements of users get less priority."""


@dataclass(frozen=True, slots=True)
class Job:
    """One read of the graph: a function's name in `reads`, and its arguments."""

    read: str
    arguments: Mapping[str, Cell] = field(default_factory=dict)
    lane: Lane = Lane.LISTS
    form: Form = Form.JSON
    is_long: bool = False
    """True for advice and parts of a page, which replan memory and may take longer."""


def statement_job(text: str, parameters: Mapping[str, Cell], form: Form = Form.JSON) -> Job:
    """Return the read of a user's statement; QueryFailed if its parameters are nested too deep.

    The check comes before encoding, which would overflow the stack.
    """
    check_nesting(parameters)
    return Job("statement", {"text": text, "parameters": parameters}, Lane.STATEMENTS, form)


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The result of a read, or the reason for its rejection."""

    status: int
    """HTTP status: 200, or that of the rejection."""
    body: bytes
    """The answer, or a sentence in UTF-8 if it is a rejection."""
    notes: tuple[str, ...] = ()

    @property
    def is_refusal(self) -> bool:
        """Return True if the body says why there is no answer."""
        return self.status != 200

    @classmethod
    def refusal(cls, status: int, message: str) -> "ReadAnswer":
        """Return a rejection with its reason."""
        return cls(status, message.encode(errors="replace"))

    def encoded(self) -> bytes:
        """Return a line of JSON with status and notes, then the body.

        Nothing is pickled: a statement may have broken into the process that ran it.
        """
        header = json.dumps({"status": self.status, "notes": self.notes})
        return header.encode() + b"\n" + self.body

    @classmethod
    def decoded(cls, data: bytes) -> "ReadAnswer":
        """Return the answer that was encoded."""
        line, _, body = data.partition(b"\n")
        header = json.loads(line)
        return cls(header["status"], body, tuple(header["notes"]))
