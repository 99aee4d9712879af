"""Reads a complete compilation from a graph; each table is read on first use."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Final, cast

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.errors import NameUnknown
from xlagraph.graph.statement_files import load_statement
from xlagraph.hlo.program import ModuleForm, PackedModule
from xlagraph.planner.compilation.records import (
    CompilationTotals,
    Record,
    StoredDependence,
    StoredFrame,
    StoredInstruction,
    StoredMaker,
    StoredOverwrite,
    StoredPosition,
    StoredReturn,
    StoredSpace,
    StoredSuccession,
    StoredUse,
    StoredValue,
    read_records,
)
from xlagraph.planner.dimensions.module_operations import ModuleOperations
from xlagraph.planner.dimensions.stored_operations import module_operations
from xlagraph.planner.planned_program import PlannedAllocation
from xlagraph.queries.runner.compilations import check_stored
from xlagraph.runtime.memory import collector_paused

_COMPILATION: Final = load_statement(__file__, "compilation")
ALLOCATIONS_STATEMENT: Final = load_statement(__file__, "allocations")
VALUES_STATEMENT: Final = load_statement(__file__, "values")
_MAKERS: Final = load_statement(__file__, "makers")
_RETURNS: Final = load_statement(__file__, "returns")
_RESULT_SHAPE: Final = load_statement(__file__, "result-shape")
INSTRUCTIONS_STATEMENT: Final = load_statement(__file__, "instructions")
_DEPENDENCES: Final = load_statement(__file__, "dependences")
_USES: Final = load_statement(__file__, "uses")
_POSITIONS: Final = load_statement(__file__, "positions")
_SUCCESSIONS: Final = load_statement(__file__, "successions")
_OVERWRITES: Final = load_statement(__file__, "overwrites")
_PACKED_MODULE: Final = load_statement(__file__, "packed-module")
_FRAMES_OF_VALUES: Final = load_statement(__file__, "frames-of-values")
FRAMES_STATEMENT: Final = load_statement(__file__, "frames")
_CALLING: Final = ("call", "fusion-start", "async-start")
"""Opcodes of instructions that run a computation of the schedule on their operands."""
_WAITING: Final = ("async-update", "async-done")
ORDER_STATEMENTS: Final = (_DEPENDENCES, _POSITIONS)
"""Tables that planning in another order needs too."""


class StoredCompilation:
    """A stored compilation, given by its complete key.

    Tables that were not ingested raise NotStored.
    """

    def __init__(self, graph: Graph, key: str) -> None:
        self._graph = graph
        self.key = key

    @property
    def totals(self) -> CompilationTotals:
        """Facts about the whole compilation; raises NameUnknown if it does not exist."""
        return self._totals_and_spaces[0]

    @property
    def spaces(self) -> tuple[StoredSpace, ...]:
        """Memory spaces, by colour; raises NameUnknown if the compilation does not exist."""
        return self._totals_and_spaces[1]

    def reading_ahead(self, *statements: str) -> AbstractContextManager[None]:
        """Begin with tables, given by their statements, which the block reads later."""
        asked = {"compilation": self.key}
        return self._graph.read_ahead([(statement, asked) for statement in statements])

    @cached_property
    def allocations(self) -> tuple[PlannedAllocation, ...]:
        """Allocations, by number."""
        return self._read(ALLOCATIONS_STATEMENT, PlannedAllocation)

    @cached_property
    def values(self) -> tuple[StoredValue, ...]:
        """Values, by value id."""
        return self._read(VALUES_STATEMENT, StoredValue)

    @cached_property
    def makers(self) -> Mapping[int, StoredMaker]:
        """Where each value is made, by value id."""
        return {each.value_id: each for each in self._read(_MAKERS, StoredMaker)}

    @cached_property
    def returns(self) -> tuple[StoredReturn, ...]:
        """Positions in what is returned, by value id, instruction and shape index."""
        return self._read(_RETURNS, StoredReturn, result=self.totals.result or "")

    @cached_property
    def result_shape(self) -> str | None:
        """Shape of what the program returns, with layouts; None if unknown."""
        # it names thousands of results, so it is not a column of `returns`
        rows = self._graph.query(_RESULT_SHAPE, {"compilation": self.key}).rows
        return cast("str | None", rows[0][0]) if rows else None

    @cached_property
    def instructions(self) -> tuple[StoredInstruction, ...]:
        """Instructions that are scheduled, or make, read or name a value; by name."""
        # that the engine sorts them and drops repeated ones would take three times as long
        found = {each.name: each for each in self._read(INSTRUCTIONS_STATEMENT, StoredInstruction)}
        return tuple([found[name] for name in sorted(found)])

    @cached_property
    def dependences(self) -> tuple[StoredDependence, ...]:
        """Scheduled instructions with their dependences, by step."""
        found = {each.name: each for each in self._read(_DEPENDENCES, StoredDependence)}
        return tuple(sorted(found.values(), key=lambda each: each.step))

    @cached_property
    def uses(self) -> tuple[StoredUse, ...]:
        """Uses, by value id, instruction and operand."""
        return self._read(_USES, StoredUse)

    @cached_property
    def reads(self) -> tuple[StoredUse, ...]:
        """Uses, without those by calls and asynchronous fusions.

        The called computation has uses of its own.
        """
        if not any(each.opcode in _CALLING for each in self.instructions):
            return self.uses
        calls: set[str] = set()
        for each in self.dependences:
            calls_other = each.opcode in _CALLING and each.callees
            if calls_other or (
                each.opcode in _WAITING and not calls.isdisjoint(each.operands or ())
            ):
                calls.add(each.name)
        return tuple([use for use in self.uses if use.instruction not in calls])

    @cached_property
    def positions(self) -> tuple[StoredPosition, ...]:
        """Positions, by value id, instruction and shape index."""
        return self._read(_POSITIONS, StoredPosition)

    @cached_property
    def successions(self) -> tuple[StoredSuccession, ...]:
        """Successions, those in place first, then by both value ids."""
        return self._read(_SUCCESSIONS, StoredSuccession)

    @cached_property
    def overwrites(self) -> tuple[StoredOverwrite, ...]:
        """Possible overwrites, by value id and operand."""
        return self._read(_OVERWRITES, StoredOverwrite)

    @cached_property
    def operations(self) -> ModuleOperations | None:
        """All operations of the module, also those inside of fusions; None if not stored."""
        return None if self.module is None else module_operations(self.module)

    @cached_property
    def module(self) -> PackedModule | None:
        """The module, as it was dumped; None if not stored."""
        rows = self._graph.query(_PACKED_MODULE, {"compilation": self.key}).rows
        if not rows:
            return None
        form, packed = rows[0]
        return PackedModule(cast("ModuleForm", form), str(packed))

    @cached_property
    def frame_by_value(self) -> Mapping[int, str]:
        """Key of the innermost frame of each value, by value id, if known."""
        found = self._graph.query(_FRAMES_OF_VALUES, {"compilation": self.key}).rows
        return {cast("int", value_id): str(frame) for value_id, frame in found}

    @cached_property
    def frames(self) -> Mapping[str, StoredFrame]:
        """The frames of values and their callers, by key, in the order of the keys."""
        return read_frames(self._graph, self.frame_by_value.values())

    @cached_property
    def _totals_and_spaces(self) -> tuple[CompilationTotals, tuple[StoredSpace, ...]]:
        rows = self._graph.query(_COMPILATION, {"compilation": self.key}).rows
        if not rows:
            raise NameUnknown(f"no compilation {self.key} in the graph")
        width = len(CompilationTotals._fields)
        spaces = [StoredSpace._make(row[width:]) for row in rows if row[width] is not None]
        return CompilationTotals._make(rows[0][:width]), tuple(spaces)

    def _read(self, statement: str, record: type[Record], **given: Cell) -> tuple[Record, ...]:
        asked = {"compilation": self.key, **given}
        with collector_paused():
            found = read_records(self._graph, statement, record, asked)
        if not found:
            check_stored(self._graph, [self.key])
        return found


def read_frames(graph: Graph, innermost: Iterable[str]) -> dict[str, StoredFrame]:
    """Read frames and their callers, one level at a time.

    Return them by key, in the order of the keys.
    """
    found: dict[str, StoredFrame] = {}
    wanted = set(innermost)
    while wanted:
        level = read_records(graph, FRAMES_STATEMENT, StoredFrame, {"frames": sorted(wanted)})
        found |= {frame.key: frame for frame in level}
        wanted = {frame.caller for frame in level if frame.caller is not None} - found.keys()
    return {key: found[key] for key in sorted(found)}
