"""The story of one value: what it is, who made it, whose bytes it has, who reads it, its end."""

from dataclasses import dataclass
from typing import Final, cast

from xlagraph.graph.engine import Cell, Graph
from xlagraph.queries.selection import find_compilation
from xlagraph.queries.story.ending import Life, ending
from xlagraph.queries.story.names import find_value

_VALUE: Final = """
MATCH (v:Value {key: $value})<-[h:HOLDS]-(a:Allocation)<-[:ALLOCATES]-(c:Compilation)
MATCH (c)-[:USES_SPACE]->(s:MemorySpace) WHERE s.color = a.memorySpace
OPTIONAL MATCH (v)<-[:DEFINES]-(i:Instruction)
OPTIONAL MATCH (v)-[:LIVE_UNTIL]->(e:Instruction)
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, v.shape AS shape, v.layout AS layout, v.dtype AS dtype,
       v.sizeBytes AS sizeBytes, v.denseBytes AS denseBytes,
       v.sizeBytes - v.denseBytes AS paddingBytes, a.memorySpace AS memorySpace,
       v.isPhi AS isPhi, a.number AS allocation, a.role AS role,
       a.sizeBytes AS allocationBytes, h.offsetBytes AS offsetBytes,
       a.parameterNumber AS parameterNumber, a.maybeLiveOut AS maybeLiveOut,
       v.name AS instruction, i.key AS instructionKey, i.step AS step,
       i.computation AS computation, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, v.lastUse AS lastUse,
       c.scheduleLength AS scheduleLength, e.name AS endsAt, e.opcode AS endsAtOpcode,
       p.physicalBytes AS physicalBytes, s.physicalPeakBytes AS peakBytes,
       s.physicalPeakStep AS peakStep
"""
_NAMES: Final = """
MATCH (v:Value {key: $value})-[p:APPEARS_AT]->(i:Instruction)
RETURN i.name AS name, p.shapeIndex AS shapeIndex, i.opcode AS opcode, i.step AS step
ORDER BY step, name, shapeIndex
"""
_USERS: Final = """
MATCH (v:Value {key: $value})-[u:USED_BY]->(i:Instruction)
RETURN i.name AS instruction, u.operand AS operand, u.operandIndex AS operandIndex,
       i.opcode AS opcode, i.opName AS opName, i.step AS step
ORDER BY step, instruction, operand, operandIndex
"""
_BEFORE: Final = """
MATCH (v:Value {key: $value})-[u:UPDATES_IN_PLACE]->(w:Value)
RETURN w.label AS value, true AS inPlace, u.sharedBytes AS sharedBytes, u.step AS steps,
       w.shape AS shape, w.opName AS opName
UNION ALL
MATCH (v:Value {key: $value})-[u:REUSES]->(w:Value)
RETURN w.label AS value, false AS inPlace, u.sharedBytes AS sharedBytes, u.gapSteps AS steps,
       w.shape AS shape, w.opName AS opName
"""
_AFTER: Final = """
MATCH (v:Value {key: $value})<-[u:UPDATES_IN_PLACE]-(w:Value)
RETURN w.label AS value, true AS inPlace, u.sharedBytes AS sharedBytes, u.step AS steps,
       w.shape AS shape, w.opName AS opName
UNION ALL
MATCH (v:Value {key: $value})<-[u:REUSES]-(w:Value)
RETURN w.label AS value, false AS inPlace, u.sharedBytes AS sharedBytes, u.gapSteps AS steps,
       w.shape AS shape, w.opName AS opName
"""
_CHAIN: Final = """
MATCH (v:Value {key: $value})<-[:HOLDS]-(a:Allocation)-[:HOLDS]->(w:Value)
WHERE w.key <> v.key AND w.aliasSet = v.aliasSet
RETURN w.aliasPosition AS position, w.label AS value
ORDER BY position, value
"""
# places at the peak are those of peak/contributors
_RANK: Final = """
MATCH (v:Value {key: $value})-[p:LIVE_AT_PEAK]->(s:MemorySpace)
WITH v, s, p.physicalBytes AS own
MATCH (s)<-[q:LIVE_AT_PEAK]-(w:Value)
WITH CASE WHEN q.physicalBytes > own THEN 1 WHEN q.physicalBytes < own THEN 0
          WHEN w.sizeBytes > v.sizeBytes THEN 1 WHEN w.sizeBytes < v.sizeBytes THEN 0
          WHEN w.label < v.label THEN 1 ELSE 0 END AS ahead
RETURN coalesce(sum(ahead), 0) + 1 AS rank, count(*) AS contributors
"""
_FRAME: Final = """
MATCH (i:Instruction {key: $place})-[:IN_FRAME]->(f:Frame)
RETURN 0 AS depth, f.key AS frame, f.function AS function, f.file AS file, f.line AS line
"""
_CALLERS: Final = """
MATCH p = (f:Frame {key: $place})-[:CALLED_FROM*1..30]->(g)
WHERE g.key <> f.key
RETURN length(p) AS depth, g.key AS frame, g.function AS function, g.file AS file, g.line AS line
ORDER BY depth
"""

Row = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class ValueStory:
    """All that the graph tells of one value; mappings have the names of columns."""

    compilation: str
    value: str
    """Its label."""
    asked: str
    """The name that was asked for, which may be another one of its names."""
    what: Row
    """shape, layout, dtype, sizeBytes, denseBytes, paddingBytes, isPhi."""
    storage: Row
    """memorySpace, allocation, role, allocationBytes, offsetBytes, parameterNumber."""
    maker: Row
    """instruction, opcode, opName, sourceFile, sourceLine, step, computation."""
    stack: tuple[Row, ...]
    """function, file, line; innermost first."""
    names: tuple[Row, ...]
    """name, shapeIndex, opcode, step; by step."""
    before: tuple[Row, ...]
    """Whose bytes it took: value, inPlace, sharedBytes, steps, shape, opName; most bytes first.
    steps: of an in-place update its step, else the gap between the two."""
    after: tuple[Row, ...]
    """Who took its bytes, likewise."""
    aliases: tuple[str, ...]
    """Labels of what shares its storage by in-place updates, from first to last, without it."""
    readers: tuple[Row, ...]
    """instruction, operand, operandIndex, opcode, opName, step; by step."""
    life: Life
    peak: Row
    """physicalBytes, share, rank, contributors, peakBytes, peakStep; of a value that is not live
    at the physical peak all but the last two are None."""


def value(graph: Graph, name: str, compilation: str | None = None) -> ValueStory:
    """Tell the story of the value with that label, or with that among its other names.

    Raises NoSuchName with what is near, AmbiguousValue where a tuple is named, and
    what `find_compilation` raises.
    """
    key = find_compilation(graph, compilation).key
    place = find_value(graph, key, name)
    parameters: dict[str, Cell] = {"value": place}
    (facts,) = graph.query(_VALUE, parameters).mappings()
    readers = tuple(graph.query(_USERS, parameters).mappings())
    after = _neighbours(graph, _AFTER, parameters)
    return ValueStory(
        compilation=key,
        value=str(facts["value"]),
        asked=name,
        what=_part(facts, "shape layout dtype sizeBytes denseBytes paddingBytes isPhi"),
        storage=_part(
            facts, "memorySpace allocation role allocationBytes offsetBytes parameterNumber"
        ),
        maker=_part(facts, "instruction opcode opName sourceFile sourceLine step computation"),
        stack=_stack(graph, facts["instructionKey"]),
        names=tuple(graph.query(_NAMES, parameters).mappings()),
        before=_neighbours(graph, _BEFORE, parameters),
        after=after,
        aliases=tuple(str(row[1]) for row in graph.query(_CHAIN, parameters).rows),
        readers=readers,
        life=ending(facts, readers, after),
        peak=_peak(graph, facts, parameters),
    )


def _part(facts: Row, names: str) -> Row:
    return {name: facts[name] for name in names.split()}


def _neighbours(graph: Graph, statement: str, parameters: dict[str, Cell]) -> tuple[Row, ...]:
    rows = graph.query(statement, parameters).mappings()
    return tuple(sorted(rows, key=_most_shared_first))


def _most_shared_first(row: Row) -> tuple[int, str]:
    return -cast("int", row["sharedBytes"]), str(row["value"])


def _stack(graph: Graph, instruction: Cell) -> tuple[Row, ...]:
    frames = graph.query(_FRAME, {"place": instruction}).mappings() if instruction else []
    found: list[Row] = []
    while frames:
        found += frames
        frames = graph.query(_CALLERS, {"place": frames[-1]["frame"]}).mappings()
    return tuple(_part(frame, "function file line") for frame in found)


def _peak(graph: Graph, facts: Row, parameters: dict[str, Cell]) -> Row:
    own, whole = facts["physicalBytes"], facts["peakBytes"]
    peak: Row = _part(facts, "physicalBytes") | dict.fromkeys(("share", "rank", "contributors"))
    if isinstance(own, int) and isinstance(whole, int):
        ((peak["rank"], peak["contributors"]),) = graph.query(_RANK, parameters).rows
        peak["share"] = own / whole if whole else None
    return peak | _part(facts, "peakBytes peakStep")
