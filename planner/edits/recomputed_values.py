"""A program in which the backward pass recomputes values of the forward pass.

A value is recomputed when the first one that is computed from it is needed again, and lives until
its own last reader. A checkpoint keeps what its part of the forward pass reads of other parts.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import Final, NamedTuple

from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.edit import Edited
from xlagraph.planner.edits.loop_stacks import loop_stacks
from xlagraph.planner.edits.passes import Passes
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue, begin_of
from xlagraph.planner.value_changes import (
    with_lengthened_values,
    with_shortened_values,
    with_shrunk_values,
)

_PARTS: Final = tuple(1.2**exponent for exponent in range(1, 24))
"""Numbers of parts that are tried, up to 66."""


class Parts(NamedTuple):
    """Parts of a forward pass with a checkpoint around each."""

    kept: frozenset[int]
    """Values that the checkpoints keep: what a part reads of others."""
    begins: tuple[int, ...]
    """Steps at which all parts but the first one begin."""
    made_early: Mapping[int, int]
    """Steps at which values are first read that are made of keys and numbers, such as masks."""

    @property
    def part_count(self) -> int:
        """Number of parts."""
        return len(self.begins) + 1


def parts_of_forward_pass(compilation: PlannableCompilation, program: PlannedProgram) -> Parts:
    """Return the parts of the whole forward pass outside of loops that need the fewest bytes."""
    return _Forward(compilation, program, program.by_id, ()).parts()


def recomputed(
    compilation: PlannableCompilation,
    program: PlannedProgram,
    value_ids: Collection[int],
    kept_at_most: Collection[int] = (),
    *,
    in_parts: bool = False,
) -> Edited:
    """Return the program that recomputes these values for the backward pass.

    With the least memory, recomputed values take none; ``in_parts``, checkpoints are around the
    parts of the forward pass that need the least. With the most, they keep ``kept_at_most``.
    """
    least: dict[int, Fraction] = {}
    most: dict[int, Fraction] = {}
    needed_until: dict[int, int] = {}
    for stacks in loop_stacks(compilation, program, value_ids):
        least |= dict.fromkeys(stacks.value_ids, stacks.kept_at_least)
        most |= dict.fromkeys(stacks.value_ids, stacks.kept_at_most)
        until = max(program.by_id[each].live_until for each in stacks.value_ids)
        for each in stacks.read_ids - frozenset(value_ids):
            needed_until[each] = max(until, needed_until.get(each, 0))
    program = with_lengthened_values(program, needed_until)
    stacked = frozenset(value_ids) & least.keys()
    loops = frozenset(compilation.values[each].stack_loop for each in stacked)
    forward = _Forward(compilation, program, frozenset(value_ids) - stacked, loops)
    smallest, largest = with_shrunk_values(program, least), with_shrunk_values(program, most)
    if in_parts:
        fewest = forward.recomputing(smallest, forward.parts().kept)
        with_most = forward.recomputing(largest, kept_at_most)
    else:
        fewest = forward.freeing(smallest)
        with_most = forward.recomputing(largest, kept_at_most, is_each_alone=True)
    return Edited(
        fewest,
        with_most,
        stacked | forward.named.keys(),
        recomputed_count=len(forward.named) + len(stacked),
        stacked_ids=stacked,
    )


class _Forward:
    """The forward pass of a program, with the values that the backward pass could recompute."""

    def __init__(
        self,
        compilation: PlannableCompilation,
        program: PlannedProgram,
        value_ids: Collection[int],
        loops: Collection[str | None],
    ) -> None:
        self._compilation, self._program = compilation, program
        self._loops = loops
        self._read_by = Passes(compilation, program).readers
        self.named = {
            each.value_id: each
            for each in sorted(program.values_of(value_ids), key=begin_of)
            if self._is_made_forward(each) and not each.lives_out
            if self._read_by(each)[0] and not self._is_kept_for_a_loop(each)
        }

    def _is_made_forward(self, value: PlannedValue) -> bool:
        is_backward = value.value_id in self._compilation.backward_ids
        return not (value.is_stored or value.is_table or is_backward)

    def _is_kept_for_a_loop(self, value: PlannedValue) -> bool:
        """Return True if a loop of each pass reads a value, and the loop is not recomputed."""
        backward, forward = (
            {each.instruction for each in readers if self._is_of_loop(each)}
            for readers in self._read_by(value)
        )
        return bool(backward) and not forward <= frozenset(self._loops)

    def _is_of_loop(self, value: PlannedValue) -> bool:
        return self._compilation.values[value.value_id].opcode == "while"

    def freeing(self, program: PlannedProgram, kept: Collection[int] = ()) -> PlannedProgram:
        """Return a program in which named values end with their last reader of the forward pass."""
        lasts = {
            value.value_id: max(map(begin_of, self._read_by(value)[1]), default=value.live_from)
            for value in self.named.values()
            if value.value_id not in kept
        }
        return with_shortened_values(program, lasts)

    def recomputing(
        self, program: PlannedProgram, kept: Collection[int], *, is_each_alone: bool = False
    ) -> PlannedProgram:
        """Return a program that keeps some of the forward values, and recomputes the named ones.

        ``is_each_alone`` takes what a value is computed from for given.
        """
        needed = self._needed_from({*kept, *self.named} if is_each_alone else kept)
        again = [value for value in self.named.values() if value.value_id not in kept]
        unused_id = max(program.by_id, default=0) + 1
        repeated = (
            program.by_id[value.value_id]._replace(
                value_id=number,
                buffer_set=number,
                live_from=needed[value.value_id],
                live_until=max(map(begin_of, self._read_by(value)[0])),
            )
            for number, value in enumerate(again, unused_id)
        )
        kept_until = {each: needed[each] for each in kept if each in needed}
        changed = with_lengthened_values(self.freeing(program, kept), kept_until)
        return replace(changed, values=(*changed.values, *repeated))

    def _needed_from(self, kept: Collection[int]) -> Mapping[int, int]:
        """Return the step of the backward pass from which each value is needed again.

        It is needed for what is computed from it, up to what is kept.
        """
        by_id = self._program.by_id
        starts = [*self.named, *(each for each in kept if each in by_id)]

        def again(value_id: int) -> Iterator[int]:
            return (each.value_id for each in self._recomputing_readers(by_id[value_id], kept))

        needed: dict[int, int] = {}
        found = map(by_id.__getitem__, reached(starts, again))
        for value in sorted(found, key=begin_of, reverse=True):
            steps = [
                needed[reader.value_id]
                for reader in self._recomputing_readers(value, kept)
                if reader.value_id in needed
            ]
            if value.value_id in self.named:
                steps += map(begin_of, self._read_by(value)[0])
            if steps:
                needed[value.value_id] = min(steps)
        return needed

    def _recomputing_readers(
        self, value: PlannedValue, kept: Collection[int]
    ) -> Iterator[PlannedValue]:
        """Yield what is computed from a value again: what the backward pass does not find kept."""
        for reader in self._read_by(value)[1]:
            number = reader.value_id
            if number not in kept and (number in self.named or not self._read_by(reader)[0]):
                yield reader

    def parts(self) -> Parts:
        """Return the parts that need the fewest bytes.

        At one time are live what is kept between parts, and all that one part recomputes. What is
        made of keys and numbers belongs to the part that reads it first.
        """
        made_early = self._made_early()

        def begin_of_part(value: PlannedValue) -> int:
            return made_early.get(value.value_id, value.live_from)

        named = sorted(self.named.values(), key=begin_of_part)
        begins = [*map(begin_of_part, named)]
        spans, crossing = self._crossing(begins, made_early)
        most = sum(each.size_bytes for each in named)
        best, fewest = Parts(frozenset(), (), made_early), most
        for parts in _PARTS:
            ends = [*_ends_of_parts(named, crossing, int(most / parts))]
            kept = frozenset(
                value.value_id for value, (begin, end) in spans if _is_between(ends, begin, end)
            )
            inside = [0] * (len(ends) + 1)
            for row, value in enumerate(named):
                if value.value_id not in kept:
                    inside[bisect_right(ends, row)] += value.size_bytes
            total = max(inside) + sum(
                value.size_bytes for value, _ in spans if value.value_id in kept
            )
            if total < fewest:
                best = Parts(kept, tuple([begins[row] for row in ends]), made_early)
                fewest = total
        return best

    def _made_early(self) -> dict[int, int]:
        """Return the step of the first reader of each value that depends on no array of floats.

        Such are masks and the bits that they are made of: a compiler may compute those of all parts
        first, and a checkpoint recomputes those of its part from a key.
        """
        by_id, known = self._program.by_id, self._compilation.values
        steps: dict[int, int] = {}
        for value in sorted(self._program.values, key=begin_of):
            if not self._is_made_forward(value) or not self._read_by(value)[1]:
                continue
            read = [by_id[each] for each in value.reads if each in by_id]
            if (read or _is_of_numbers(known.get(value.value_id))) and all(
                each.value_id in steps
                or each.is_table
                or (each.is_stored and _is_of_numbers(known.get(each.value_id)))
                for each in read
            ):
                steps[value.value_id] = value.live_from
        for number in reversed(steps):
            readers = self._read_by(by_id[number])[1]
            steps[number] = min(steps.get(each.value_id, each.live_from) for each in readers)
        return steps

    def _crossing(
        self, begins: Sequence[int], made_early: Mapping[int, int]
    ) -> tuple[list[tuple[PlannedValue, tuple[int, int]]], list[int]]:
        """Return the rows before which each forward value is kept, and the bytes of each row."""
        spans: list[tuple[PlannedValue, tuple[int, int]]] = []
        changes = [0] * (len(begins) + 1)
        for value in self._program.values:
            if not begins or value.live_from >= begins[-1] or not self._is_made_forward(value):
                continue
            backward, forward = self._read_by(value)
            if value.value_id not in self.named and (backward or value.is_copy):
                continue  # kept anyway, or given to the program
            last = max(map(begin_of, forward), default=value.live_from)
            begin = made_early.get(value.value_id, value.live_from)
            span = bisect_right(begins, begin), bisect_right(begins, last)
            if span[0] < span[1]:
                spans.append((value, span))
                changes[span[0]] += value.size_bytes
                changes[span[1]] -= value.size_bytes
        return spans, [*accumulate(changes)]


def _ends_of_parts(
    named: Sequence[PlannedValue], crossing: Sequence[int], most: int
) -> Iterator[int]:
    """Yield the rows at which parts of at most so many bytes begin, where few bytes are kept."""
    begin = total = 0
    lowest = deque[int]()  # rows after `begin` that keep less than all rows after them
    for row, value in enumerate(named):
        total += value.size_bytes
        while lowest and crossing[lowest[-1]] >= crossing[row]:
            lowest.pop()
        if row:
            lowest.append(row)
        while total > most and lowest:
            total -= sum(each.size_bytes for each in named[begin : lowest[0]])
            begin = lowest.popleft()
            yield begin


def _is_of_numbers(value: StoredValue | None) -> bool:
    return value is not None and (value.is_integer or not value.dimensions)


def _is_between(ends: Sequence[int], begin: int, end: int) -> bool:
    at = bisect_left(ends, begin)
    return at < len(ends) and ends[at] < end
