"""The physical peak of a compilation, value by value, each with the calls that led to it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from xlagraph.exports.file_formats import NothingToExport
from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.planner.compilation.records import StoredFrame
from xlagraph.planner.compilation.stored_compilation import read_frames

_SHARES: Final = load_statement(__file__, "peak-shares")
_SCOPES: Final = load_statement(__file__, "scopes-at-peak")

Row = Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class StackCall:
    """A frame of a call stack, or a scope of an op name."""

    function: str
    """Qualified name of the function, the scope's own part, or an opcode in brackets."""
    file: str
    """Source file; empty if unknown."""
    line: int
    """Source line; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class PeakSample:
    """Bytes that a value holds at the physical peak of its memory space."""

    space: str
    """Name of the memory space, else `memory space N`."""
    physical_bytes: int
    """Bytes of the peak counted for this value: they add up to the peak of the memory space."""
    stack: tuple[StackCall, ...]
    """Outermost first: call frames, else the scopes of the op name, else the opcode."""
    category: str
    """Category of the value; empty in graphs of earlier versions."""


def read_peak(graph: Graph, compilation: str) -> tuple[PeakSample, ...]:
    """Read the shares of the physical peak, of all memory spaces, by a compilation's key.

    Raises NothingToExport if the dump has no live ranges.
    """
    parameters = {"compilation": compilation}
    rows = graph.query(_SHARES, parameters).mappings()
    if not rows:
        raise NothingToExport(
            f"{compilation} has no value at a peak: its dump has no live ranges;"
            " parquet and csv export it without them"
        )
    scopes: dict[str, list[str]] = defaultdict(list)
    for op_name, _, scope in graph.query(_SCOPES, parameters).rows:
        scopes[str(op_name)].append(str(scope))
    stacks = _call_stacks(graph, (str(row["frame"]) for row in rows if row["frame"]))
    return tuple(
        PeakSample(
            str(row["spaceName"] or f"memory space {row['color']}"),
            cast("int", row["physicalBytes"]),
            stacks[str(row["frame"])] if row["frame"] else _scope_stack(row, scopes),
            str(row["category"] or ""),
        )
        for row in rows
    )


def _scope_stack(row: Row, scopes: Mapping[str, list[str]]) -> tuple[StackCall, ...]:
    """Return the parts of the op name with the source line on the last one, else the opcode."""
    file, line = str(row["sourceFile"] or ""), cast("int | None", row["sourceLine"]) or 0
    if row["opName"] is None:
        return (StackCall(f"[{row['opcode']}]", file, line),)
    op_name = str(row["opName"])
    outer = ""
    stack: list[StackCall] = []
    for scope in scopes.get(op_name, ()):
        if scope != op_name:
            stack.append(StackCall(_own_part(scope, outer), "", 0))
            outer = scope
    return (*stack, StackCall(_own_part(op_name, outer), file, line))


def _own_part(scope: str, outer: str) -> str:
    return scope.removeprefix(outer).removeprefix("/") if outer else scope


def _call_stacks(graph: Graph, innermost: Iterable[str]) -> dict[str, tuple[StackCall, ...]]:
    """Read call stacks by the key of their innermost frame."""
    asked = set(innermost)
    frames = read_frames(graph, asked)
    return {key: _stack_of(key, frames) for key in asked}


def _stack_of(innermost: str, frames: Mapping[str, StoredFrame]) -> tuple[StackCall, ...]:
    calls: list[StackCall] = []
    key: str | None = innermost
    while key is not None:
        frame = frames[key]
        calls.append(StackCall(frame.function or "?", frame.file or "", frame.line or 0))
        key = frame.caller
    return tuple(reversed(calls))
