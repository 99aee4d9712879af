"""Donation: an entry parameter gives its bytes to a result of the program.

The compiler joins both in one buffer set. Where a reader of the parameter is not known to run
before the result is written, it copies the parameter, and all readers read the copy
(`CopyInsertion`, xla/service/copy_insertion.cc: it knows dependencies, not the schedule, which
is made later). A schedule that begins with the parameters then makes all copies; one that takes
each parameter as it is needed (CPU, jaxlib 0.4.30) makes each copy just before its first reader.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

from xlagraph.xla_planner.planned_program import PlannedProgram, PlannedValue

__all__ = ["DonatedProgram", "Donor", "donate"]


class Donor(NamedTuple):
    """A parameter to donate, and the result that takes its bytes."""

    parameter: int
    """Value id; so is the next."""
    output: int
    needed_until: int
    """Last step in which the parameter is needed."""


@dataclass(frozen=True, slots=True)
class DonatedProgram:
    """A program with some parameters donated."""

    program: PlannedProgram
    in_place: tuple[Donor, ...]
    """The result is written over the parameter."""
    copied: tuple[Donor, ...]
    """The compiler copies the parameter first."""
    copied_before: tuple[int, ...]
    """Steps of the unchanged schedule that the copies were put before, in their order."""

    def step_before(self, step: int) -> int:
        """Return the step of the unchanged schedule that a step was."""
        copied_at = [before + number for number, before in enumerate(self.copied_before)]
        return step - bisect_left(copied_at, step)


def donate(
    program: PlannedProgram, donors: Iterable[Donor], *, knows_schedule: bool
) -> DonatedProgram:
    """Return the program as the compiler makes it when these parameters are donated.

    `knows_schedule`: the compiler drops copies that the schedule proves needless; on GPUs and TPUs.
    """
    donors = sorted(donors, key=lambda donor: _parameter_order(program, donor))
    readers = _Readers(program.values, [donor.parameter for donor in donors])
    in_place: list[Donor] = []
    copied: list[Donor] = []
    for donor in donors:
        is_free = _is_read_before_written(program, donor, readers, knows_schedule=knows_schedule)
        (in_place if is_free else copied).append(donor)
    steps = _steps_of_copies(program, copied, knows_schedule=knows_schedule)
    copied.sort(key=lambda donor: steps[donor.parameter])
    copied_before = tuple(steps[donor.parameter] for donor in copied)
    changed = _with_copies(_without_own_copies(program, in_place), copied, copied_before)
    later = [
        donor._replace(needed_until=_shifted(donor.needed_until, copied_before))
        for donor in in_place
    ]
    return DonatedProgram(
        _joined(changed, (*later, *copied)), tuple(in_place), tuple(copied), copied_before
    )


def _steps_of_copies(
    program: PlannedProgram, donors: Collection[Donor], *, knows_schedule: bool
) -> dict[int, int]:
    """Return by parameter the step before which the compiler puts its copy."""
    start = min((value.first for value in program.values if not value.is_stored), default=0)
    numbers = {allocation.parameter_number for allocation in program.allocations} - {None}
    if knows_schedule or start >= len(numbers):
        return {donor.parameter: start for donor in donors}
    first_reads: dict[int, int] = {}
    for value in program.values:
        for read in value.reads:
            first_reads[read] = min(value.first, first_reads.get(read, value.first))
    return {donor.parameter: first_reads.get(donor.parameter, start) for donor in donors}


def _parameter_order(program: PlannedProgram, donor: Donor) -> tuple[int, tuple[int, ...], int]:
    """Return the order in which the compiler goes through parameters to copy them."""
    allocation = program.stored_in(program.by_id[donor.parameter])
    if allocation is None:
        return 0, (), donor.parameter
    index = (allocation.shape_index or "{}")[1:-1]
    numbers = tuple(int(part) for part in index.split(",") if part)
    return allocation.parameter_number or 0, numbers, donor.parameter


class _Readers:
    """Who reads donated parameters in the entry computation, and what depends on them.

    Algorithm: one pass over the schedule hands the readers that an instruction depends on to all
    that read it, as the bits of a number: O(instructions × readers / 64), not a search for each
    parameter.
    """

    def __init__(self, values: Iterable[PlannedValue], parameters: Collection[int]) -> None:
        scheduled = sorted(values, key=lambda value: value.first)
        defining = {value.value_id: value.instruction for value in scheduled}
        self.by_parameter: dict[int, dict[str, PlannedValue]] = {
            value_id: {} for value_id in parameters
        }
        """By the instruction that reads it: one of the values that it makes."""
        self._sources: dict[str, set[str]] = {}
        """In the order of the schedule, in which what an instruction depends on comes before it."""
        for value in scheduled:
            sources = self._sources.setdefault(value.instruction, set())
            for read in value.reads:
                if read in defining:
                    sources.add(defining[read])
                if value.is_in_entry and read in self.by_parameter:
                    self.by_parameter[read][value.instruction] = value

    def run_before(self, readers: Iterable[str], instruction: str) -> bool:
        """Return whether an instruction depends on all of these readers."""
        wanted = sum(self._bits[reader] for reader in readers)
        return wanted & self._depended_on[instruction] == wanted

    @cached_property
    def _bits(self) -> dict[str, int]:
        """By reader, a bit of its own; the lowest run first, which keeps most numbers short."""
        readers = {reader for readers in self.by_parameter.values() for reader in readers}
        scheduled = [instruction for instruction in self._sources if instruction in readers]
        return {reader: 1 << number for number, reader in enumerate(scheduled)}

    @cached_property
    def _depended_on(self) -> dict[str, int]:
        """By instruction, the bits of the readers that it depends on."""
        found: dict[str, int] = {}
        for instruction, sources in self._sources.items():
            bits = 0
            for source in sources:
                bits |= found.get(source, 0) | self._bits.get(source, 0)
            found[instruction] = bits
        return found


def _is_read_before_written(
    program: PlannedProgram, donor: Donor, readers: _Readers, *, knows_schedule: bool
) -> bool:
    """Return whether every reader of the parameter surely runs before its bytes are written."""
    written = _first_written(program, donor)
    if written is None:
        return True
    others = dict(readers.by_parameter[donor.parameter])
    if others.pop(written.instruction, None) is not None:
        may = program.overwrites.get(written.value_id, ())
        if not any(overwrite.value_id == donor.parameter for overwrite in may):
            return False
    if knows_schedule and donor.needed_until <= written.first:
        return True
    needed = [reader for reader, value in others.items() if not _is_own_copy(program, value, donor)]
    return readers.run_before(needed, written.instruction)


def _first_written(program: PlannedProgram, donor: Donor) -> PlannedValue | None:
    """Return the first value of the result's set that is more than a copy of the parameter."""
    members = [
        value
        for value in program.sets[program.by_id[donor.output].buffer_set]
        if value.is_in_entry and not _is_own_copy(program, value, donor)
    ]
    return min(members, key=lambda value: (value.first, value.last, value.value_id), default=None)


def _is_own_copy(program: PlannedProgram, value: PlannedValue, donor: Donor) -> bool:
    """Return whether a value is the copy that begins the result's set, which donation spares."""
    return (
        value.is_copy
        and value.value_id != donor.output
        and value.operands == (donor.parameter,)
        and value.buffer_set == program.by_id[donor.output].buffer_set
    )


def _without_own_copies(program: PlannedProgram, donors: Iterable[Donor]) -> PlannedProgram:
    unneeded = {
        value.value_id
        for donor in donors
        for value in program.sets[program.by_id[donor.output].buffer_set]
        if _is_own_copy(program, value, donor)
    }
    return replace(
        program, values=tuple(value for value in program.values if value.value_id not in unneeded)
    )


def _with_copies(
    program: PlannedProgram, donors: Sequence[Donor], copied_before: Sequence[int]
) -> PlannedProgram:
    """Add a copy of each parameter before a step; all readers read the copies.

    Each copy is a step of its own, so that the bytes of one parameter are free for the next.
    """
    copies: dict[int, PlannedValue] = {}
    unused_id = max(program.by_id, default=0) + 1
    for number, (donor, before) in enumerate(zip(donors, copied_before, strict=True)):
        parameter = program.by_id[donor.parameter]
        copies[donor.parameter] = parameter._replace(
            value_id=unused_id + number,
            buffer_set=unused_id + number,
            first=before + number,
            last=_shifted(max(donor.needed_until, before), copied_before),
            is_copy=True,
            is_stored=False,
            lives_out=False,
            instruction=f"copy of {parameter.instruction}",
            operands=(donor.parameter,),
            reads=(donor.parameter,),
            allocation=_NO_ALLOCATION,
        )
    copied_ids = {parameter: copy.value_id for parameter, copy in copies.items()}

    def changed(value: PlannedValue) -> PlannedValue:
        if (copy := copies.get(value.value_id)) is not None:
            return value._replace(last=copy.first)
        later = value._replace(
            first=_shifted(value.first, copied_before), last=_shifted(value.last, copied_before)
        )
        return _with_copied_operands(later, copied_ids)

    overwrites = {
        value_id: tuple(
            overwrite._replace(value_id=copied_ids[overwrite.value_id])
            if overwrite.value_id in copied_ids
            else overwrite
            for overwrite in found
        )
        for value_id, found in program.overwrites.items()
    }
    values = (*map(changed, program.values), *copies.values())
    return replace(program, values=values, overwrites=overwrites)


_NO_ALLOCATION: Final = -1
"""Allocation of a value that XLA's own plan does not have."""


def _shifted(step: int, copied_before: Sequence[int]) -> int:
    """Return the number of a step after copies are inserted before some steps, in order."""
    return step + bisect_right(copied_before, step)


def _with_copied_operands(value: PlannedValue, copied_ids: Mapping[int, int]) -> PlannedValue:
    if copied_ids.keys().isdisjoint(value.reads):
        return value
    return value._replace(
        operands=tuple(copied_ids.get(read, read) for read in value.operands),
        reads=tuple(copied_ids.get(read, read) for read in value.reads),
    )


def _joined(program: PlannedProgram, donors: Iterable[Donor]) -> PlannedProgram:
    """Join each parameter with the set of its result, and free it for others."""
    donors = tuple(donors)
    changed = dict(program.by_id)
    ids_by_set = {
        name: [value.value_id for value in members] for name, members in program.sets.items()
    }
    freed = set()
    for donor in donors:
        parameter = changed[donor.parameter]
        freed.add(parameter.allocation)
        name = changed[donor.output].buffer_set
        ids_by_set[parameter.buffer_set].remove(donor.parameter)
        ids_by_set[name].append(donor.parameter)
        last = min(parameter.last, donor.needed_until)
        changed[donor.parameter] = parameter._replace(last=last, buffer_set=name)
        changed.update(_cut([changed[value_id] for value_id in ids_by_set[name]]))
    allocations = tuple(
        allocation._replace(maybe_live_out=True) if allocation.number in freed else allocation
        for allocation in program.allocations
    )
    return replace(program, values=tuple(changed.values()), allocations=allocations)


def _cut(members: list[PlannedValue]) -> Iterator[tuple[int, PlannedValue]]:
    """End each member where the next one begins.

    `HloLiveRange::NormalizeAliasedBuffers` (xla/hlo/utils/hlo_live_range.cc).
    """
    members = sorted(members, key=lambda value: (value.first, value.last, value.value_id))
    for row in range(len(members) - 1):
        one, other = members[row], members[row + 1]
        members[row + 1] = other._replace(last=max(one.last, other.last))
        members[row] = one._replace(last=min(one.last, other.first))
    return iter([(value.value_id, value) for value in members])
