"""Live ranges of values if the instructions run in another order.

The rules are those of `ingest/carriers/proto/live_steps.py`, which lists them; an entry parameter
is live to the end unless a result is written over it. That module reads one order and does without
numpy, whose import takes longer than most ingests of a dump. Here they are arrays, for the many
orders that a search tries.

The values that must share bytes do not depend on the order.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from xlagraph.planner.orders.schedulable import (
    Order,
    SchedulableComputation,
    SchedulableInstruction,
    SchedulableProgram,
)

_Steps = npt.NDArray[np.int64]

_WAITING: Final = ("-update", "-done")


class RangeRules(Enum):
    """The rules for live ranges, which differ between releases."""

    STANDARD = "the rules of most releases"
    READS_AT_CALL = "the rules of jaxlib 0.4.13"
    """A call reads its operands at the step of the call."""
    CUT_EARLY = "the rules of TensorFlow 2.8"
    """If values share bytes, each one ends before the next one begins."""
    BEGINS_AT_START = "the rules of jaxlib 0.12 for GPUs and of libtpu 0.0.50"
    """The result of an asynchronous computation begins at its start."""


@dataclass(frozen=True, slots=True)
class FlatSchedule:
    """All instructions in one order."""

    steps: tuple[int, ...]
    """The instructions, each identified by its step in the dump."""
    new_step: _Steps
    """Step of each instruction in this order, by its step in the dump."""
    spans: Mapping[str, tuple[int, int]]
    """First step of each computation, and the step after its last one."""


def flat_schedule(program: SchedulableProgram, order: Order) -> FlatSchedule:
    """Flatten an order from the entry; each computation runs once, before its first caller."""
    steps: list[int] = []
    spans: dict[str, tuple[int, int]] = {}
    instructions = program.instructions
    stack: list[tuple[str, Iterator[int], int | None]] = []

    def enter(name: str, caller: int | None) -> None:
        spans[name] = len(steps), len(steps)
        stack.append((name, iter(order[name]), caller))

    def enter_callee(step: int) -> bool:
        for each in instructions[step].callees:
            if each not in spans and each in order:
                enter(each, step)
                return True
        return False

    enter(program.entry, None)
    while stack:
        name, rest, caller = stack[-1]
        for step in rest:
            if instructions[step].callees and enter_callee(step):
                break
            steps.append(step)
        else:
            stack.pop()
            spans[name] = spans[name][0], len(steps)
            if caller is not None and not enter_callee(caller):
                steps.append(caller)
    new_step = np.zeros(len(instructions), np.int64)
    new_step[steps] = np.arange(len(steps))
    return FlatSchedule(tuple(steps), new_step, spans)


class Ranges:
    """Computes the live ranges of all values of a program for any order."""

    def __init__(
        self, program: SchedulableProgram, rules: RangeRules = RangeRules.STANDARD
    ) -> None:
        self._program = program
        self.rules = rules
        """The rules for live ranges."""
        values = program.values
        rows = np.arange(len(values))
        self._definitions = np.array([value.defined_at for value in values], np.int64)
        self._position_rows = np.repeat(rows, [len(value.positions) for value in values])
        self._positions = _flat(value.positions for value in values)
        self._use_rows = np.repeat(rows, [len(value.uses) for value in values])
        self._uses = _flat(value.uses for value in values)
        self._is_kept = np.array([value.is_kept for value in values], np.bool_)

    def of(self, schedule: FlatSchedule) -> tuple[_Steps, _Steps]:
        """Return the first and the last step of each value, both inclusive, by its row."""
        first, last = self.needed(schedule)
        last[self._is_kept] = len(schedule.steps)
        self._cut(first, last)
        return first, last

    def needed(self, schedule: FlatSchedule) -> tuple[_Steps, _Steps]:
        """Return the first and the last step in which each value is needed, by its row.

        No value ends because another one is written over it, and parameters are not kept.
        """
        end_of_position = schedule.new_step.copy()
        for name, (_, end) in schedule.spans.items():
            end_of_position[self._program.computations[name].root] = end
        first = self._first_steps(schedule)
        last = first.copy()
        np.maximum.at(last, self._position_rows, end_of_position[self._positions])
        np.maximum.at(last, self._use_rows, self._end_of_use(schedule)[self._uses])
        for row, waited in self._waited(schedule):
            last[row] = max(last[row], waited)
        return first, last

    def _first_steps(self, schedule: FlatSchedule) -> _Steps:
        first_step = schedule.new_step.copy()
        for name, computation in self._program.computations.items():
            if name in schedule.spans:
                for step in computation.instructions:
                    if self._program.instructions[step].opcode == "parameter":
                        first_step[step] = schedule.spans[name][0]
        if self.rules is RangeRules.BEGINS_AT_START:
            for start, each in enumerate(self._program.instructions):
                for computation in self._asynchronous(each):
                    first_step[computation.root] = schedule.new_step[start]
        found: _Steps = first_step[self._definitions]
        return found

    def _asynchronous(self, start: SchedulableInstruction) -> Iterator[SchedulableComputation]:
        """Yield the computations, also nested ones, that an instruction starts and others end."""
        program = self._program
        waiting = list(start.callees) if start.opcode.endswith("-start") else []
        while waiting:
            if (computation := program.computations.get(waiting.pop())) is not None:
                yield computation
                for step in computation.instructions:
                    waiting += program.instructions[step].callees

    def _end_of_use(self, schedule: FlatSchedule) -> _Steps:
        ends = schedule.new_step.copy()
        for step, parameters in self._parameters_of_bodies.items():
            ends[step] = max((int(schedule.new_step[each]) for each in parameters), default=0)
        if self.rules is not RangeRules.READS_AT_CALL:
            ends[self._calls] = 0
        return ends

    @cached_property
    def _parameters_of_bodies(self) -> Mapping[int, list[int]]:
        """Parameters of the body of each loop, by the `while`."""
        program = self._program
        return {
            step: [
                inner
                for inner in program.computations[each.callees[-1]].instructions
                if program.instructions[inner].opcode == "parameter"
            ]
            for step, each in enumerate(program.instructions)
            if each.opcode == "while" and each.callees and each.callees[-1] in program.computations
        }

    @cached_property
    def _calls(self) -> list[int]:
        return [
            step
            for step, each in enumerate(self._program.instructions)
            if each.opcode == "call" and any(n in self._program.computations for n in each.callees)
        ]

    @cached_property
    def _ends_of_chains(self) -> list[tuple[list[int], int]]:
        """Values of each asynchronous computation, by row, and the operation that waits for it."""
        program = self._program
        found = []
        rows_by_definition: defaultdict[int, list[int]] = defaultdict(list)
        for row, value in enumerate(program.values):
            rows_by_definition[value.defined_at].append(row)
        for start, each in enumerate(program.instructions):
            steps = [step for inner in self._asynchronous(each) for step in inner.instructions]
            if steps:
                rows = [row for step in steps for row in rows_by_definition[step]]
                found.append((rows, _end_of_chain(program, start)))
        return found

    def _waited(self, schedule: FlatSchedule) -> Iterator[tuple[int, int]]:
        for rows, done in self._ends_of_chains:
            for row in rows:
                yield row, int(schedule.new_step[done])

    @cached_property
    def _shared(self) -> tuple[_Steps, _Steps, _Steps]:
        """Rows, sets and ids of the values of buffer sets with several values."""
        members: defaultdict[int, list[int]] = defaultdict(list)
        for row, value in enumerate(self._program.values):
            members[value.buffer_set].append(row)
        together = [rows for rows in members.values() if len(rows) > 1]
        rows = _flat(map(tuple, together))
        sets = np.repeat(np.arange(len(together)), [len(each) for each in together])
        return rows, sets, np.array([value.value_id for value in self._program.values])[rows]

    def _cut(self, first: _Steps, last: _Steps) -> None:
        rows, sets, ids = self._shared
        if not len(rows):
            return
        overlap = 0 if self.rules is RangeRules.CUT_EARLY else 1
        order = np.lexsort((ids, last[rows], first[rows], sets))
        rows, sets = rows[order], sets[order]
        ends = running_ends(sets, last[rows])
        is_followed = sets[1:] == sets[:-1]
        cut = np.minimum(ends[:-1], first[rows][1:] - 1 + overlap)
        last[rows] = np.append(np.where(is_followed, cut, ends[:-1]), ends[-1])


def running_ends(sets: _Steps, ends: _Steps) -> _Steps:
    """Return the latest end so far within each set; sets are numbered and sorted."""
    span = int(ends.max(initial=0)) + 1
    found: _Steps = np.maximum.accumulate(ends + sets * span) - sets * span
    return found


def _end_of_chain(program: SchedulableProgram, start: int) -> int:
    at = start
    while True:
        users = program.users[at]
        following = [each for each in users if program.instructions[each].opcode.endswith(_WAITING)]
        if not following:
            return at
        at = following[0]


def _flat(lists: Iterable[tuple[int, ...]]) -> _Steps:
    return np.array([each for steps in lists for each in steps], np.int64)
