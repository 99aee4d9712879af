"""Collect the findings about one compilation: first causes, then findings of queries.

A value that a cause explains is removed from the rows of the query that shows the cause, so that
the same bytes are reported once.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, cast

from xlagraph.advice.causes.cause import CAUSE_COLUMNS, Cause
from xlagraph.advice.causes.fragmented_blocks import fragmented_blocks
from xlagraph.advice.causes.large_values import largest_line
from xlagraph.advice.causes.offloads import useless_offloads
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.search import (
    INPUTS_OF_DEVICES,
    UNUSED_DONATIONS,
    find_causes,
)
from xlagraph.advice.causes.together import saving_together
from xlagraph.advice.causes.unrolled_parts import kept_by_unrolled_parts
from xlagraph.advice.changeable_rows import changeable_rows, kept_for_fetches, wider_than_others
from xlagraph.advice.diagnosis import DiagnosedCompilation, Finding
from xlagraph.advice.edits_of_rows import edit_of_rows
from xlagraph.advice.libraries import in_words_of, library_of
from xlagraph.advice.planned_donations import best_donation, eager_operation, naming_arguments
from xlagraph.advice.planned_savings import (
    PotentialSavings,
    savings_of_edit,
)
from xlagraph.advice.saving_rows import each_value_once, rows_with_savings
from xlagraph.graph.engine import Cell, Graph, Scalar
from xlagraph.graph.errors import QueryFailed, QueryRefused
from xlagraph.graph.statement_files import load_statement
from xlagraph.planner.compilation.stored_compilation import (
    INSTRUCTIONS_STATEMENT,
    ORDER_STATEMENTS,
)
from xlagraph.planner.edits.batch import ScaleBatch
from xlagraph.planner.edits.changes import whatif_arguments
from xlagraph.planner.edits.edit import Edit
from xlagraph.planner.edits.recomputing import Move
from xlagraph.planner.edits.schedules import memory_setting
from xlagraph.queries.catalogue.declarations import NO_LIMIT, Advice, ChangeKind
from xlagraph.queries.catalogue.query_files import Query
from xlagraph.queries.runner.run import known_parameters, reading_ahead, run_query

LEAST_SHARE: Final = 0.05
"""Share of the reserved bytes, or of the peak, below which a change is not worth its effort."""
LEAST_BYTES: Final = 1024
"""Smallest saving that is reported for programs of any size."""
_MOST_ARGUMENTS: Final = 24
_INPUTS_OF_DEVICES: Final = load_statement(__file__, "inputs-of-devices")
_UNUSED_DONATIONS: Final = load_statement(__file__, "unused-donations")
_PACKED: Final = "reuse/fragmentation"
_KEPT: Final = "lifetime/kept-for-backward"
_FACTS: Final = frozenset(("alias/copies", "waste/duplicates"))
"""Queries whose rows have a known cause, or only say where bytes are."""
_HOPELESS: Final = frozenset((ChangeKind.HALF, ChangeKind.MOVE))
"""Changes that a CPU undoes: it computes in f32 whatever the program says, and drops barriers."""
Rows = Sequence[Mapping[str, Cell]]


@dataclass(slots=True)
class CompilationFindings:
    """The findings about one compilation."""

    findings: list[Finding] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    """Notes in order, each once."""
    problems: list[str] = field(default_factory=list)
    hidden: int = 0
    """Number of findings that save less than the least share, or may save nothing."""


def find(
    graph: Graph,
    diagnosed: DiagnosedCompilation,
    program: PeakProgram,
    catalogue: Mapping[str, Query],
    least_share: float = LEAST_SHARE,
) -> CompilationFindings:
    """Return the findings about one compilation that save at least a share of its memory."""
    return _Search(graph, diagnosed, program, catalogue, least_share).found()


class _Search:
    def __init__(
        self,
        graph: Graph,
        diagnosed: DiagnosedCompilation,
        program: PeakProgram,
        catalogue: Mapping[str, Query],
        least_share: float,
    ) -> None:
        self._graph = graph
        self._diagnosed = diagnosed
        self._program = program
        self._parameters: dict[str, Scalar] = {
            "compilation": diagnosed.compilation,
            "memorySpace": program.memory_space,
            "limit": NO_LIMIT,
        }
        self._catalogue = catalogue
        self._least_share = least_share
        self._found = CompilationFindings()
        self._claimed: defaultdict[str, set[str]] = defaultdict(set)

    def found(self) -> CompilationFindings:
        queries = [query for query in self._catalogue.values() if query.advice is not None]
        program, stored = self._program, self._program.stored
        # a thread reads, the tables of the inner blocks first
        with stored.reading_ahead(INSTRUCTIONS_STATEMENT):
            with (
                reading_ahead(self._graph, queries, self._parameters),
                stored.reading_ahead(*ORDER_STATEMENTS),
            ):
                obstacle = program.obstacle
                if obstacle is None and memory_setting(program.compilation) is not None:
                    _ = program.live_orders  # which a cause needs
                answers = {
                    query.id: rows for query in queries if (rows := self._ask(query)) is not None
                }
            causes = self._causes(answers)
        alone: list[tuple[Cause, int]] = []
        for cause in causes:
            finding = self._of_cause(cause)
            self._keep(finding, is_cause=not cause.is_fact)
            alone.append((cause, 0 if finding is None else finding.most_bytes))
        if obstacle is None and self._least_share:
            least = int(self._least_share * self._diagnosed.total_bytes("reserved"))
            if (together := saving_together(program, alone, max(LEAST_BYTES, least))) is not None:
                self._keep(self._of_cause(together))
        for query_id, rows in answers.items():
            query = self._catalogue[query_id]
            if query.advice is not None:
                claimed = self._claimed[query_id]
                left = [row for row in rows if row.get("value") not in claimed]
                if claimed and query_id == _PACKED:  # its rows are blocks
                    left = []
                is_cause = obstacle is not None or not (
                    query_id in _FACTS
                    or (query.advice.change is ChangeKind.LATE and self._is_ordered_for_memory())
                )
                self._keep(self._of_query(query, query.advice, left), is_cause=is_cause)
        if obstacle is None:
            explained = {
                str(row.get("value"))
                for each in self._found.findings
                if each.advice.change is not ChangeKind.HALF
                for row in each.rows
            }
            for cause in largest_line(self._program, explained):
                self._keep(self._of_cause(cause), is_cause=False)
        return self._found

    def _ask(self, query: Query) -> Rows | None:
        """Return a query's rows; record a problem and return None if the engine rejects it."""
        try:
            answer = run_query(self._graph, query, known_parameters(query, self._parameters))
        except (QueryFailed, QueryRefused) as error:
            self._found.problems.append(f"{query.path}: {error}")
            return None
        if missing := [
            each.name for each in query.columns if each.name not in answer.result.columns
        ]:
            self._found.problems.append(f"{query.path}: @column {missing[0]} is not returned")
            return None
        self._found.notes |= dict.fromkeys(answer.notes)
        # replicated weights next to a split batch are data parallelism, no mistake
        return [row for row in answer.result.mappings() if not row.get("isDataParallel")]

    def _causes(self, answers: Mapping[str, Rows]) -> list[Cause]:
        compilation = self._program.compilation
        if self._program.obstacle is not None:
            # what offloads move is in the live ranges, and needs no replanning
            can_tell = compilation.has_buffer_sets and compilation.has_ranges
            offloads = list(useless_offloads(self._program)) if can_tell else []
            return [cause for cause in offloads if cause.query in self._catalogue]
        asked = {"compilation": self._diagnosed.compilation}
        inputs = self._graph.query(_INPUTS_OF_DEVICES, asked).mappings()
        unused = self._graph.query(_UNUSED_DONATIONS, asked).mappings()
        found = [
            *find_causes(
                self._program, {**answers, UNUSED_DONATIONS: unused, INPUTS_OF_DEVICES: inputs}
            )
        ]
        if (packed := self._catalogue.get(_PACKED)) is not None:
            found += fragmented_blocks(self._program, answers.get(_PACKED, ()), packed.advice)
        return [cause for cause in found if cause.query in self._catalogue]

    def _of_cause(self, cause: Cause) -> Finding | None:
        advice = cause.advice
        # a batch costs what is computed from it
        is_batch = isinstance(cause.edit, ScaleBatch)
        if not is_batch and not self._is_enough(cause.sum_bytes, "reserved"):
            return None
        savings = savings_of_edit(
            advice.change, cause.edit, cause.sum_bytes, advice.measure, self._program
        )
        doubts = [text for text in (cause.doubt, None if cause.is_exact else savings.doubt) if text]
        likelihood = savings.likelihood if cause.likelihood is None else cause.likelihood
        savings = replace(savings, doubt="; ".join(doubts) or None, likelihood=likelihood)
        finding = self._finding(
            self._catalogue[cause.query], advice, cause.edit, savings, cause.rows
        )
        if self._is_enough(finding.most_bytes, savings.measure):
            self._claimed[cause.query] |= cause.labels
            if isinstance(cause.edit, Move) and likelihood:
                # a later part of the forward pass reads them first, whatever is recomputed
                self._claimed[_KEPT] |= cause.labels
        return replace(finding, columns=CAUSE_COLUMNS)

    def _of_query(self, query: Query, advice: Advice, rows: Rows) -> Finding | None:
        compilation = self._program.compilation
        if self._program.obstacle is None:
            if query.id == _KEPT:
                known = {row["value"] for row in rows}
                rows = [*rows, *kept_for_fetches(self._program, known)]
            rows = changeable_rows(self._program, advice.change, rows)
            if advice.change is ChangeKind.DONATE:
                return self._of_donation(query, advice, rows)
            if query.id == _KEPT and self._is_enough(_sum(rows, advice.column), advice.measure):
                labels = [str(row["value"]) for row in rows]
                if (cause := kept_by_unrolled_parts(self._program, labels)) is not None:
                    return self._of_cause(cause)
        elif advice.change is ChangeKind.LATE:  # dependence shows it, without a plan
            can_tell = compilation.has_buffer_sets and compilation.has_ranges
            rows = changeable_rows(self._program, advice.change, rows) if can_tell else ()
        saving = rows_with_savings(rows, advice, self._program.memory_space)
        if not self._is_enough(_sum(saving, advice.column), advice.measure):
            return None
        if advice.change is ChangeKind.HALF and self._least_share:
            is_cpu = compilation.platform == "cpu"  # it computes in f32 whatever the program says
            saving = [] if is_cpu else [*wider_than_others(self._program, saving)]
            if not self._is_enough(_sum(saving, advice.column), advice.measure):
                self._found.hidden += 1
                return None
        return self._of_rows(query, advice, saving)

    def _is_ordered_for_memory(self) -> bool:
        """Return True if a CPU recomputes as late as it can, or if its order is a finding.

        What is still early then belongs to the part whose backward pass runs.
        """
        program = self._program
        if program.obstacle is not None or program.compilation.platform != "cpu":
            return False
        return not program.recomputes_early or program.memory_order is not None

    def _of_donation(self, query: Query, advice: Advice, rows: Rows) -> Finding | None:
        """Return the donation of the arguments that save most together.

        Temporaries use the bytes of outputs too, so only a plan shows the effect of a donation.
        """
        program = self._program
        here = [
            row
            for row in each_value_once(rows)
            if row.get("memorySpace", program.memory_space) == program.memory_space
        ]
        if not self._is_enough(_sum(here, "sizeBytes"), "reserved"):
            return None
        labels = [str(row["value"]) for row in here]
        edit, note = best_donation(
            program.compilation, labels, program.memory_space, stored=program.stored
        )
        if note is not None:
            self._found.notes[note] = None
        if edit is None:
            return None
        names = {program.compilation.values[each].label for each in edit.parameters}
        donated = [row for row in here if row["value"] in names]
        donated.sort(key=lambda row: -cast("int", row["sizeBytes"]))
        savings = savings_of_edit(ChangeKind.DONATE, edit, 0, "reserved", program)
        return self._finding(query, advice, edit, savings, donated)

    def _of_rows(self, query: Query, advice: Advice, rows: Rows) -> Finding:
        edit = edit_of_rows(rows, advice, self._program.compilation)
        total = _sum(rows, advice.column)
        savings = savings_of_edit(advice.change, edit, total, advice.measure, self._program)
        return self._finding(query, advice, edit, savings, rows)

    def _finding(
        self,
        query: Query,
        advice: Advice,
        edit: Edit | None,
        savings: PotentialSavings,
        rows: Rows,
    ) -> Finding:
        total = self._diagnosed.total_bytes(savings.measure)
        if advice.change is ChangeKind.DONATE:
            eager = eager_operation(self._program.stored)
            advice = naming_arguments(advice, rows, self._program.compilation, eager=eager)
        return Finding(
            self._diagnosed.compilation,
            query,
            in_words_of(self._library, advice),
            savings,
            savings.bytes / total if total else 0.0,
            tuple(rows),
            edit,
            query.columns,
            total,
            self._program.framework,
            self._whatif(edit) if savings.is_planned else (),
        )

    @cached_property
    def _library(self) -> str | None:
        values = self._program.compilation.values.values()
        return library_of(value.source_file for value in values)

    def _whatif(self, edit: Edit | None) -> tuple[str, ...]:
        """Return the command that replans an edit, unless it is too long to be copied."""
        if edit is None or self._program.memory_space:  # `whatif` shows memory space 0
            return ()
        if len(edit.arguments) > _MOST_ARGUMENTS:
            return ()
        arguments = whatif_arguments(edit, self._program.compilation)
        if not arguments:
            return ()
        return ("xlagraph", "whatif", self._diagnosed.compilation, *arguments)

    def _keep(self, finding: Finding | None, *, is_cause: bool = True) -> None:
        if finding is None:
            return
        is_hopeless = not is_cause or (
            finding.savings.likelihood == 0 and finding.advice.change in _HOPELESS
        )
        is_enough = self._is_enough(finding.most_bytes, finding.savings.measure)
        if is_enough and (not is_hopeless or self._least_share == 0):
            self._found.findings.append(finding)
        elif finding.most_bytes >= LEAST_BYTES:
            self._found.hidden += 1

    def _is_enough(self, size_bytes: int, measure: str) -> bool:
        total = self._diagnosed.total_bytes(measure)
        return total > 0 and size_bytes >= max(LEAST_BYTES, self._least_share * total)


def _sum(rows: Rows, column: str) -> int:
    return sum(cast("int | None", row[column]) or 0 for row in rows)
