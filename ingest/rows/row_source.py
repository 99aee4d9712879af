"""What the rows of a compilation are made from, with the row numbers that tables share.

The provenance is what is known of a compilation from outside its text, the facts are what
follows from the text: compilations of the same text share them. Rows of nodes keep the order
of the plan: an index in the plan is a row number, and relationships are made without looking
keys up.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from xlagraph.graph.schema_types import caption_property
from xlagraph.ingest.files.discovery import DumpFiles
from xlagraph.ingest.measures.attribution import Attribution
from xlagraph.ingest.measures.compilation_facts import CompilationFacts, NamedInstruction
from xlagraph.ingest.model.op_names import scopes
from xlagraph.presentation.byte_sizes import human_bytes

__all__ = ["NO_ROWS", "Columns", "NumberedFacts", "Provenance", "bytes_and_text"]

Columns = Mapping[str, Sequence[object]]
"""Columns of equal length by the names of the schema; without any, there are no rows."""
NO_ROWS: Final[Columns] = {}

_Name = TypeVar("_Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known of a compilation from outside its text."""

    files: DumpFiles
    sha256: str
    ingested_at: str
    """ISO 8601, UTC."""
    tags: tuple[str, ...] = ()
    """Of the run, each ``name=value``."""
    run_path: str | None = None
    """Of the folder that the run came from first; None if that is the dump's own."""


@dataclass(frozen=True)
class NumberedFacts:
    """The facts of a text, with the row numbers that several tables need."""

    facts: CompilationFacts

    @cached_property
    def instruction_rows(self) -> dict[str, int]:
        """By name."""
        return {named.instruction.name: row for row, named in enumerate(self.facts.instructions)}

    @cached_property
    def schedule(self) -> list[int]:
        """Row numbers of instructions, by step."""
        ranges = self.facts.plan.live_ranges
        if ranges is None:
            return []
        return [self.instruction_rows[name] for name in ranges.schedule]

    @cached_property
    def value_rows(self) -> dict[int, int]:
        """By value id."""
        return {value.value_id: row for row, value in enumerate(self.facts.plan.values)}

    @cached_property
    def used_rows(self) -> list[int]:
        """Of each used value its row."""
        rows = self.value_rows
        return [rows[used.value_id] for used in self.facts.plan.used_values or ()]

    @cached_property
    def defining_rows(self) -> list[int]:
        """Of each value the row of its defining instruction."""
        rows = self.instruction_rows
        return [rows[value.name] for value in self.facts.plan.values]

    @cached_property
    def op_rows(self) -> dict[str, int]:
        """By op name: those of instructions, then those that only values belong to."""
        of_instructions = [
            named.instruction.attributes.op_name for named in self.facts.instructions
        ]
        return _numbered([*of_instructions, *self.attributed_op_names])

    @cached_property
    def attributed_op_names(self) -> list[str | None]:
        """Of each value the op name that it belongs to."""
        found = self.facts.attributions
        return [None if each is None else each.op_name for each in found]

    @cached_property
    def scopes(self) -> list[tuple[int, int, str]]:
        """Of each op name its row and depth and name of each scope that it lies in.

        A leading ``/`` has nothing before it to name.
        """
        return [
            (row, depth, scope)
            for name, row in self.op_rows.items()
            for depth, scope in enumerate(scopes(name), 1)
            if scope
        ]

    @cached_property
    def scope_rows(self) -> dict[str, int]:
        """By name of the scope."""
        return _numbered([scope for _, _, scope in self.scopes])

    @cached_property
    def attributed_lines(self) -> list[tuple[str, int] | None]:
        """Of each value file and line of what it belongs to."""
        found = self.facts.attributions
        return [None if each is None else _source_line_of(each) for each in found]

    @cached_property
    def instruction_lines(self) -> list[tuple[str, int] | None]:
        """Of each instruction file and line where it states both."""
        return [_source_line_of(instruction) for instruction in self.facts.instructions]

    @cached_property
    def source_line_rows(self) -> dict[tuple[str, int], int]:
        """By file and line: those of instructions, then those that only values belong to."""
        return _numbered([*self.instruction_lines, *self.attributed_lines])


def bytes_and_text(name: str, sizes_bytes: Sequence[int | None]) -> Columns:
    """Return a column that counts bytes, and the column of its texts."""
    texts = {size: None if size is None else human_bytes(size) for size in set(sizes_bytes)}
    return {name: sizes_bytes, caption_property(name): [texts[size] for size in sizes_bytes]}


def _source_line_of(source: NamedInstruction | Attribution) -> tuple[str, int] | None:
    """Return file and line where both are known."""
    if source.source_file is None or source.source_line is None:
        return None
    return source.source_file, source.source_line


def _numbered(names: Iterable[_Name | None]) -> dict[_Name, int]:
    """Return a number from 0 for each name, in the order of first mention; None has none."""
    found = dict.fromkeys(names)
    found.pop(None, None)
    return {name: row for row, name in enumerate(found) if name is not None}
