"""Outcome of each donated input: in place, copied first, or never used.

XLA pairs a donated parameter with an output of the same size: each output takes one parameter,
and each parameter gives its bytes to one output. The allocation of such a parameter is live-out.
The outcome is about the first value of that allocation:

- `in place`: an output takes its bytes without a copy, or it is returned unchanged;
- `copied first`: a copy preserves the old value, or the new one is copied into its bytes;
- `never used`: no output takes its bytes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from xlagraph.hlo.grouping import grouped
from xlagraph.ingest.measures.compilation_facts import CompilationFacts, NamedInstruction
from xlagraph.ingest.plan import Allocation, Use


class Outcome(StrEnum):
    """Fate of the bytes of a donated input."""

    IN_PLACE = "in place"
    COPIED = "copied first"
    UNUSED = "never used"


class DonatedInput(NamedTuple):
    """A donated input, and why no output is written over it in place."""

    value_id: int
    outcome: Outcome
    reason: str | None
    next_value: str | None
    """Label of the next value that uses the bytes."""
    copy: str | None = None
    """Label of the copy that preserves the old value or writes the new one."""
    reader: str | None = None
    """Last instruction that reads the old value and so prevents the update in place."""
    reader_file: str | None = None
    """Source file of the user's line that the reader comes from."""
    reader_line: int | None = None


def donated_inputs(facts: CompilationFacts) -> Mapping[int, DonatedInput]:
    """Return the donated inputs by the number of their allocation; none without live ranges."""
    donated = [
        allocation
        for allocation, donation in zip(facts.plan.allocations, facts.donations, strict=True)
        if allocation.parameter is not None and (allocation.maybe_live_out or donation is not None)
    ]
    if not donated or facts.plan.live_ranges is None:
        return {}
    return dict(_Donations(facts, donated).outcomes())


class _Donations:
    """The facts of a compilation, by the names and numbers that outcomes need."""

    def __init__(self, facts: CompilationFacts, donated: Iterable[Allocation]) -> None:
        self._facts = facts
        ranges = facts.plan.live_ranges
        self._end = len(ranges.schedule) if ranges is not None else None
        self._donated = tuple(donated)
        self._outputs = [each for each in facts.plan.allocations if each.maybe_live_out]
        self._rows: dict[int, list[int]] = {
            each.number: [] for each in (*self._donated, *self._outputs)
        }
        """Rows of the values of each allocation that is donated or an output."""
        for row, value in enumerate(facts.plan.values):
            if value.allocation in self._rows:
                self._rows[value.allocation].append(row)

    @cached_property
    def _defined(self) -> Mapping[str, Sequence[int]]:
        """Rows of the values that each instruction defines."""
        return grouped((value.name, row) for row, value in enumerate(self._facts.plan.values))

    @cached_property
    def _instructions(self) -> Mapping[str, NamedInstruction]:
        return {each.instruction.name: each for each in self._facts.instructions}

    @cached_property
    def _uses(self) -> Mapping[int, Sequence[Use]]:
        return {used.value_id: used.uses for used in self._facts.plan.used_values or ()}

    def outcomes(self) -> Iterator[tuple[int, DonatedInput]]:
        """Yield the outcome of each donated allocation; nothing if no value is an output."""
        outputs: Counter[tuple[int, str | None]] = Counter()
        taken: Counter[tuple[int, str | None]] = Counter()
        for allocation in self._outputs:
            kinds = [self._kind(row) for row in self._ending(allocation.number)]
            outputs.update(kinds)
            if allocation.parameter is not None:
                taken.update(kinds)
        if not outputs:
            return
        for allocation in self._donated:
            rows = self._rows[allocation.number]
            if rows:
                first = min(rows, key=lambda row: (self._first_step(row) or 0, self._id(row)))
                kind = self._kind(first)
                fits = outputs[kind] if kind[1] is not None else 0
                is_left = taken[kind] < fits
                yield allocation.number, self._outcome(allocation, first, fits, is_left=is_left)

    def _outcome(
        self, allocation: Allocation, value: int, fitting: int, *, is_left: bool
    ) -> DonatedInput:
        next_value, written_by = self._next(allocation, value)
        found = DonatedInput(self._id(value), Outcome.IN_PLACE, None, next_value)
        if allocation.maybe_live_out:
            outputs = [row for row in self._ending(allocation.number) if row != value]
            if not outputs:
                return found._replace(reason="returned as it is")
            if self._alias_set(min(outputs, key=self._label)) == self._alias_set(value):
                return found
        copy = self._copy_of(value)
        copied = written_by if copy is None else self._label(copy)
        is_returned = copy is not None and self._last_step(copy) == self._end
        if allocation.maybe_live_out:
            if copied is None:
                return found._replace(reason="its bytes are used again after its last use")
            found = found._replace(outcome=Outcome.COPIED, copy=copied)
            if is_returned:
                return found._replace(reason=_RETURNED)
            name, file, line = self._reader(value, copy)
            reason = "it is still read when its bytes are needed"
            return found._replace(reason=reason, reader=name, reader_file=file, reader_line=line)
        if is_returned:
            reason = _RETURNED
        elif not fitting:
            reason = "no output of that size and type"
        elif not is_left:
            reason = "every such output is in another donated input"
        else:
            reason = "it is still read when such an output is written"
        return found._replace(outcome=Outcome.UNUSED, reason=reason)

    def _copy_of(self, value: int) -> int | None:
        """Return the copy of a value with the smallest value id."""
        shape = self._facts.plan.values[value].shape
        copies = [
            row
            for user in {use.instruction for use in self._uses.get(self._id(value), ())}
            if self._instructions[user].instruction.opcode == "copy"
            for row in self._defined.get(user, ())
            if self._facts.plan.values[row].shape == shape
        ]
        return min(copies, key=self._id, default=None)

    def _next(self, allocation: Allocation, value: int) -> tuple[str | None, str | None]:
        """Return the next value in the bytes, and the one among those of its step that copies."""
        last = self._last_step(value)
        others = [row for row in self._rows[allocation.number] if row != value]
        steps = [self._first_step(row) for row in others]
        later = [step for step in steps if step is not None and last is not None and step >= last]
        if not later:
            return None, None
        found = [row for row, step in zip(others, steps, strict=True) if step == min(later)]
        copies = [self._label(row) for row in found if self._opcode(row) == "copy"]
        return min(map(self._label, found)), min(copies, default=None)

    def _reader(self, value: int, copy: int | None) -> tuple[str | None, str | None, int | None]:
        """Return the last instruction that computes with the old value, and the user's line."""
        old = value if copy is None else copy
        users = [self._instructions[use.instruction] for use in self._uses.get(self._id(old), ())]
        scheduled = [user for user in users if user.step is not None]
        computing = [user for user in scheduled if user.instruction.opcode not in ("copy", "tuple")]
        if copy is None:
            last = self._facts.last_uses[value]
        else:
            last = max((user.step or 0 for user in computing or scheduled), default=None)
        readers = [user for user in scheduled if user.step == last]
        places = [place for reader in readers for place in self._places(reader)]
        return (
            min((reader.instruction.name for reader in readers), default=None),
            min((file for file, _ in places if file is not None), default=None),
            min((line for _, line in places if line is not None), default=None),
        )

    def _places(self, reader: NamedInstruction) -> Iterator[tuple[str | None, int | None]]:
        """Yield the user's line of each result of an instruction, else its own line."""
        for row in self._defined.get(reader.instruction.name, (None,)):
            owner = None if row is None else self._facts.attributions[row]
            line = None if owner is None else owner.user_line
            if line is None:
                yield reader.source_file, reader.source_line
            else:
                yield line.file, line.line

    def _ending(self, allocation: int) -> list[int]:
        """Return the values of an allocation that are live at the program's end."""
        return [row for row in self._rows[allocation] if self._last_step(row) == self._end]

    def _kind(self, row: int) -> tuple[int, str | None]:
        value = self._facts.plan.values[row]
        return value.size_bytes, value.shape.dtype

    def _id(self, row: int) -> int:
        return self._facts.plan.values[row].value_id

    def _label(self, row: int) -> str:
        return self._facts.plan.values[row].label

    def _opcode(self, row: int) -> str | None:
        return self._instructions[self._facts.plan.values[row].name].instruction.opcode

    def _alias_set(self, row: int) -> int:
        return self._facts.alias_positions[row].alias_set

    def _first_step(self, row: int) -> int | None:
        span = self._facts.spans[row]
        return None if span is None else span.first

    def _last_step(self, row: int) -> int | None:
        span = self._facts.spans[row]
        return None if span is None else span.last


_RETURNED: Final = "it is returned too: it must stay for the caller"
