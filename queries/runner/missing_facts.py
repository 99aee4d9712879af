"""Explain an answer without rows or cells by facts missing from the dump."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, cast

from xlagraph.graph.cypher_tokens import Token, read_tokens
from xlagraph.graph.engine import Graph, Result, Scalar
from xlagraph.graph.schema import SCHEMA
from xlagraph.graph.statement_files import load_statement
from xlagraph.hlo.metadata import makes_every_op
from xlagraph.queries.catalogue.query_files import Query
from xlagraph.queries.catalogue.statement import Clause, clauses
from xlagraph.queries.runner.compilations import is_at_peak

_SCHEMA_NAMES: Final = frozenset(
    name
    for relationship in SCHEMA.relationships
    for name in (relationship.name, *(property_.name for property_ in relationship.properties))
) | {property_.name for node in SCHEMA.nodes for property_ in node.properties}


@dataclass(frozen=True, slots=True)
class _Fact:
    words: frozenset[str]
    """Names of the schema; a statement that uses one of them needs the fact."""
    columns: frozenset[str]
    """Columns that are null everywhere without the fact."""
    absence: str


def _fact(words: str, columns: str, absence: str) -> _Fact:
    """Return a fact; the names are separated by spaces."""
    fact = _Fact(frozenset(words.split()), frozenset(columns.split()), absence)
    if unknown := sorted(fact.words - _SCHEMA_NAMES):
        raise ValueError(f"the schema has neither a type nor a property {unknown[0]}")
    return fact


_LIVE_RANGES: Final = _fact(
    "LIVE_AT_PEAK SCHEDULES LIVE_UNTIL UPDATES_IN_PLACE REUSES IN_PRINTED_PEAK liveFrom liveUntil",
    "physicalPeakBytes physicalPeakBytesA physicalPeakBytesB logicalPeakBytes liveFrom liveUntil"
    " idleBytes lastUse liveAtPeak inPlace",
    "the dump has no live ranges (TensorFlow before 2.6, or its -live-range.txt is missing)",
)
_USES: Final = _fact(
    "USED_BY APPEARS_AT lastUse",
    "lastUse",
    "the dump does not list the users of values"
    " (TensorFlow before 2.1, or its -buffer-assignment-values.txt is missing)",
)
_INSTRUCTIONS: Final = _fact(
    "opcode rootOpcode",
    "opcode",
    "the dump has no instructions as text (TensorFlow before 2.7), and no NAME.txt next to it",
)
_OP_NAMES: Final = _fact(
    "opName FROM_OP",
    "opName",
    "the dump has no op names; the module text, NAME.txt next to the dump, may have them",
)
_SOURCE_LINES: Final = _fact(
    "sourceFile",
    "sourceFile",
    "the dump has no source lines; the module text, NAME.txt next to the dump, may have them",
)
_FUSION_ROOTS: Final = _fact(
    "rootOpcode",
    "rootOpcode",
    "the dump has no root opcodes of fusions; the module text, NAME.txt next to the dump, has them",
)
_STACKS: Final = _fact(
    "ATTRIBUTED_FRAME",
    "userFunction userFile function",
    "the dump has no call stacks (text of jaxlib 0.8 or older, or of PyTorch/XLA), so a line of"
    " yours that calls a library is unknown; --xla_dump_hlo_as_proto writes them too, and pip"
    " install 'xlagraph[proto]' reads them",
)
_STACKS_OF_TENSORFLOW: Final = _fact(
    "ATTRIBUTED_FRAME",
    "userFunction userFile function",
    "the dump has no call stacks, because TensorFlow records none, so a line of yours that calls a"
    " library is unknown",
)
_LINE_OF_EVERY_OP: Final = (
    "TensorFlow gives every op the line in which it makes ops, not one of yours; peak/by-op names"
    " the ops"
)
_FACTS: Final = (
    _LIVE_RANGES, _USES, _INSTRUCTIONS, _OP_NAMES, _SOURCE_LINES, _FUSION_ROOTS,
    _STACKS, _STACKS_OF_TENSORFLOW,
)  # fmt: skip
_FACTS_OF_VALUES: Final = (_LIVE_RANGES, _INSTRUCTIONS, _OP_NAMES, _SOURCE_LINES)
"""Facts of values, in the order of the columns of `_PRESENT`."""

_PRESENT: Final = load_statement(__file__, "facts-present")
_POSITIONS_PRESENT: Final = load_statement(__file__, "positions-present")
_STACKS_PRESENT: Final = load_statement(__file__, "stacks-present")
_FUSION_ROOTS_PRESENT: Final = load_statement(__file__, "fusion-roots-present")
_SPACES: Final = load_statement(__file__, "spaces-of-compilation")
_WITH_RANGES: Final = load_statement(__file__, "compilations-with-ranges")
_ALL_WITH_RANGES: Final = load_statement(__file__, "all-compilations-with-ranges")


def missing_facts(
    graph: Graph, query: Query, parameters: Mapping[str, Scalar], result: Result
) -> list[str]:
    """Return a sentence for each fact that the query needs and the dump does not have."""
    words = _needed_words(query.text)
    if "compilation" not in parameters:
        return _missing_facts_of_runs(graph, words, parameters, result)
    compilation = {"compilation": parameters["compilation"]}
    empty = _empty_columns(result)
    candidates = [
        fact for fact in _FACTS if (fact.columns & empty if result.rows else fact.words & words)
    ]
    absent = _absent(graph, candidates, compilation)
    notes = [fact.absence for fact in candidates if fact in absent]
    if _has_one_line_for_all(result):
        notes.append(_LINE_OF_EVERY_OP)
    if not result.rows and "memorySpace" in parameters and not notes:
        spaces = [row[0] for row in graph.query(_SPACES, compilation).rows]
        if parameters["memorySpace"] not in spaces:
            shown = ", ".join(str(space) for space in spaces) or "none"
            notes.append(f"memory spaces of this compilation: {shown}")
    return notes


def _has_one_line_for_all(result: Result) -> bool:
    """Return True if the only source file is the one in which TensorFlow makes every op."""
    if "sourceFile" not in result.columns:
        return False
    index = result.columns.index("sourceFile")
    files = {str(row[index]) for row in result.rows if row[index] is not None}
    return bool(files) and all(map(makes_every_op, files))


def _absent(
    graph: Graph, candidates: Collection[_Fact], compilation: Mapping[str, Scalar]
) -> set[_Fact]:
    """Return the needed facts that no value has."""
    absent: set[_Fact] = set()
    if not candidates or is_at_peak(graph, [str(compilation["compilation"])]):
        return absent  # values that are not stored may have the facts
    if any(fact in candidates for fact in _FACTS_OF_VALUES):
        (counts,) = graph.query(_PRESENT, compilation).rows
        absent |= {fact for fact, count in zip(_FACTS_OF_VALUES, counts, strict=True) if not count}
    if _USES in candidates and graph.query(_POSITIONS_PRESENT, compilation).rows == ((0,),):
        absent.add(_USES)
    if _FUSION_ROOTS in candidates:
        ((fusions, roots),) = graph.query(_FUSION_ROOTS_PRESENT, compilation).rows
        if fusions and not roots:
            absent.add(_FUSION_ROOTS)
    if _STACKS in candidates and _SOURCE_LINES not in absent:
        ((lines, stacks, of_tensorflow),) = graph.query(_STACKS_PRESENT, compilation).rows
        if lines and not stacks:
            absent.add(_STACKS_OF_TENSORFLOW if of_tensorflow else _STACKS)
    return absent


@cache
def _needed_words(text: str) -> frozenset[str]:
    """Return the words of the clauses that must match to get a row.

    Optional and returned parts may be null. An OPTIONAL MATCH counts if the following WITH
    requires IS NOT NULL.
    """
    needed: list[Token] = []
    found = clauses(list(read_tokens(text)))
    while found:
        clause, *found = found
        if clause.word.endswith("MATCH"):
            own = [clause]
            if found and found[0].word == "WHERE":
                own.append(found.pop(0))
            if clause.word == "MATCH" or _requires_not_null(found[:2]):
                needed += [token for part in own for token in part.tokens]
        elif clause.word == "WHERE":
            needed += clause.tokens
    return frozenset(token.text for token in needed)


def _requires_not_null(following: Sequence[Clause]) -> bool:
    words = [clause.word for clause in following]
    tested = " ".join(token.text for token in following[-1].tokens)
    return words == ["WITH", "WHERE"] and "IS NOT NULL" in tested


def _missing_facts_of_runs(
    graph: Graph, words: frozenset[str], parameters: Mapping[str, Scalar], result: Result
) -> list[str]:
    if not words & _LIVE_RANGES.words and not _LIVE_RANGES.columns & set(result.columns):
        return []
    sides = [str(parameters[name]) for name in ("run", "runA", "runB") if parameters.get(name)]
    found = graph.query(_WITH_RANGES, {"sides": sides}) if sides else graph.query(_ALL_WITH_RANGES)
    return [
        f"{cast('int', count) - cast('int', known)} of {count} compilations of run {run}"
        " have no live ranges, so their peaks are unknown"
        for run, count, known in found.rows
    ]


def _empty_columns(result: Result) -> frozenset[str]:
    return frozenset(
        column
        for index, column in enumerate(result.columns)
        if all(row[index] is None for row in result.rows)
    )
