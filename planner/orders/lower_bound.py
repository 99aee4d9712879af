"""A lower bound of the memory that a program reserves, for every order of its instructions.

While an instruction runs, these values are live in every order: those that are made by it or by
what it depends on, and that are read by it or by what depends on it. Values that must share an
address count once. Constants, entry parameters that no result is written over and the tables of
tuples have blocks of their own all the time. An output that may be written over an operand does
not count in addition.

While a called computation runs, the values that pass it by are live: those made before the call
and read after it.

Algorithm: the ancestors and descendants of each instruction are sets of bits; the instructions at
which a value must be live are the descendants of its maker among the ancestors of its readers.
Quadratic in a computation's instructions, 64 at a time.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xlagraph.planner.orders.schedulable import SchedulableProgram, SchedulableValue
from xlagraph.planner.planned_program import PlannedProgram

_Bytes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LowerBound:
    """Bytes that no order goes below, and where."""

    size_bytes: int
    instruction: int | None
    """Instruction that needs as many; None if they are only those of constants and parameters."""


def lower_bound(
    planned: PlannedProgram, schedulable: SchedulableProgram, memory_space: int = 0
) -> LowerBound:
    """Return the lower bound of the reserved bytes of a colour."""
    fixed = planned.fixed_sets(memory_space)
    movable = {
        value.buffer_set: value.size_bytes
        for value in planned.values
        if value.memory_space == memory_space and value.buffer_set not in fixed and value.size_bytes
    }
    base = planned.fixed_bytes(memory_space)
    return _Bounds(planned, schedulable, movable).within(schedulable.entry, frozenset(), base)


class _Bounds:
    def __init__(
        self, planned: PlannedProgram, schedulable: SchedulableProgram, sizes: Mapping[int, int]
    ) -> None:
        self._planned = planned
        self._program = schedulable
        self._sizes = sizes
        """Bytes of the buffer sets that count, by name."""
        self._seen: defaultdict[str, list[SchedulableValue]] = defaultdict(list)
        """Values that are visible in each computation."""
        owners = schedulable.owners
        for value in schedulable.values:
            if value.buffer_set in sizes:
                for name in {owners[step] for step in value.positions}:
                    self._seen[name].append(value)

    def within(self, name: str, counted: frozenset[int], base: int) -> LowerBound:
        """Return the bound of a computation while the sets in `counted`, `base` bytes, are live."""
        places = _Dependences(self._program, name)
        live, passing = self._live(name, places, counted)
        live -= self._overwriting(name, places)
        best = LowerBound(base, None)
        for place, step in enumerate(places.steps):
            called = [
                each
                for each in self._program.instructions[step].callees
                if each in self._program.computations
            ]
            if not called:
                found = LowerBound(base + int(live[place]), step)
                best = max(best, found, key=_size_bytes)
            else:
                around = frozenset(each for each, bits in passing.items() if bits >> place & 1)
                base_inside = base + sum(self._sizes[each] for each in around)
                for callee in called:
                    inside = self.within(callee, counted | around, base_inside)
                    best = max(best, inside, key=_size_bytes)
        return best

    def _live(
        self, name: str, places: "_Dependences", counted: frozenset[int]
    ) -> tuple[_Bytes, dict[int, int]]:
        """Return the bytes that must be live at each place, and where each set passes by."""
        at: defaultdict[int, int] = defaultdict(int)
        passing: defaultdict[int, int] = defaultdict(int)
        has_calls = any(self._program.instructions[step].callees for step in places.steps)
        for value in self._seen[name]:
            if value.buffer_set not in counted:
                made, read = self._bits(value, places)
                at[value.buffer_set] |= made & read
                if has_calls:
                    made, read = self._bits(value, places, is_strict=True)
                    passing[value.buffer_set] |= made & read
        live = np.zeros(len(places.steps), np.int64)
        for buffer_set, bits in at.items():
            live += _places(bits, len(live)) * self._sizes[buffer_set]
        return live, passing

    def _bits(
        self, value: SchedulableValue, places: "_Dependences", *, is_strict: bool = False
    ) -> tuple[int, int]:
        """Return where a value is certainly made, and where it is certainly still needed."""
        place_of = places.place_of
        visible = [place_of[step] for step in value.positions if step in place_of]
        uses = [place_of[step] for step in value.uses if step in place_of]
        maker = place_of.get(value.defined_at, min(visible))
        if self._program.instructions[places.steps[maker]].opcode == "parameter":
            made = places.all  # it is live from the computation's start
        else:
            made = places.after[maker] & ~((1 << maker) if is_strict else 0)
        if places.root in visible:
            return made, places.all  # it is live to the computation's end
        needed = 0
        for reader in {*visible, *uses}:
            needed |= places.before[reader] & ~((1 << reader) if is_strict else 0)
        return made, needed

    def _overwriting(self, name: str, places: "_Dependences") -> _Bytes:
        """Return the bytes of each instruction's outputs that may be written over an operand."""
        found = np.zeros(len(places.steps), np.int64)
        by_id = self._planned.by_id
        for value in self._seen[name]:
            place = places.place_of.get(value.defined_at)
            overwrites = self._planned.overwrites.get(value.value_id, ())
            if place is not None and any(
                each.value_id in by_id and by_id[each.value_id].buffer_set != value.buffer_set
                for each in overwrites
            ):
                found[place] += self._sizes[value.buffer_set]
        return found


class _Dependences:
    """A computation's instructions, operands first, with their ancestors as bits."""

    def __init__(self, program: SchedulableProgram, name: str) -> None:
        computation = program.computations[name]
        self.steps: Sequence[int] = computation.instructions
        self.place_of = {step: place for place, step in enumerate(self.steps)}
        self.root = self.place_of[computation.root]
        self.all = (1 << len(self.steps)) - 1
        preceding = [self._preceding(program, step) for step in self.steps]
        self.before: list[int] = []
        """Each place and those that run before it in every order."""
        for place, each in enumerate(preceding):
            bits = 1 << place
            for earlier in each:
                bits |= self.before[earlier]
            self.before.append(bits)
        self.after = [1 << place for place in range(len(self.steps))]
        """Each place and those that run after it in every order."""
        for place in reversed(range(len(self.steps))):
            for earlier in preceding[place]:
                self.after[earlier] |= self.after[place]

    def _preceding(self, program: SchedulableProgram, step: int) -> Iterable[int]:
        each = program.instructions[step]
        return {self.place_of[earlier] for earlier in (*each.operands, *each.control_predecessors)}


def _places(bits: int, count: int) -> _Bytes:
    raw = np.frombuffer(bits.to_bytes(-(-count // 8), "little"), np.uint8)
    return np.unpackbits(raw, count=count, bitorder="little").astype(np.int64)


def _size_bytes(bound: LowerBound) -> int:
    return bound.size_bytes
