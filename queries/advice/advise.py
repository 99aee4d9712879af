"""A diagnosis: what the catalogue finds fault with, ranked by potential savings.

A finding is declared in the header of its query (`@advice`): this module asks every such
query of a compilation, plans the memory anew with its rows changed (`@change`), and keeps what
saves enough. Findings whose effect the plan cannot tell come last.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, cast

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.errors import QueryFailed, QueryRefused
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.advice.diagnosis import DiagnosedCompilation, Diagnosis, Finding
from xlagraph.queries.advice.planned_savings import potential_savings
from xlagraph.queries.advice.rows_with_savings import rows_with_savings
from xlagraph.queries.advice.savings import Planner
from xlagraph.queries.catalogue.declarations import NO_LIMIT, Advice
from xlagraph.queries.catalogue.query_files import Query, load_catalogue
from xlagraph.queries.runner.run import run
from xlagraph.queries.selection.compilations import Selection, find_compilation, select
from xlagraph.queries.selection.name_checks import check_memory_space
from xlagraph.queries.stored_compilation.stored_compilation import StoredCompilation
from xlagraph.runtime.garbage_collection import collector_paused

LEAST_SHARE: Final = 0.05
"""Part of what is reserved, or of the peak, below which nothing is worth a change."""
LEAST_BYTES: Final = 1024
"""Nor is anything smaller, however small the program."""
LEAST_OF_RUN: Final = 0.2
"""Part of what the largest compilation of a run reserves, below which one is not looked at."""

_TOTALS: Final = load_statement(__file__, "totals")


@collector_paused(has_many=True)
def advise(
    graph: Graph,
    name: str | None = None,
    *,
    memory_space: int = 0,
    catalogue: Mapping[str, Query] | None = None,
    stored: StoredCompilation | None = None,
) -> Diagnosis:
    """Diagnose a compilation, or the largest ones of a run; by default the largest of all.

    Of a run, compilations that reserve less than `LEAST_OF_RUN` of its largest are left out.
    A query that the engine refuses, as one of the user's own may be, is named in `problems`.
    ``stored`` is the compilation of that name, if somebody else reads it too.
    Raises NoSuchCompilation or AmbiguousCompilation with the candidates, NoSuchMemorySpace, and
    EmptyGraph.
    """
    queries = load_catalogue() if catalogue is None else catalogue
    selection, notes = _selected(graph, name)
    check_memory_space(graph, memory_space, None if selection.is_run else selection.name)
    diagnosed = _large_enough(graph, selection, memory_space)
    left_out = len(selection.compilations) - len(diagnosed)
    if diagnosed and left_out:
        notes.append(
            f"{left_out} of {len(selection.compilations)} compilations reserve less than"
            f" {LEAST_OF_RUN:.0%} of what the largest does; they are left out"
        )
    findings: list[Finding] = []
    problems: list[str] = []
    for compilation in diagnosed:
        key = compilation.compilation
        read = stored if stored and stored.key == key else StoredCompilation(graph, key)
        found = _diagnose(graph, compilation, Planner(read, memory_space), queries)
        findings += found.findings
        notes += [
            f"{compilation.compilation}: {text}" if selection.is_run else text
            for text in found.notes
        ]
        problems += found.problems
    findings.sort(key=_rank)
    return Diagnosis(
        selection.name,
        selection.is_run,
        memory_space,
        tuple(diagnosed),
        tuple(findings),
        tuple(notes),
        tuple(dict.fromkeys(problems)),
    )


def _rank(finding: Finding) -> tuple[bool, int, str, str]:
    is_doubtful = finding.savings.doubt is not None
    return is_doubtful, -finding.bytes, finding.compilation, finding.query.id


def _selected(graph: Graph, name: str | None) -> tuple[Selection, list[str]]:
    if name:
        return select(graph, name), []
    found = find_compilation(graph, None)
    selection = Selection(found.key, is_run=False, compilations=(found.key,))
    return selection, [found.note] if found.note else []


def _large_enough(
    graph: Graph, selection: Selection, memory_space: int
) -> list[DiagnosedCompilation]:
    parameters: dict[str, Cell] = {
        "compilations": list(selection.compilations),
        "memorySpace": memory_space,
    }
    found = [
        DiagnosedCompilation(*cast("tuple[str, int, int | None, str | None]", row))
        for row in graph.query(_TOTALS, parameters).rows
    ]
    least = found[0].reserved_bytes * LEAST_OF_RUN if found else 0
    return [
        compilation
        for compilation in found
        if not selection.is_run or compilation.reserved_bytes >= least
    ]


class _Found(NamedTuple):
    """What the queries find in one compilation."""

    findings: list[Finding]
    notes: list[str]
    problems: list[str]


def _diagnose(
    graph: Graph, diagnosed: DiagnosedCompilation, planner: Planner, catalogue: Mapping[str, Query]
) -> _Found:
    findings: list[Finding] = []
    notes: dict[str, None] = {}
    problems: list[str] = []
    for query in catalogue.values():
        if query.advice is None:
            continue
        names = [parameter.name for parameter in query.parameters]
        given = {"limit": NO_LIMIT, "memorySpace": planner.memory_space}
        try:
            answer = run(
                graph,
                query.id,
                catalogue=catalogue,
                compilation=diagnosed.compilation,
                **{key: value for key, value in given.items() if key in names},
            )
        except (QueryFailed, QueryRefused) as error:
            problems.append(f"{query.path}: {error}")
            continue
        if missing := [
            each.name for each in query.columns if each.name not in answer.result.columns
        ]:
            problems.append(f"{query.path}: @column {missing[0]} is not returned")
            continue
        notes |= dict.fromkeys(answer.notes)
        rows = answer.result.mappings()
        findings += _finding(query, query.advice, rows, diagnosed, planner)
    return _Found(findings, list(notes), problems)


def _finding(
    query: Query,
    advice: Advice,
    rows: Sequence[Mapping[str, Cell]],
    diagnosed: DiagnosedCompilation,
    planner: Planner,
) -> Iterator[Finding]:
    saving = rows_with_savings(rows, advice, planner.memory_space)
    found = sum(cast("int", row[advice.column]) for row in saving)
    if not _is_enough(found, diagnosed.total_bytes(advice.measure)):
        return
    savings = potential_savings(saving, advice, planner)
    total_bytes = diagnosed.total_bytes(savings.measure)
    if _is_enough(max(savings.bytes, savings.at_most or 0), total_bytes):
        yield Finding(
            diagnosed.compilation,
            query,
            advice,
            savings,
            savings.bytes / total_bytes,
            tuple(saving),
        )


def _is_enough(size_bytes: int, total_bytes: int) -> bool:
    return total_bytes > 0 and size_bytes >= max(LEAST_BYTES, LEAST_SHARE * total_bytes)
