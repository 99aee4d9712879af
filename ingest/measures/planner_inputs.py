"""Facts that replanning needs besides the plan, for each value and instruction.

The rules are in `xlagraph.hlo`: which values must share an address (`buffer_sets`),
which may be written over which operand (`overwriting`), and the post-order (`post_order`). This
module applies them to a dump's values, whose positions and uses show where each value is
visible. The last step that needs an entry parameter is its end if it were donated.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from xlagraph.hlo.buffer_sets import Positions, buffer_sets
from xlagraph.hlo.computation import Computation
from xlagraph.hlo.instruction import Instruction, ProgramError
from xlagraph.hlo.overwriting import WrittenOutput, overwritable, overwriting
from xlagraph.hlo.post_order import post_order, scheduled_computations
from xlagraph.hlo.program import Program
from xlagraph.hlo.shapes import WHOLE, Shape
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.plan import Plan, Value


def _needed_until(
    plan: Plan,
    spans: Sequence[Span | None],
    steps: Mapping[str, int],
    computations: Iterable[Computation],
    ends: "_EndsOfPositions",
    program: Program,
) -> dict[int, int]:
    """Return the step at which each entry parameter would end if donated, by its row.

    This is the end of the live range as `HloLiveRange` first computes it; it shortens ranges
    within a buffer set afterwards.
    """
    used_by_id = {used.value_id: used for used in plan.used_values or ()}
    parameters = {parameter.name for parameter in program.entry.parameters.values()}
    end_of_use = _ends_of_uses(steps, computations, program).get
    needed_until = {}
    for row, value in enumerate(plan.values):
        if value.name in parameters:
            _, positions, uses = used_by_id[value.value_id]
            steps_of_ends = [end_of_use(name, 0) for name, _, _ in uses]
            steps_of_ends += [ends.end(name) for name, _ in positions[1:]]
            span = spans[row]
            needed_until[row] = max(steps_of_ends, default=span.first if span is not None else 0)
    return needed_until


class _EndsOfPositions:
    """The step at which each instruction ends the live range of a value that it shows.

    A root shows its values until the end of its computation.
    """

    def __init__(
        self, instructions: Mapping[str, Instruction], steps: Mapping[str, int], program: Program
    ) -> None:
        self._instructions = instructions
        self._steps = steps
        self._program = program
        self._ends: dict[str, int] = {}  # a loop shows hundreds of values

    def end(self, name: str) -> int:
        """Return the step of an instruction by name."""
        if name not in self._ends:
            self._ends[name] = self._found(name)
        return self._ends[name]

    def last(self, positions: Sequence[tuple[str, str | None]]) -> str:
        """Return the instruction that shows a value last, of all its positions.

        It is the one that XLA asks if the value may be overwritten (`HloLiveRange::
        ComputeValueLiveRangeEnd`, xla/hlo/utils/hlo_live_range.cc).
        """
        names = [name for name, _ in positions]
        return max(names, key=self.end) if len(names) > 1 else names[0]

    def _found(self, name: str) -> int:
        instruction = self._instructions.get(name)
        if instruction is not None:
            computation = self._program.computation(instruction.computation)
            if computation.root.name == name:
                steps = self._steps
                return 1 + max([steps.get(each, -1) for each in computation.by_name], default=-1)
        return self._steps.get(name, 0)


def _ends_of_uses(
    steps: Mapping[str, int], computations: Iterable[Computation], program: Program
) -> dict[str, int]:
    """Return the step at which a use by each instruction ends."""
    ends = dict(steps)
    for computation in computations:
        for call in computation.by_opcode.get("call", ()):
            ends[call.name] = 0
        for loop in computation.by_opcode.get("while", ()):
            body = program.computation(loop.callee("body"))
            parameters = body.parameters.values()
            ends[loop.name] = max([steps.get(each.name, 0) for each in parameters], default=0)
    return ends


class OverwriteCandidate(NamedTuple):
    """A value that may overwrite another one whose live range ends where it begins.

    Both are rows of the plan's values.
    """

    value: int
    operand_value: int
    operand: int
    """Operand number."""
    is_operand: bool
    """True if the operand itself defines the other value, without a bitcast or tuple element
    between them."""
    is_last_position: bool
    """True if the operand is the last instruction in the schedule that shows the other value."""


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
    computations = scheduled_computations(program)
    ids = [value.value_id for value in plan.values]
    positions = Positions(plan.used_values or ())
    sets = buffer_sets(ids, positions, program, computations)
    instructions: dict[str, Instruction] = {}
    for computation in computations:
        instructions |= computation.by_name
    ends = _EndsOfPositions(instructions, steps, program)
    needed_until = _needed_until(plan, spans, steps, computations, ends, program)
    row_of: dict[int | None, int] = dict(zip(ids, count()))
    read = _read_by_writers(computations, positions, program)
    return PlannerInputs(
        tuple(map(sets.__getitem__, ids)),
        post_order(computations),
        tuple(_overwrites(plan, spans, row_of, read, instructions, ends, program)),
        needed_until,
        result,
    )


def _read_by_writers(
    computations: Iterable[Computation], positions: Positions, program: Program
) -> dict[str, list[int | None]]:
    """Return the ids of the values that each instruction reads, if it can overwrite any."""
    read = {}
    for computation in computations:
        ids = [*map(positions.arrays.get, computation.names), None]
        rows, operand_rows = computation.rows, computation.operand_rows
        for writer in overwriting(computation, is_gpu=program.is_gpu):
            found = [ids[row] for row in operand_rows[rows[writer.name]]]
            if None in found:  # the operand is an element of a tuple, or in an unreadable line
                found = [positions.find(name, element) for name, element in writer.operands]
            read[writer.name] = found
    return read


def _overwrites(
    plan: Plan,
    spans: Sequence[Span | None],
    row_of: Mapping[int | None, int],
    read: Mapping[str, Sequence[int | None]],
    instructions: Mapping[str, Instruction],
    ends: _EndsOfPositions,
    program: Program,
) -> Iterator[OverwriteCandidate]:
    """Yield the values that may be written over an operand, if that ends as they begin."""
    is_gpu = program.is_gpu
    values = plan.values
    used_by_id = {used.value_id: used for used in plan.used_values or ()}
    for row, (value, span) in enumerate(zip(values, spans, strict=True)):
        if span is None or value.name not in read:
            continue
        if value.is_phi or value.shape.is_tuple:
            continue
        operands = read[value.name]
        instruction = instructions[value.name]
        names = instruction.operand_names
        shapes = {}
        first_operand: dict[int | None, int] = {}
        for number, value_id in enumerate(operands):
            first_operand.setdefault(value_id, number)
        for value_id, number in first_operand.items():
            other_row = row_of.get(value_id)
            if other_row is None or spans[other_row] is None:
                continue
            other = values[other_row]
            shape = _shape_at(names[number], other, instructions)
            if other is not value and (is_gpu or shape == value.shape):
                shapes[number] = shape
        if shapes:
            output = WrittenOutput(instruction, value.shape_index or WHOLE, value.shape)
            for number in overwritable(output, shapes, program, is_gpu=is_gpu):
                other_row = row_of[operands[number]]
                other, name = values[other_row], names[number]
                is_last = ends.last(used_by_id[other.value_id].positions) == name
                yield OverwriteCandidate(row, other_row, number, other.name == name, is_last)


def _shape_at(name: str, value: Value, instructions: Mapping[str, Instruction]) -> Shape:
    """Return a value's shape at a position; a bitcast changes it."""
    if name == value.name:
        return value.shape
    instruction = instructions.get(name)
    return value.shape if instruction is None else instruction.shape or value.shape
