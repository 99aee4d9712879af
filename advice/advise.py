"""Diagnose compilations: find what to change, ranked by expected savings.

A finding is a cause (`causes`), or is declared in the header of a query (`@advice`). Its change is
replanned, and the finding is kept if it saves enough. Findings are ranked by the middle of their
range of savings, discounted by their doubt.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, cast

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.diagnosis import DiagnosedCompilation, Diagnosis, Finding
from xlagraph.advice.findings import LEAST_SHARE, find
from xlagraph.graph.asked_once import AskedOnce
from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.queries.catalogue.query_files import Query, load_catalogue
from xlagraph.queries.runner.compilations import Selection, find_compilation, select
from xlagraph.queries.runner.name_checks import check_memory_space
from xlagraph.runtime.memory import collector_paused

LEAST_OF_RUN: Final = 0.2
"""Compilations below this share of the largest reservation of their run are skipped."""

_TOTALS: Final = load_statement(__file__, "totals")


@collector_paused(has_many=True)
def advise(
    graph: Graph,
    name: str | None = None,
    *,
    memory_space: int = 0,
    catalogue: Mapping[str, Query] | None = None,
    stored: StoredCompilation | None = None,
    least_share: float = LEAST_SHARE,
) -> Diagnosis:
    """Diagnose a compilation, or the largest ones of a run; by default the largest of all.

    Compilations of a run that reserve less than `LEAST_OF_RUN` of its largest are skipped. A query
    that the engine rejects, for example one that the user wrote, is reported in `problems`.
    ``stored`` is the compilation of that name, if the caller reads it too. Findings that save
    less than ``least_share`` of the compilation's memory are counted, not listed. Raises
    NoSuchCompilation or AmbiguousCompilation with the candidates, NoSuchMemorySpace, and
    EmptyGraph.
    """
    graph = graph if isinstance(graph, AskedOnce) else AskedOnce(graph)
    queries = load_catalogue() if catalogue is None else catalogue
    selection, notes = _selected(graph, name)
    check_memory_space(graph, memory_space, None if selection.is_run else selection.name)
    diagnosed = _large_enough(graph, selection, memory_space)
    left_out = len(selection.compilations) - len(diagnosed)
    if diagnosed and left_out:
        notes.append(
            f"skipped {left_out} of {len(selection.compilations)} compilations: they reserve less"
            f" than {LEAST_OF_RUN:.0%} of the largest"
        )
    findings: list[Finding] = []
    hidden = 0
    problems: list[str] = []
    noted: defaultdict[str, list[str]] = defaultdict(list)
    for compilation in diagnosed:
        key = compilation.compilation
        read = stored if stored and stored.key == key else StoredCompilation(graph, key)
        program = PeakProgram(read, memory_space)
        found = find(graph, compilation, program, queries, least_share)
        findings += found.findings
        hidden += found.hidden
        for text in found.notes:
            noted[text].append(key)
        problems += found.problems
    notes += [_note(text, keys, len(diagnosed)) for text, keys in noted.items()]
    return Diagnosis(
        selection.name,
        selection.is_run,
        memory_space,
        tuple(diagnosed),
        tuple(sorted(findings, key=_rank)),
        tuple(notes),
        tuple(dict.fromkeys(problems)),
        hidden,
        least_share,
    )


def _note(text: str, keys: Sequence[str], count: int) -> str:
    """Return a note that is true of these of so many compilations."""
    if len(keys) == count:
        return text
    others = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return f"{keys[0]}{others}: {text}"


def _rank(finding: Finding) -> tuple[int, int, str, str, str]:
    savings = finding.savings
    return (
        -savings.expected_bytes,
        -savings.middle,
        finding.compilation,
        finding.query.id,
        finding.advice.title,
    )


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
