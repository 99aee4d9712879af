"""Turn the files of compilations into rows: read, parse, join, derive, make rows."""

import pickle
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import sha256 as sha256_of
from pathlib import Path
from typing import Final

import pyarrow as pa

from xlagraph.graph.errors import GraphError
from xlagraph.graph.row_files import RowFiles
from xlagraph.hlo.program import Program
from xlagraph.ingest.errors import ParseError, Problem, UnreadableDump, readable
from xlagraph.ingest.files.contents import DumpContents, read_compilation, read_dump
from xlagraph.ingest.loading.job import JobOutcome, PreparationJob, Prepared, batches_of_jobs
from xlagraph.ingest.measures.compilation_facts import CompilationFacts, derive_facts
from xlagraph.ingest.rows.compilation_rows import compilation_tables, tables_of_detail
from xlagraph.ingest.rows.counts import RowCounts
from xlagraph.ingest.rows.row_source import Provenance
from xlagraph.runtime.memory import collector_paused

_TOGETHER_BYTES: Final = 4 * 2**20
"""Size of the dumps whose rows are made together; more would only take memory."""
_TOGETHER_DUMPS: Final = 200
_KNOWN_BYTES: Final = 8 * 2**20
"""Unpacked size of the dumps whose facts are cached for dumps of the same content."""


_NEEDED_TO_PLAN: Final = ("used values", "live ranges", "module text")


class KnownContents:
    """A cache of the facts of contents that were read recently, by digest.

    Hosts of one job and runs of one program compile many identical modules: of 356 dumps of seven
    runs, 211 had the content of another. Dumps are sorted by size, so that dumps of the same
    content are close together.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[JobOutcome, CompilationFacts]] = OrderedDict()
        self._bytes = 0

    def find(self, sha256: str) -> tuple[JobOutcome, CompilationFacts] | None:
        """Return the outcome and facts of a content; None if they are not cached."""
        found = self._known.get(sha256)
        if found is not None:
            self._known.move_to_end(sha256)
        return found

    def keep(self, sha256: str, outcome: JobOutcome, facts: CompilationFacts) -> None:
        """Cache the facts of a content; evict the least recently used until all fit."""
        self._known[sha256] = outcome, facts
        self._bytes += outcome.content_bytes
        while self._bytes > _KNOWN_BYTES:
            _, (dropped, _) = self._known.popitem(last=False)
            self._bytes -= dropped.content_bytes


@collector_paused(has_many=True)
def prepare(jobs: Sequence[PreparationJob], folder: Path | None, known: KnownContents) -> Prepared:
    """Prepare some jobs, and write their rows below a folder if there is one.

    Raises `RowsUnwritten`. Problems with a dump are in its outcome.
    """
    outcomes: list[JobOutcome] = []
    counts = RowCounts()
    tables = _tables(jobs, known, outcomes, counts)
    files = None
    if folder is None:
        for _ in tables:
            pass
    else:
        files = RowFiles.write(folder, tables)
    return Prepared(tuple(outcomes), counts, files if files and files.origins else None)


def prepared_batches(tasks: Iterator[tuple[Path | None, list[PreparationJob]]]) -> Iterator[bytes]:
    """Yield the pickled result or error of each batch, whose rows are written to its folder.

    A program of a child process, which imports little else.
    """
    known = KnownContents()
    for folder, batch in tasks:
        answer: Prepared | GraphError
        try:
            answer = prepare(batch, folder, known)
        except GraphError as error:
            answer = error
        yield pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)


def _tables(
    jobs: Sequence[PreparationJob],
    known: KnownContents,
    outcomes: list[JobOutcome],
    counts: RowCounts,
) -> Iterator[tuple[str, pa.Table]]:
    """Yield the tables of some jobs, and add to their outcomes and counts."""
    for together in batches_of_jobs(jobs, _TOGETHER_BYTES, _TOGETHER_DUMPS):
        found = [_outcome_and_facts(job, known) for job in together]
        outcomes += [outcome for outcome, _ in found]
        compilations = [compilation for _, compilation in found if compilation is not None]
        del found  # it may be as large as the next
        tables = compilation_tables(compilations)
        for name, rows in tables_of_detail(tables, together[0].detail):
            counts.add_rows(name, rows)
            yield name, rows
            del rows  # they too


def _outcome_and_facts(
    job: PreparationJob, known: KnownContents
) -> tuple[JobOutcome, tuple[Provenance, CompilationFacts] | None]:
    if job.problem is not None:
        return JobOutcome(problems=(job.problem,)), None
    try:
        contents = read_dump(job.files, job.expected)
        sha256 = _digest(contents.sha256, job.categories)
        if sha256 == job.unchanged_sha256:
            return JobOutcome(is_unchanged=True), None
        found = known.find(sha256)
        outcome, facts = found or _read_and_derive(contents, job.categories)
        if job.expected is not None and not outcome.totals_agree:
            message = "its allocations do not add up to its total: it may be incomplete"
            return _left_out(job, message), None
        if found is None and not outcome.problems:  # a problem names a file of one dump
            known.keep(sha256, outcome, facts)
        return outcome, (
            Provenance(job.files, sha256, job.ingested_at, job.tags, job.run_path, job.snapshots),
            facts,
        )
    except UnreadableDump as error:
        return JobOutcome(problems=(error.problem,)), None
    except ParseError as error:
        return JobOutcome(problems=(Problem(error.file, error.line, error.message),)), None
    except MemoryError:
        return _left_out(job, "requires more memory than is available"), None
    except RecursionError:
        return _left_out(job, "is nested too deeply"), None


def _left_out(job: PreparationJob, message: str) -> JobOutcome:
    return JobOutcome(problems=(Problem(readable(job.files.path), None, message),))


def _digest(sha256: str, categories: tuple[tuple[str, str], ...]) -> str:
    """Return the digest of a content, which other patterns of categories make another one."""
    return sha256_of(f"{sha256}{categories}".encode()).hexdigest() if categories else sha256


def _read_and_derive(
    contents: DumpContents, categories: tuple[tuple[str, str], ...]
) -> tuple[JobOutcome, CompilationFacts]:
    is_text = contents.are_texts
    plan, program = read_compilation(contents)
    facts = derive_facts(plan, program, categories)
    outcome = JobOutcome(
        has_rows=True,
        problems=tuple(contents.problems),
        missing=_missing(facts, program, contents),
        content_bytes=contents.size_bytes,
        total_bytes=plan.total_bytes,
        allocation_bytes=sum(allocation.size_bytes for allocation in plan.allocations),
        is_text=is_text,
    )
    return outcome, facts


def _missing(facts: CompilationFacts, program: Program, contents: DumpContents) -> tuple[str, ...]:
    plan = facts.plan
    parts = {
        "total bytes": plan.total_bytes is not None,
        "used values": plan.used_values is not None,
        "instruction texts": not (plan.values and contents.are_texts) or _has_texts(facts),
        "live ranges": plan.live_ranges is not None,
        "module text": program.has_computations,
    }
    if all(parts[part] for part in _NEEDED_TO_PLAN):
        parts["planning facts"] = facts.planner_inputs is not None
    return tuple(part for part, is_there in parts.items() if not is_there)


def _has_texts(facts: CompilationFacts) -> bool:
    return any(named.instruction.text is not None for named in facts.instructions)
