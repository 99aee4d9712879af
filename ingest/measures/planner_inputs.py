"""Facts that replanning needs besides the plan, for each value and instruction.

The rules are in `xlagraph.ingest.hlo`: which values must share an address (`buffer_sets`),
which may be written over which operand (`overwriting`), and the post-order (`post_order`). This
module applies them to the values of a dump, whose positions and uses show where each value is
visible.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from xlagraph.ingest.hlo.buffer_sets import buffer_sets
from xlagraph.ingest.hlo.overwriting import (
    ReadOperand,
    WrittenOutput,
    ever_overwrites,
    may_overwrite,
)
from xlagraph.ingest.hlo.post_order import post_order, scheduled_computations
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.model.plan import Plan, Value
from xlagraph.ingest.model.program import WHOLE, Computation, Instruction, Program, ProgramError

__all__ = ["OverwriteCandidate", "PlannerInputs", "planner_inputs"]


_NO_POSITIONS: Final[Mapping[str, int]] = {}


class OverwriteCandidate(NamedTuple):
    """A value that may be written over another one; both are rows of the plan's values."""

    value: int
    operand_value: int
    operand: int
    """Operand number."""
    is_operand: bool
    """True if the operand itself defines the other value, without a bitcast or tuple element
    between them."""


@dataclass(frozen=True, slots=True)
class PlannerInputs:
    """Facts that the module text adds to a plan."""

    buffer_sets: tuple[int, ...]
    """Smallest value id of the buffer set of each value, aligned with the plan's values."""
    post_orders: Mapping[str, int]
    """Post-order number by name of the instruction."""
    overwrites: tuple[OverwriteCandidate, ...]
    """Candidates by value, then in the order of its operands."""
    needed_until: Mapping[int, int]
    """Step at which the live range of an entry parameter would end if donated, by its row."""
    result: str
    """Name of the root instruction of the entry computation."""


def planner_inputs(
    plan: Plan, spans: Sequence[Span | None], steps: Mapping[str, int], program: Program
) -> PlannerInputs | None:
    """Derive the inputs of replanning; None without uses, a schedule or a complete program.

    ``steps`` maps names of scheduled instructions to their steps.
    """
    if plan.used_values is None or plan.live_ranges is None or not program.has_computations:
        return None
    try:
        return _planner_inputs(plan, spans, steps, program)
    except (ProgramError, RecursionError):  # the program is truncated, or calls itself
        return None


def _planner_inputs(
    plan: Plan, spans: Sequence[Span | None], steps: Mapping[str, int], program: Program
) -> PlannerInputs:
    result = program.entry.root.name
    tables = _Tables(plan, spans, steps, program)
    ids = [value.value_id for value in plan.values]
    sets = buffer_sets(ids, tables.positions, program, tables.computations)
    return PlannerInputs(
        tuple([sets[value_id] for value_id in ids]),
        post_order(tables.computations),
        tuple(tables.overwrites()),
        dict(tables.parameters_needed_until()),
        result,
    )


class _Tables:
    """Lookup tables for the rules."""

    def __init__(
        self,
        plan: Plan,
        spans: Sequence[Span | None],
        steps: Mapping[str, int],
        program: Program,
    ) -> None:
        self._plan = plan
        self._spans = spans
        self._steps = steps
        self._program = program
        self._is_gpu = program.is_gpu
        self.computations = scheduled_computations(program)
        self._row_by_id = {value.value_id: row for row, value in enumerate(plan.values)}
        self._used = {used.value_id: used for used in plan.used_values or ()}
        self.positions: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for used in plan.used_values or ():
            for instruction, index in used.positions:
                self.positions[instruction][index or WHOLE] = used.value_id
        self._instructions: dict[str, Instruction] = {}
        for computation in self.computations:
            self._instructions |= computation.by_name
        self._ends: dict[str, int] = {}
        """Step after the last one of a computation, filled on demand."""
        self._entry_parameters = {parameter.name for parameter in program.entry.parameters.values()}
        self._use_ends: dict[str, int] = {}
        self._needed: dict[int, int] = {}

    def overwrites(self) -> Iterator[OverwriteCandidate]:
        """Yield the values that may be written over an operand that ends as they begin."""
        for row, (value, span) in enumerate(zip(self._plan.values, self._spans, strict=True)):
            if span is None or value.is_phi or value.shape.startswith("("):
                continue
            instruction = self._instructions.get(value.name)
            if (
                instruction is None
                or instruction.opcode == "copy"
                or not ever_overwrites(instruction, is_gpu=self._is_gpu)
            ):
                continue
            tried = set()
            for number, operand in enumerate(instruction.operands):
                found = self.positions.get(operand.name, _NO_POSITIONS).get(operand.element)
                if found is None or found == value.value_id or found in tried:
                    continue
                tried.add(found)
                other_row = self._row_by_id[found]
                if not self._may_end_at(other_row, span.first):
                    continue
                other = self._plan.values[other_row]
                if may_overwrite(
                    WrittenOutput(instruction, value.shape_index or WHOLE, value.shape),
                    ReadOperand(number, self._shape_at(operand.name, other)),
                    self._program.computation(instruction.computation),
                    self._program,
                    is_gpu=self._is_gpu,
                ):
                    yield OverwriteCandidate(row, other_row, number, other.name == operand.name)

    def _shape_at(self, name: str, value: Value) -> str:
        """Return the shape of a value at a position; a bitcast changes it."""
        if name == value.name:
            return value.shape
        instruction = self._instructions.get(name)
        return value.shape if instruction is None else instruction.shape or value.shape

    def _may_end_at(self, row: int, step: int) -> bool:
        """Return True if nothing needs a value after a step.

        A parameter is treated as if it were donated.
        """
        span = self._spans[row]
        if span is None or span.first > step:
            return False
        if span.last <= step:
            return True
        value = self._plan.values[row]
        return value.name in self._entry_parameters and self._needed_until(value) <= step

    def parameters_needed_until(self) -> Iterator[tuple[int, int]]:
        """Yield the row of each entry parameter, and the step where it would end if donated."""
        for row, value in enumerate(self._plan.values):
            if value.name in self._entry_parameters:
                yield row, self._needed_until(value)

    def _needed_until(self, value: Value) -> int:
        """Return the end of the live range as `HloLiveRange` first computes it.

        `HloLiveRange` shortens ranges within a buffer set afterwards.
        """
        if (known := self._needed.get(value.value_id)) is not None:
            return known
        used = self._used[value.value_id]
        ends = [self._position_end(name) for name, _ in used.positions[1:]]
        ends += [self._use_end(name) for name, _, _ in used.uses]
        span = self._spans[self._row_by_id[value.value_id]]
        needed = max(ends, default=span.first if span is not None else 0)
        self._needed[value.value_id] = needed
        return needed

    def _position_end(self, name: str) -> int:
        instruction = self._instructions.get(name)
        if instruction is not None:
            computation = self._program.computation(instruction.computation)
            if computation.root.name == name:
                return self._end(computation)
        return self._steps.get(name, 0)

    def _end(self, computation: Computation) -> int:
        """Return the step after the last one of a computation."""
        found = self._ends.get(computation.name)
        if found is None:
            steps = (self._steps.get(name, -1) for name in computation.by_name)
            found = self._ends[computation.name] = 1 + max(steps, default=-1)
        return found

    def _use_end(self, name: str) -> int:
        # A loop carries hundreds of values, and the same instructions read each of them.
        found = self._use_ends.get(name)
        if found is None:
            found = self._use_ends[name] = self._end_of_use(name)
        return found

    def _end_of_use(self, name: str) -> int:
        instruction = self._instructions.get(name)
        if instruction is not None and instruction.opcode == "call":
            return 0
        if instruction is not None and instruction.opcode == "while":
            body = self._program.computation(instruction.callee("body"))
            parameters = body.parameters.values()
            return max((self._steps.get(parameter.name, 0) for parameter in parameters), default=0)
        return self._steps.get(name, 0)
