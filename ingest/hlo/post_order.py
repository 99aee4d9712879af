"""Compute the post-order of instructions, which orders buffers of equal size.

XLA sorts by it in `BufferAssigner::AssignBuffersForComputations` (xla/service/
buffer_assignment.cc). Callers precede callees (the reversed post-order of the call graph). Inside
a computation (`HloComputation::MakeInstructionPostOrder`) the search starts at each instruction
without users; it visits control predecessors, then operands from first to last, then the
instruction. The program text has another order, that of the schedule.
"""

from collections.abc import Iterator

from xlagraph.ingest.model.program import Computation, Instruction, Program

__all__ = ["post_order", "scheduled_computations"]


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


def _scheduled_callees(instruction: Instruction) -> tuple[str, ...]:
    """Return the computations that an instruction runs as part of the schedule."""
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
    for instruction in sorted(computation.instructions, key=_order_of_making):
        yield from _scheduled_callees(instruction)


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
    order: dict[str, int] = {}
    for computation in computations:
        used = {
            name for instruction in computation.instructions for name in instruction.operand_names
        }
        for name in computation.by_name:
            if name not in used:
                _visit(name, computation, order)
    return order


def _visit(name: str, computation: Computation, order: dict[str, int]) -> None:
    instructions = computation.by_name
    stack = [name]
    opened = set()
    while stack:
        name = stack[-1]
        if name in order:
            stack.pop()
        elif name in opened:
            stack.pop()
            order[name] = len(order)
        else:
            opened.add(name)
            instruction = instructions[name]
            before = [*reversed(instruction.operand_names)]
            before += instruction.attributes.control_predecessors
            stack += [
                predecessor
                for predecessor in before
                if predecessor not in order and predecessor in instructions
            ]
