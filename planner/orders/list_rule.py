"""XLA's list scheduler: always the ready instruction that frees most bytes.

`ListScheduler` in `xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc`:

- An instruction with one element comes first, then the one with the most bytes freed minus bytes
  defined, then the one with the most users, then the one that became ready last.
- An instruction frees the values of its operands of which it is the last reader. Those of
  parameters and constants do not count. A value in the result of the root has one more reader.
- If a value is left with one reader, the ready users of the operands are rated again.

Which of several users became ready last depends on XLA's list of users, which no dump contains.
So a computed order of a large computation is often not exact, but a dump's order can be recognized.
"""

from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Final

from xlagraph.planner.orders.schedulable import SchedulableProgram

_IGNORED: Final = frozenset(("parameter", "constant"))
_FIRST: Final = 1 << 62
_OF_DUMP: Final = "list, as in the dump"


def list_order(program: SchedulableProgram, computation: str) -> list[int]:
    """Return the order of `ListScheduler`: the dump's order if this scheduler may have chosen it.

    Of users that became ready together, the one created last comes first.
    """
    if found := _order_of_dump(program, computation):
        return list(found)
    ready = _ReadyList(program, computation)
    order = []
    while (step := ready.next()) is not None:
        ready.schedule(step)
        order.append(step)
    return order


def is_list_order(program: SchedulableProgram, computation: str) -> bool:
    """Return True if this scheduler may have chosen the dump's order.

    Users that became ready together may have any order. So may parameters, which cost the same
    anywhere: later passes of the GPU compiler change how many users they have. Copies that it
    dropped later run where they are rated above what the dump has next.
    """
    return bool(_order_of_dump(program.as_ordered or program, computation))


def _order_of_dump(program: SchedulableProgram, computation: str) -> Sequence[int]:
    """Return the dump's order with the copies that were dropped; empty if it is no list order."""
    known = program.known_orders
    if (_OF_DUMP, computation) not in known:
        known[_OF_DUMP, computation] = _replayed(program, computation)
    return known[_OF_DUMP, computation]


def _replayed(program: SchedulableProgram, computation: str) -> Sequence[int]:
    ready = _ReadyList(program, computation, rates_parameters=False)
    order: dict[int, None] = {}
    for step in program.computations[computation].instructions:
        while step not in order:
            each: int | None = step
            if not ready.may_be_next(step):
                each = ready.next()
                if each not in program.dropped:
                    return ()
            assert each is not None  # noqa: S101 - only instructions are dropped
            ready.schedule(each)
            order[each] = None
    return tuple(order)


class _ReadyList:
    """The ready instructions; entries whose rating is outdated are skipped when taken."""

    def __init__(
        self, program: SchedulableProgram, computation: str, *, rates_parameters: bool = True
    ) -> None:
        self._program = program
        self._unrated: set[int] = set()
        """Ready parameters, if they may have any place."""
        self._rates_parameters = rates_parameters
        self._steps = program.by_creation(computation)
        self._read = {step: self._values_read(step) for step in self._steps}
        """Ids of the values visible at the operands of each instruction."""
        self._size_bytes: dict[int, int] = {}
        """Own sizes of the values that count, by id."""
        self._readers_left: defaultdict[int, int] = defaultdict(int)
        for step in self._steps:
            for value in program.visible[step]:
                if program.instructions[value.defined_at].opcode not in _IGNORED:
                    self._size_bytes[value.value_id] = value.size_bytes
            for value_id in self._read[step]:
                self._readers_left[value_id] += 1
        for value in program.visible[program.computations[computation].root]:
            self._readers_left[value.value_id] += 1
        self._heap: list[tuple[int, int, int, int, int]] = []
        self._ratings: dict[int, tuple[int, int, int]] = {}
        """Rating of each ready instruction, the smallest first: bytes, users, and the time since
        which it is ready or so rated, all negative."""
        self._count = 0
        self._time = 0
        self._waiting = {step: program.predecessor_count(step) for step in self._steps}
        for step in self._steps:
            if not self._waiting[step]:
                self._rate(step)

    def next(self) -> int | None:
        """Return the ready instruction that is rated highest; None at the end."""
        while self._heap:
            *_, step = self._heap[0]
            if self._ratings.get(step) == self._heap[0][:3]:
                return step
            heappop(self._heap)
        return None

    def may_be_next(self, step: int) -> bool:
        """Return True for a ready instruction that none is rated above."""
        best = self.next()
        return step in self._unrated or (
            best is not None and self._ratings.get(step) == self._ratings[best]
        )

    def schedule(self, step: int) -> None:
        """Take a ready instruction, and rate those that it makes ready or that it changes."""
        program = self._program
        self._ratings.pop(step, None)
        self._unrated.discard(step)
        has_last_reader = False
        for value_id in self._read[step]:
            self._readers_left[value_id] -= 1
            has_last_reader = has_last_reader or self._readers_left[value_id] == 1
        self._time += 1
        for later in (*program.users[step], *program.control_successors.get(step, ())):
            self._waiting[later] -= 1
            if not self._waiting[later]:
                self._rate(later)
        if has_last_reader:
            self._time += 1
            for operand in program.instructions[step].operands:
                for user in program.users[operand]:
                    if user in self._ratings:
                        self._rate(user)

    def _values_read(self, step: int) -> frozenset[int]:
        visible = self._program.visible
        operands = dict.fromkeys(self._program.instructions[step].operands)
        return frozenset(value.value_id for each in operands for value in visible[each])

    def _rate(self, step: int) -> None:
        """Rate a ready instruction, unless its rating is known and the same."""
        each = self._program.instructions[step]
        if each.opcode == "parameter" and not self._rates_parameters:
            self._unrated.add(step)
            return
        if each.has_one_element:
            freed, users = _FIRST, _FIRST
        else:
            freed = sum(
                self._size_bytes.get(value_id, 0)
                for value_id in self._read[step]
                if self._readers_left[value_id] == 1
            ) - (0 if each.opcode in _IGNORED else each.defined_bytes)
            users = len(self._program.users[step])
        known = self._ratings.get(step)
        if known is None or known[:2] != (-freed, -users):
            self._ratings[step] = (-freed, -users, -self._time)
            self._count += 1
            heappush(self._heap, (*self._ratings[step], -self._count, step))
