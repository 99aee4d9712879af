"""XLA's memory schedulers: the order that each one chooses for a computation.

`xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc` (until 2024 in `xla/service/`), with
`HloInstruction::AcceptWithOperandOrder` (xla/hlo/ir/hlo_instruction.cc) and
`HloComputation::MakeInstructionPostOrder` (xla/hlo/ir/hlo_computation.cc). A scheduler orders each
computation separately, also those that others call, but not the bodies of fusions.

CPUs use the depth-first order if the scheduler is memory-optimized, and the breadth-first order if
it is concurrency-optimized, the default since jaxlib 0.5.1. GPUs use the best of three.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final

from xlagraph.hlo.opcodes import CONTROL_FLOW
from xlagraph.hlo.walks import depth_first
from xlagraph.planner.orders.list_rule import is_list_order, list_order
from xlagraph.planner.orders.schedulable import Order, SchedulableProgram

_UNCOUNTED: Final = frozenset(("parameter", "constant"))


class Rule(StrEnum):
    """A scheduler of XLA."""

    DEPTH_FIRST = "depth-first"
    POST_ORDER = "post-order"
    LIST = "list"
    BREADTH_FIRST = "breadth-first"


def order_of(program: SchedulableProgram, rule: Rule) -> Order:
    """Return the order that a scheduler chooses for each computation."""
    return {name: _order_in_dump(rule, program, name) for name in program.computations}


def order_with_copies(program: SchedulableProgram, rule: Rule) -> Order:
    """Return the order that a scheduler chooses for the program that it saw."""
    seen = program.as_ordered or program
    return {name: _order(rule, seen, name) for name in program.computations}


def _order(rule: Rule, program: SchedulableProgram, computation: str) -> Sequence[int]:
    known = program.known_orders
    if (rule.value, computation) not in known:
        known[rule.value, computation] = tuple(_ORDERS[rule](program, computation))
    return known[rule.value, computation]


def _order_in_dump(rule: Rule, program: SchedulableProgram, computation: str) -> Sequence[int]:
    """Return the order of a computation without the copies that XLA dropped later."""
    if program.as_ordered is None or computation != program.entry:
        return _order(rule, program, computation)
    added = set(program.added)
    order: dict[int, None] = {}
    for step in _order(rule, program.as_ordered, computation):
        if step not in program.as_ordered.dropped:
            operands = program.instructions[step].operands
            order |= dict.fromkeys(operand for operand in operands if operand in added)
            order[step] = None
    return tuple(order)


def rules_of(program: SchedulableProgram) -> list[Rule]:
    """Return the schedulers that may have chosen the dump's order."""
    return [rule for rule in Rule if may_make_all(rule, program)]


def is_made_by_xla(program: SchedulableProgram) -> bool:
    """Return True if one of the schedulers may have chosen the dump's order."""
    return any(may_make_all(rule, program) for rule in reversed(Rule))  # most dumps' default first


def may_make_all(rule: Rule, program: SchedulableProgram) -> bool:
    """Return True if a scheduler may have chosen the order of every computation in the dump."""
    return all(may_make(rule, program, name) for name in program.computations)


def may_make_most(rule: Rule, program: SchedulableProgram) -> bool:
    """Return True if most instructions follow the one that a scheduler puts before them.

    If dependences are missing, a scheduler makes no more than parts of the dump's order.
    """
    count = found = 0
    for name, computation in program.computations.items():
        pairs = set(pairwise(_order_in_dump(rule, program, name)))
        count += len(pairs)
        found += sum(pair in pairs for pair in pairwise(computation.instructions))
    return 2 * found > count


def may_make(rule: Rule, program: SchedulableProgram, computation: str) -> bool:
    """Return True if a scheduler may have chosen a computation's order in the dump.

    The breadth-first order depends on XLA's lists of users, which no dump contains; any order of
    the users of one instruction is accepted.
    """
    steps = program.computations[computation].instructions
    if rule is Rule.LIST:
        return is_list_order(program, computation)
    if rule is not Rule.BREADTH_FIRST:
        return _order_in_dump(rule, program, computation) == steps
    waiting = {step: program.predecessor_count(step) for step in steps}
    queue = deque([{step for step in steps if not waiting[step]}])
    for step in steps:
        while queue and not queue[0]:
            queue.popleft()
        if not queue or step not in queue[0]:
            return False
        queue[0].remove(step)
        ready = set()
        for later in _following(program, step):
            waiting[later] -= 1
            if not waiting[later]:
                ready.add(later)
        queue.append(ready)
    return True


def post_order(program: SchedulableProgram, computation: str) -> list[int]:
    """Return the post-order: `PostOrderScheduler`, operands before users.

    The search starts at each instruction without users and visits control predecessors, then
    operands.
    """
    instructions = program.instructions

    def before(step: int) -> Sequence[int]:
        each = instructions[step]
        return (*reversed(each.control_predecessors), *each.operands)

    starts = [step for step in program.by_creation(computation) if not program.users[step]]
    return depth_first(starts, before)


def depth_first_order(program: SchedulableProgram, computation: str) -> list[int]:
    """Return the order of `DFSMemoryScheduler`.

    Depth first, the root last; of the operands and control predecessors those first that have
    more extra users behind them, then more bytes, then the smaller name. Up to jaxlib 0.6.2 the
    size of a call, a loop or a conditional is that of its whole result (points-to analysis), then
    that of the values that it defines.
    """
    instructions, users = program.instructions, program.users
    steps = _order(Rule.POST_ORDER, program, computation)
    extra_users: dict[int, int] = {}
    bytes_behind: dict[int, int] = {}
    all_bytes = 0
    for step in steps:
        each = instructions[step]
        extra_users[step] = bytes_behind[step] = 0
        if each.opcode in _UNCOUNTED:
            continue
        is_result = program.counts_results and each.opcode in CONTROL_FLOW
        own_bytes = each.result_bytes if is_result else each.defined_bytes
        all_bytes += own_bytes
        operands = set(each.operands)
        extra = max(len(users[step]) - 1, 0) + sum(map(extra_users.__getitem__, operands))
        behind = own_bytes + sum(map(bytes_behind.__getitem__, operands))
        extra_users[step] = min(extra, len(steps))
        bytes_behind[step] = min(behind, all_bytes)
    keys = {
        step: (-extra_users[step], -bytes_behind[step], instructions[step].name.encode())
        for step in steps
    }

    def before(step: int) -> Sequence[int]:
        each = instructions[step]
        return sorted((*each.operands, *each.control_predecessors), key=keys.__getitem__)

    root = program.computations[computation].root
    starts = [
        step
        for step in program.by_creation(computation)
        if step != root and not users[step] and step not in program.control_successors
    ]
    return depth_first([*starts, root], before)


def breadth_first_order(program: SchedulableProgram, computation: str) -> list[int]:
    """Return the order of `BFScheduler`: a queue of the instructions that are ready.

    XLA queues the users of an instruction in the order of its list of users, which no dump
    contains; here they are queued in the order of their creation.
    """
    steps = program.by_creation(computation)
    waiting = {step: program.predecessor_count(step) for step in steps}
    ready = deque(step for step in steps if not waiting[step])
    order = []
    while ready:
        step = ready.popleft()
        order.append(step)
        for later in _following(program, step):
            waiting[later] -= 1
            if not waiting[later]:
                ready.append(later)
    return order


def _following(program: SchedulableProgram, step: int) -> Sequence[int]:
    """Return what must run after an instruction."""
    return (*program.users[step], *program.control_successors.get(step, ()))


_ORDERS: Final[Mapping[Rule, Callable[[SchedulableProgram, str], list[int]]]] = {
    Rule.DEPTH_FIRST: depth_first_order,
    Rule.POST_ORDER: post_order,
    Rule.LIST: list_order,
    Rule.BREADTH_FIRST: breadth_first_order,
}
