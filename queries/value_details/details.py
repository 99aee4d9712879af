"""The details of one value: what it is, who made it, whose bytes it has, who reads it, its end."""

from dataclasses import dataclass
from typing import Final

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.selection.compilations import find_compilation
from xlagraph.queries.selection.values import find_value
from xlagraph.queries.value_details.range_end import LiveRange, live_range_of

_VALUE: Final = load_statement(__file__, "value")
_POSITIONS: Final = load_statement(__file__, "positions")
_USERS: Final = load_statement(__file__, "users")
_PREDECESSORS: Final = load_statement(__file__, "predecessors")
_SUCCESSORS: Final = load_statement(__file__, "successors")
_ALIAS_SET: Final = load_statement(__file__, "alias-set")
_RANK: Final = load_statement(__file__, "peak-rank")
_FRAME: Final = load_statement(__file__, "frame")
_ATTRIBUTED_FRAME: Final = load_statement(__file__, "attributed-frame")
_CALLERS: Final = load_statement(__file__, "callers")

Row = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class ValueDetails:
    """All that the graph tells of one value; mappings have the names of columns."""

    compilation: str
    note: str | None
    """Which compilation was chosen of how many, where none was named."""
    value: str
    """Its label."""
    asked: str
    """The name that was asked for, which may be another one of its names."""
    properties: Row
    """shape, layout, dtype, sizeBytes, denseBytes, paddingBytes, isPhi."""
    storage: Row
    """memorySpace, allocation, role, allocationBytes, offsetBytes, parameterNumber,
    memorySpaceName."""
    maker: Row
    """instruction, opcode, opName, sourceFile, sourceLine, step, computation."""
    stack: tuple[Row, ...]
    """function, file, line; innermost first."""
    attribution: Row
    """attribution (the rule), attributedOpName, attributedFile, attributedLine, userFile,
    userLine, userFunction: whose line it is, also where its maker has no op name."""
    attribution_stack: tuple[Row, ...]
    """function, file, line of what it is attributed to; innermost first."""
    names: tuple[Row, ...]
    """name, shapeIndex, opcode, step; by step."""
    predecessors: tuple[Row, ...]
    """Whose bytes it took: value, inPlace, sharedBytes, steps, shape, opName; most bytes first.
    steps: of an in-place update its step, else the gap between the two."""
    successors: tuple[Row, ...]
    """Who took its bytes, likewise."""
    aliases: tuple[str, ...]
    """Labels of what shares its storage by in-place updates, from first to last, without it."""
    readers: tuple[Row, ...]
    """instruction, operand, operandIndex, opcode, opName, step; by step."""
    live_range: LiveRange
    peak: Row
    """physicalBytes, share, rank, contributors, peakBytes, peakStep; of a value that is not live
    at the physical peak all but the last two are None."""


def value(graph: Graph, name: str, compilation: str | None = None) -> ValueDetails:
    """Return all about the value with that label, or with that among its other names.

    Raises NoSuchName with what is near, AmbiguousValue where a tuple is named, and
    what `find_compilation` raises.
    """
    found = find_compilation(graph, compilation)
    parameters: dict[str, Cell] = {"value": find_value(graph, found.key, name)}
    (facts,) = graph.query(_VALUE, parameters).mappings()
    readers = tuple(graph.query(_USERS, parameters).mappings())
    successors = tuple(graph.query(_SUCCESSORS, parameters).mappings())
    return ValueDetails(
        compilation=found.key,
        note=found.note,
        value=str(facts["value"]),
        asked=name,
        properties=_part(facts, "shape layout dtype sizeBytes denseBytes paddingBytes isPhi"),
        storage=_part(
            facts,
            "memorySpace allocation role allocationBytes offsetBytes parameterNumber"
            " memorySpaceName",
        ),
        maker=_part(facts, "instruction opcode opName sourceFile sourceLine step computation"),
        stack=_stack(graph, _FRAME, {"instruction": facts["instructionKey"]}),
        attribution=_part(
            facts,
            "attribution attributedOpName attributedFile attributedLine"
            " userFile userLine userFunction",
        ),
        attribution_stack=_stack(graph, _ATTRIBUTED_FRAME, parameters),
        names=tuple(graph.query(_POSITIONS, parameters).mappings()),
        predecessors=tuple(graph.query(_PREDECESSORS, parameters).mappings()),
        successors=successors,
        aliases=tuple(str(row[1]) for row in graph.query(_ALIAS_SET, parameters).rows),
        readers=readers,
        live_range=live_range_of(facts, readers, successors),
        peak=_peak(graph, facts, parameters),
    )


def _part(facts: Row, names: str) -> Row:
    return {name: facts[name] for name in names.split()}


def _stack(graph: Graph, innermost: str, parameters: dict[str, Cell]) -> tuple[Row, ...]:
    frames = [] if None in parameters.values() else graph.query(innermost, parameters).mappings()
    found: list[Row] = []
    while frames:
        found += frames
        frames = graph.query(_CALLERS, {"frame": frames[-1]["frame"]}).mappings()
    return tuple(_part(frame, "function file line") for frame in found)


def _peak(graph: Graph, facts: Row, parameters: dict[str, Cell]) -> Row:
    own, whole = facts["physicalBytes"], facts["peakBytes"]
    peak: Row = _part(facts, "physicalBytes") | dict.fromkeys(("share", "rank", "contributors"))
    if isinstance(own, int) and isinstance(whole, int):
        ((peak["rank"], peak["contributors"]),) = graph.query(_RANK, parameters).rows
        peak["share"] = own / whole if whole else None
    return peak | _part(facts, "peakBytes peakStep")
