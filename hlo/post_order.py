"""Compute the post-order of instructions, which orders buffers of equal size.

XLA sorts by it in `BufferAssigner::AssignBuffersForComputations` (xla/service/
buffer_assignment.cc). Callers precede callees (the reversed post-order of the call graph). Inside
a computation (`HloComputation::MakeInstructionPostOrder`) the search starts at each instruction
without users; it visits control predecessors, then operands from first to last, then the
instruction. The program text has another order, that of the schedule.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.opcodes import CONTROL_FLOW
from xlagraph.hlo.program import Program
from xlagraph.hlo.walks import depth_first


def scheduled_computations(program: Program) -> list[Computation]:
    """Return the computations that run on the flat schedule, callers before callees."""
    finished: dict[str, Computation] = {}
    stack: list[tuple[Computation, Iterator[str]]] = []
    entered = {program.entry.name}
    stack.append((program.entry, _callees(program.entry)))
    while stack:
        computation, callees = stack[-1]
        for name in callees:
            if name not in entered and name in program.computations:
                entered.add(name)
                callee = program.computations[name]
                stack.append((callee, _callees(callee)))
                break
        else:
            stack.pop()
            finished[computation.name] = computation
    return list(reversed(finished.values()))


def scheduled_callees(instruction: Instruction) -> tuple[str, ...]:
    """Return the computations that an instruction runs as part of the schedule, in its order."""
    opcode = instruction.opcode
    if opcode == "while":
        names = (instruction.callee("condition"), instruction.callee("body"))
    elif opcode == "conditional":
        return instruction.branches
    elif opcode == "call":
        names = (instruction.callee("to_apply"), None)
    elif instruction.is_async_start:
        names = (instruction.callee("calls"), None)
    else:
        return ()
    return tuple(name for name in names if name is not None)


def _callees(computation: Computation) -> Iterator[str]:
    """Yield the computations that a computation runs, in the order of XLA's call graph.

    This is the order in which instructions were created, not the schedule. The CPU compiler
    creates calls last (`ParallelTaskAssigner`, xla/service/cpu/parallel_task_assignment.cc) and
    numbers them in this order: `call`, `call.1`, `call.2`.
    """
    opcodes = {opcode for opcode in computation.by_opcode if _may_be_scheduled_call(opcode)}
    if opcodes:
        callers = [each for each in computation.instructions if each.opcode in opcodes]
        for instruction in sorted(callers, key=_order_of_making):
            yield from scheduled_callees(instruction)


def _may_be_scheduled_call(opcode: str | None) -> bool:
    return opcode is not None and (opcode in CONTROL_FLOW or opcode.endswith("-start"))


def _order_of_making(instruction: Instruction) -> int:
    """Return the number of a call, from 0; -1 for other instructions, to keep their order."""
    if instruction.opcode != "call":
        return -1
    _, _, number = instruction.name.rpartition(".")
    return int(number) if number.isdecimal() else 0


def post_order(computations: list[Computation]) -> dict[str, int]:
    """Return the post-order number of each instruction, from 0.

    `computations` has callers before callees.
    """
    names: list[str] = []
    for computation in computations:
        names += map(computation.names.__getitem__, _post_order(computation))
    return dict(zip(names, range(len(names)), strict=True))


def _post_order(computation: Computation) -> list[int]:
    """Return the indices of a computation's instructions in post-order."""
    row_of = computation.rows
    operands = computation.operand_rows
    control = {
        row: [row_of.get(name, -1) for name in reversed(each.attributes.control_predecessors)]
        for row, each in enumerate(computation.instructions)
        if each.attributes.control_predecessors
    }
    used = set(chain.from_iterable(operands))

    def before(row: int) -> Sequence[int]:
        return [*control[row], *operands[row]] if row in control else operands[row]

    return depth_first((row for row in row_of.values() if row not in used), before)
