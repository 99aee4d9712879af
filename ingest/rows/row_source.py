"""Sources of a compilation's rows, and the row numbers that its tables share.

The facts are derived from a dump's text, so compilations with the same text share them. The
provenance is everything else known about a compilation. Rows of nodes keep the order of the
plan: an index in the plan is a row number, and relationships need no lookup of keys.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from xlagraph.hlo.op_names import scopes
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.measures.attribution import Attribution
from xlagraph.ingest.measures.compilation_facts import CompilationFacts, NamedInstruction

_Name = TypeVar("_Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Facts about a compilation that are not in the text of its dump."""

    files: DumpFiles
    sha256: str
    ingested_at: str
    """ISO 8601, UTC."""
    tags: tuple[str, ...] = ()
    """Tags of the run, each ``name=value``."""
    run_path: str | None = None
    """Path of the folder that the run was first read from; None if it is the dump's folder."""
    snapshots: tuple[str, ...] = ()
    """Snapshots of the run's devices, each ``name=JSON``."""


@dataclass(frozen=True)
class NumberedFacts:
    """The facts derived from a text, with the row numbers that several tables need."""

    facts: CompilationFacts

    @cached_property
    def instruction_rows(self) -> dict[str, int]:
        """Row number of each instruction, by name."""
        return {named.instruction.name: row for row, named in enumerate(self.facts.instructions)}

    @cached_property
    def schedule(self) -> list[int]:
        """Row number of the instruction at each step."""
        ranges = self.facts.plan.live_ranges
        if ranges is None:
            return []
        return [self.instruction_rows[name] for name in ranges.schedule]

    @cached_property
    def value_rows(self) -> dict[int, int]:
        """Row number of each value, by value id."""
        return {value.value_id: row for row, value in enumerate(self.facts.plan.values)}

    @cached_property
    def used_rows(self) -> list[int]:
        """Row number of each used value."""
        rows = self.value_rows
        return [rows[used.value_id] for used in self.facts.plan.used_values or ()]

    @cached_property
    def defining_rows(self) -> list[int]:
        """Row number of each value's defining instruction."""
        rows = self.instruction_rows
        return [rows[value.name] for value in self.facts.plan.values]

    @cached_property
    def live_from(self) -> Sequence[int | None]:
        """First step in which each value is live; None without a live range."""
        return [None if span is None else span.first for span in self.facts.spans]

    @cached_property
    def live_until(self) -> Sequence[int | None]:
        """Last step in which each value is live; None without a live range."""
        return [None if span is None else span.last for span in self.facts.spans]

    @cached_property
    def op_names(self) -> list[str | None]:
        """Op name of each instruction."""
        return [named.instruction.attributes.op_name for named in self.facts.instructions]

    @cached_property
    def op_rows(self) -> dict[str, int]:
        """Row number of each op name: first those of instructions, then those only of values."""
        return _numbered([*self.op_names, *self.attributed_op_names])

    @cached_property
    def attributed_op_names(self) -> list[str | None]:
        """Op name that each value is attributed to."""
        found = self.facts.attributions
        return [None if each is None else each.op_name for each in found]

    @cached_property
    def scopes(self) -> list[tuple[int, int, str]]:
        """Row number of the op name, depth and scope name, for each scope of each op name.

        The empty scope before a leading ``/`` is omitted.
        """
        return [
            (row, depth, scope)
            for name, row in self.op_rows.items()
            for depth, scope in enumerate(scopes(name), 1)
            if scope
        ]

    @cached_property
    def scope_rows(self) -> dict[str, int]:
        """Row number of each scope, by name."""
        return _numbered([scope for _, _, scope in self.scopes])

    @cached_property
    def attributed_lines(self) -> list[tuple[str, int] | None]:
        """Source file and line that each value is attributed to."""
        found = self.facts.attributions
        return [None if each is None else _source_line_of(each) for each in found]

    @cached_property
    def instruction_lines(self) -> list[tuple[str, int] | None]:
        """Source file and line of each instruction, if both are known."""
        return [_source_line_of(instruction) for instruction in self.facts.instructions]

    @cached_property
    def source_line_rows(self) -> dict[tuple[str, int], int]:
        """Row number of each source line: first those of instructions, then those only of values.

        Keys are file and line.
        """
        return _numbered([*self.instruction_lines, *self.attributed_lines])


def _source_line_of(source: NamedInstruction | Attribution) -> tuple[str, int] | None:
    """Return file and line, if both are known."""
    if source.source_file is None or source.source_line is None:
        return None
    return source.source_file, source.source_line


def _numbered(names: Iterable[_Name | None]) -> dict[_Name, int]:
    """Return a number from 0 for each name, in the order of first mention; None is skipped."""
    found = dict.fromkeys(names)
    found.pop(None, None)
    return {name: row for row, name in enumerate(found) if name is not None}
