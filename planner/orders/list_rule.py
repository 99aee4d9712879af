"""XLA's list scheduler: always the ready instruction that frees most bytes.

`ListScheduler` in `xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc`:

- An instruction with one element comes first, then the one with the most bytes freed minus bytes
  defined, then the one with the most users, then the one that became ready last.
- An instruction frees the values of its operands of which it is the last reader. Those of
  parameters and constants do not count. A value in the result of the root has one more reader.
- If a value is left with one reader, the ready users of the operands are rated again.

Some ties depend on XLA's list of users, which no dump contains, so that orders of large
computations are often not exact.
"""

from collections import defaultdict
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import zip_longest
from typing import Final

from xlagraph.planner.orders.schedulable import SchedulableProgram

__all__ = ["is_list_order", "list_order"]

_IGNORED: Final = frozenset(("parameter", "constant"))
_FIRST: Final = 1 << 62


def list_order(program: SchedulableProgram, computation: str) -> list[int]:
    """Return the order of `ListScheduler`."""
    return list(_ReadyList(program, computation).order())


def is_list_order(program: SchedulableProgram, computation: str) -> bool:
    """Return True if the dump has this order; it is compared only up to the first difference."""
    steps = program.computations[computation].instructions
    chosen = _ReadyList(program, computation).order()
    return all(step == other for step, other in zip_longest(steps, chosen))


class _ReadyList:
    """The ready instructions; entries whose rating is outdated are skipped when taken."""

    def __init__(self, program: SchedulableProgram, computation: str) -> None:
        self._program = program
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
        self._heap: list[tuple[int, int, int, int]] = []
        self._rating: dict[int, tuple[int, int]] = {}
        """Rating of each ready instruction."""
        self._count = 0

    def order(self) -> Iterator[int]:
        """Yield all instructions as they are scheduled."""
        program = self._program
        waiting = {step: program.predecessor_count(step) for step in self._steps}
        for step in self._steps:
            if not waiting[step]:
                self._add(step)
        while self._heap:
            bytes_rating, users_rating, _, step = heappop(self._heap)
            if self._rating.get(step) != (-bytes_rating, -users_rating):
                continue
            del self._rating[step]
            yield step
            has_last_reader = False
            for value_id in self._read[step]:
                self._readers_left[value_id] -= 1
                has_last_reader = has_last_reader or self._readers_left[value_id] == 1
            for later in (*program.users[step], *program.control_successors.get(step, ())):
                waiting[later] -= 1
                if not waiting[later]:
                    self._add(later)
            if has_last_reader:
                self._rate_readers_again(step)

    def _values_read(self, step: int) -> frozenset[int]:
        visible = self._program.visible
        operands = dict.fromkeys(self._program.instructions[step].operands)
        return frozenset(value.value_id for each in operands for value in visible[each])

    def _add(self, step: int) -> None:
        self._rating[step] = self._rate(step)
        self._push(step)

    def _push(self, step: int) -> None:
        bytes_rating, users_rating = self._rating[step]
        self._count += 1
        heappush(self._heap, (-bytes_rating, -users_rating, -self._count, step))

    def _rate(self, step: int) -> tuple[int, int]:
        each = self._program.instructions[step]
        if each.has_one_element:
            return _FIRST, _FIRST
        freed = sum(
            self._size_bytes.get(value_id, 0)
            for value_id in self._read[step]
            if self._readers_left[value_id] == 1
        )
        defined = 0 if each.opcode in _IGNORED else each.defined_bytes
        return freed - defined, len(self._program.users[step])

    def _rate_readers_again(self, step: int) -> None:
        for operand in self._program.instructions[step].operands:
            for user in self._program.users[operand]:
                known = self._rating.get(user)
                if known is not None and (rating := self._rate(user)) != known:
                    self._rating[user] = rating
                    self._push(user)
