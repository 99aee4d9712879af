"""Why a query gave nothing: a name that is not there, or a fact that the dump lacks."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, cast

from xlagraph.graph.engine import Graph, Result, Scalar
from xlagraph.queries.catalogue.catalogue import Query
from xlagraph.queries.errors import NoSuchName
from xlagraph.queries.lint.statement import Clause, Token, clauses, tokens
from xlagraph.queries.selection import near


class _Named(NamedTuple):
    noun: str
    names: str
    """Statement that gives the names that hold $part, the name itself first."""


_NAMED: Final[Mapping[str, _Named]] = {
    "value": _Named(
        "value",
        """
        MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
        WHERE $part = '' OR v.label CONTAINS $part
        RETURN v.label AS name, v.label = $part AS isWhole ORDER BY isWhole DESC, name LIMIT 1000
        """,
    ),
    "instruction": _Named(
        "instruction",
        """
        MATCH (c:Compilation {key: $compilation})-[:SCHEDULES]->(i:Instruction)
        WHERE $part = '' OR i.name CONTAINS $part
        RETURN i.name AS name, i.name = $part AS isWhole ORDER BY isWhole DESC, name LIMIT 1000
        """,
    ),
    "module": _Named(
        "module",
        """
        MATCH (m:Module) WHERE $part = '' OR m.name CONTAINS $part
        RETURN m.name AS name, m.name = $part AS isWhole ORDER BY isWhole DESC, name LIMIT 1000
        """,
    ),
    "opName": _Named(
        "op",
        """
        MATCH (o:Op) WHERE $part = '' OR o.name CONTAINS $part
        RETURN o.name AS name, o.name = $part AS isWhole ORDER BY isWhole DESC, name LIMIT 1000
        """,
    ),
}
_ALLOCATION: Final = """
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(a:Allocation)
RETURN count(a) AS allocations, max(a.number) AS largest
"""

_SCHEDULE: Final = """
MATCH (c:Compilation {key: $compilation})
RETURN c.scheduleLength AS steps
"""
_TAGS: Final = "MATCH (r:Run) UNWIND r.tags AS tag RETURN DISTINCT tag ORDER BY tag"


def check_names(graph: Graph, parameters: Mapping[str, Scalar]) -> None:
    """Raise NoSuchName, with what is near, if a parameter names what is not there."""
    for parameter, named in _NAMED.items():
        name = str(parameters.get(parameter) or "")
        if not name:
            continue
        place = _compilation(parameters)
        names = _names(graph, named, place, name)
        if name in names:
            continue
        # A wrong index or counter is the usual slip: look for what has the stem.
        stem = re.split(r"[.{\[(]", name)[0]
        names = names or _names(graph, named, place, stem) or _names(graph, named, place, "")
        raise NoSuchName(f"no {named.noun} is called '{name}'", near(name, names))
    if "allocation" in parameters:
        number = cast("int", parameters["allocation"])
        ((count, largest),) = graph.query(_ALLOCATION, _compilation(parameters)).rows
        if largest is None or not 0 <= number <= cast("int", largest):
            raise NoSuchName(f"no allocation has the number {number}; there are {count}, from 0")
    if "step" in parameters:
        step = cast("int", parameters["step"])
        ((steps,),) = graph.query(_SCHEDULE, _compilation(parameters)).rows
        if steps is not None and step > cast("int", steps):
            raise NoSuchName(f"no step has the number {step}; the schedule ends at {steps}")


def check_tag(graph: Graph, columns: Sequence[str], parameters: Mapping[str, Scalar]) -> None:
    """Raise NoSuchName, with what is near, if rows shall be sorted by a tag that no run has."""
    name = str(parameters.get("sortBy", "time"))
    if "tag" not in columns or name in ("run", "time"):
        return
    tags = sorted({str(row[0]).partition("=")[0] for row in graph.query(_TAGS).rows})
    if name not in tags:
        raise NoSuchName(f"no run has a tag called '{name}'", near(name, tags))


def _compilation(parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {name: parameters[name] for name in ("compilation",) if name in parameters}


def _names(graph: Graph, named: _Named, place: Mapping[str, Scalar], part: str) -> list[str]:
    return [str(row[0]) for row in graph.query(named.names, {**place, "part": part}).rows]


class _Fact(NamedTuple):
    words: frozenset[str]
    """A statement that holds one of these needs the fact."""
    columns: frozenset[str]
    """Columns that are null throughout without the fact."""
    absence: str


_LIVE_RANGES: Final = _Fact(
    frozenset(
        (
            "LIVE_AT_PEAK",
            "SCHEDULES",
            "LIVE_UNTIL",
            "UPDATES_IN_PLACE",
            "REUSES",
            "IN_PRINTED_PEAK",
            "liveFrom",
            "liveUntil",
        )
    ),
    frozenset(
        (
            "physicalPeakBytes",
            "physicalPeakBytesA",
            "physicalPeakBytesB",
            "logicalPeakBytes",
            "liveFrom",
            "liveUntil",
            "idleBytes",
            "lastUse",
            "liveAtPeak",
            "inPlace",
        )
    ),
    "the dump has no live ranges (TensorFlow before 2.6, or its -live-range.txt is missing)",
)
_USES: Final = _Fact(
    frozenset(("USED_BY", "APPEARS_AT", "lastUse")),
    frozenset(("lastUse",)),
    "the dump does not say who uses a value"
    " (TensorFlow before 2.1, or its -buffer-assignment-values.txt is missing)",
)
_INSTRUCTIONS: Final = _Fact(
    frozenset(("opcode", "rootOpcode")),
    frozenset(("opcode",)),
    "the dump has no text of instructions (TensorFlow before 2.7) and no module text beside it",
)
_OP_NAMES: Final = _Fact(
    frozenset(("opName", "FROM_OP")),
    frozenset(("opName",)),
    "the dump has no op names; the module text, NAME.txt beside the dump, may have them",
)
_SOURCE_LINES: Final = _Fact(
    frozenset(("sourceFile",)),
    frozenset(("sourceFile",)),
    "the dump has no source lines; the module text, NAME.txt beside the dump, may have them",
)
_FUSION_ROOTS: Final = _Fact(
    frozenset(("rootOpcode",)),
    frozenset(("rootOpcode",)),
    "the dump does not say what its fusions are rooted in; the module text, NAME.txt beside the"
    " dump, does",
)
_FACTS: Final = (_LIVE_RANGES, _USES, _INSTRUCTIONS, _OP_NAMES, _SOURCE_LINES, _FUSION_ROOTS)
"""In the order of the first columns of `_PRESENT`."""

# A value counts once for each of its positions: it matters only what is 0.
_PRESENT: Final = """
MATCH (c:Compilation {key: $compilation})-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
OPTIONAL MATCH (v)-[p:APPEARS_AT]->(:Instruction)
OPTIONAL MATCH (v)<-[:DEFINES]-(i:Instruction)
RETURN count(v.liveFrom) AS liveRanges, count(p) AS positions,
       count(v.opcode) AS opcodes, count(v.opName) AS opNames, count(v.sourceFile) AS sourceFiles,
       count(i.rootOpcode) AS fusionRoots, sum(CASE WHEN v.opcode = 'fusion' THEN 1 ELSE 0 END)
       AS fusions
"""
_SPACES: Final = """
MATCH (c:Compilation {key: $compilation})-[:USES_SPACE]->(s:MemorySpace)
RETURN s.color AS memorySpace ORDER BY memorySpace
"""
_WITHOUT_RANGES: Final = """
MATCH (r:Run)-[:COMPILED]->(c:Compilation)
WHERE c.state = 'complete' AND (size($runs) = 0 OR r.name IN $runs)
RETURN r.name AS run, count(c) AS compilations, count(c.scheduleLength) AS withRanges
ORDER BY run
"""


def missing_facts(
    graph: Graph, query: Query, parameters: Mapping[str, Scalar], result: Result
) -> list[str]:
    """Say which facts the rows would need that the dump does not tell."""
    words = _needed_words(query.text)
    if "compilation" not in parameters:
        return _missing_facts_of_runs(graph, words, parameters, result)
    compilation = _compilation(parameters)
    empty = _empty_columns(result)
    suspects = [
        fact for fact in _FACTS if (fact.columns & empty if result.rows else fact.words & words)
    ]
    notes: list[str] = []
    if suspects:
        ((*counts, fusions),) = graph.query(_PRESENT, compilation).rows
        present = dict(zip(_FACTS, counts, strict=True))
        notes = [
            fact.absence
            for fact in suspects
            if not present[fact] and (fact is not _FUSION_ROOTS or fusions)
        ]
    if not result.rows and "memorySpace" in parameters and not notes:
        spaces = [row[0] for row in graph.query(_SPACES, compilation).rows]
        if parameters["memorySpace"] not in spaces:
            shown = ", ".join(str(space) for space in spaces) or "none"
            notes.append(f"memory spaces of this compilation: {shown}")
    return notes


def _needed_words(text: str) -> frozenset[str]:
    """Give the words of a statement without which it finds no rows.

    What is only returned may be null, and so may an option, unless the WITH right after it
    asks for what IS NOT NULL.
    """
    needed: list[Token] = []
    found = clauses(tokens(text))
    while found:
        clause, *found = found
        if clause.word.endswith("MATCH"):
            own = [clause, *found[: found[0].word == "WHERE"]]
            found = found[len(own) - 1 :]
            if clause.word == "MATCH" or _asks_for_more_than_null(found[:2]):
                needed += [token for part in own for token in part.tokens]
        elif clause.word == "WHERE":
            needed += clause.tokens
    return frozenset(token.text for token in needed)


def _asks_for_more_than_null(following: Sequence[Clause]) -> bool:
    words = [clause.word for clause in following]
    tested = " ".join(token.text for token in following[-1].tokens)
    return words == ["WITH", "WHERE"] and "IS NOT NULL" in tested


def _missing_facts_of_runs(
    graph: Graph, words: frozenset[str], parameters: Mapping[str, Scalar], result: Result
) -> list[str]:
    if not words & _LIVE_RANGES.words and not _LIVE_RANGES.columns & set(result.columns):
        return []
    runs = [str(parameters[name]) for name in ("run", "runA", "runB") if parameters.get(name)]
    return [
        f"{cast('int', count) - cast('int', known)} of {count} compilations of run {run}"
        " have no live ranges, so nothing is known of their peaks"
        for run, count, known in graph.query(_WITHOUT_RANGES, {"runs": runs}).rows
        if known != count
    ]


def _empty_columns(result: Result) -> frozenset[str]:
    return frozenset(
        column
        for place, column in enumerate(result.columns)
        if all(row[place] is None for row in result.rows)
    )
