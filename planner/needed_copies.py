"""Copies that the compiler keeps if a result takes the bytes of a donated parameter.

`CopyInsertion` (xla/service/copy_insertion.cc) first adds two copies: one of the parameter, which
all readers read, and one of the result, which is written over the parameter after the first copy.
Then it drops, in this order,

1. the copy of the parameter, if the result depends on every reader of it;
2. the copy of the result, if the first value of its bytes depends on everything that reads the
   parameter's bytes: the readers of the parameter, or the first copy if that remains.

A copy that the result's bytes begin with reads the first copy, so that the second rule drops the
copy of the result. If a copy for other bytes is the only reader, it serves as the first copy,
unless it only returns the parameter.

A copy for other bytes, such as the state of a loop, is dropped first if these bytes can be written
over the parameter (`overwritten_copy`): its other readers run before the first write, and the
result depends on everything that reads these bytes.

It knows dependencies but not the schedule, which is made later.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from xlagraph.planner.planned_program import PlannedProgram, PlannedValue, begin_of


class Donor(NamedTuple):
    """A parameter to donate, and the result that takes its bytes."""

    parameter: int
    """Value id of the parameter."""
    output: int
    """Value id of the result."""
    needed_until: int
    """Last step in which the parameter is needed."""


def is_own_copy(program: PlannedProgram, value: PlannedValue, donor: Donor) -> bool:
    """Return True for the copy that begins the result's set; donation makes it unnecessary."""
    return (
        value.is_copy
        and value.value_id != donor.output
        and value.operands == (donor.parameter,)
        and value.buffer_set == program.by_id[donor.output].buffer_set
    )


class Copies(NamedTuple):
    """Copies that remain for a donated parameter."""

    of_parameter: bool
    """True if the parameter is copied before its readers."""
    of_result: bool
    """True if the result is copied once it is made."""


class Readers:
    """Readers of some values in the entry computation, and the instructions after them.

    Algorithm: the readers that an instruction depends on are the bits of a number. One pass over
    the schedule passes them on to every instruction that reads it: O(instructions × readers / 64),
    without a search for each parameter.
    """

    def __init__(self, values: Iterable[PlannedValue], value_ids: Collection[int]) -> None:
        scheduled = sorted(values, key=begin_of)
        defining = {value.value_id: value.instruction for value in scheduled}
        self.by_value: dict[int, dict[str, PlannedValue]] = {value_id: {} for value_id in value_ids}
        """Instructions that read each value, each with one of the values that it makes."""
        self._sources: dict[str, set[str]] = {}
        """Instructions that each instruction reads, in the schedule's order."""
        for value in scheduled:
            sources = self._sources.setdefault(value.instruction, set())
            for read in value.reads:
                if read in defining:
                    sources.add(defining[read])
                if value.is_in_entry and read in self.by_value:
                    self.by_value[read][value.instruction] = value

    def run_before(self, readers: Iterable[str], instruction: str) -> bool:
        """Return True if an instruction depends on all of these readers."""
        wanted = sum(self._bits[reader] for reader in readers)
        return wanted & self._depended_on[instruction] == wanted

    @cached_property
    def _bits(self) -> dict[str, int]:
        """Bit of each reader; the first in the schedule has the lowest: most numbers stay short."""
        readers = {reader for readers in self.by_value.values() for reader in readers}
        scheduled = [instruction for instruction in self._sources if instruction in readers]
        return {reader: 1 << number for number, reader in enumerate(scheduled)}

    @cached_property
    def _depended_on(self) -> dict[str, int]:
        """Bits of the readers that each instruction depends on."""
        found: dict[str, int] = {}
        for instruction, sources in self._sources.items():
            bits = 0
            for source in sources:
                bits |= found.get(source, 0) | self._bits.get(source, 0)
            found[instruction] = bits
        return found


def needed_copies(
    program: PlannedProgram,
    donor: Donor,
    readers: Readers,
    passed: Collection[int],
    *,
    knows_schedule: bool,
) -> Copies:
    """Return the copies that remain.

    `passed` are results that are another parameter: their copies are made again as those of
    results. `knows_schedule`: the compiler drops copies that the schedule proves unnecessary.
    """
    written = _first_written(program, donor)
    if written is None:
        return Copies(of_parameter=False, of_result=False)
    others = dict(readers.by_value[donor.parameter])
    may = program.overwrites.get(written.value_id, ())
    reads_itself = others.pop(written.instruction, None) is not None
    is_overwritten_as_read = not reads_itself or any(
        overwrite.value_id == donor.parameter for overwrite in may
    )
    if knows_schedule and is_overwritten_as_read and donor.needed_until <= written.live_from:
        return Copies(of_parameter=False, of_result=False)
    needed = [reader for reader, value in others.items() if not is_own_copy(program, value, donor)]
    result = program.by_id[donor.output].instruction
    before_result = [reader for reader in needed if reader != result]
    if readers.run_before(before_result, result):
        is_in_place = is_overwritten_as_read and readers.run_before(needed, written.instruction)
        return Copies(of_parameter=False, of_result=not is_in_place)
    follows_the_copy = (
        reads_itself
        or len(needed) < len(others)
        or any(readers.run_before((reader,), written.instruction) for reader in needed)
    )
    is_copied_already = len(others) == 1 and all(
        value.is_copy and value.value_id not in passed for value in others.values()
    )
    return Copies(of_parameter=not is_copied_already, of_result=not follows_the_copy)


def overwritten_copy(
    program: PlannedProgram,
    donor: Donor,
    readers: Readers,
    like_sources: Collection[int],
    knows_schedule: bool,
) -> PlannedValue | None:
    """Return the copy of the parameter whose bytes are written over the parameter instead.

    `like_sources` are the copies with the layout of what they copy.
    """
    parameter, result = program.by_id[donor.parameter], program.by_id[donor.output]
    direct = readers.by_value[donor.parameter]
    if any(is_own_copy(program, value, donor) for value in direct.values()):
        return None
    for copy in direct.values():
        members = program.sets[copy.buffer_set]
        if (
            copy.value_id not in like_sources
            or copy.buffer_set == result.buffer_set
            or (copy.size_bytes, copy.memory_space)
            != (parameter.size_bytes, parameter.memory_space)
            or any(each.lives_out or each.live_from < copy.live_from for each in members)
        ):
            continue
        written = [each for each in members if each.is_in_entry and each is not copy]
        others = {name: value for name, value in direct.items() if value is not copy}
        if all(_runs_before(others, each, readers, knows_schedule) for each in written) and (
            _runs_before(_readers_of(members, readers), result, readers, knows_schedule)
        ):
            return copy
    return None


def is_written_after(
    program: PlannedProgram,
    donor: Donor,
    copy: PlannedValue,
    readers: Readers,
    knows_schedule: bool,
) -> bool:
    """Return True if the result's bytes are first written after all readers of a copy's bytes."""
    written = _first_written(program, donor)
    if written is None:
        return True
    members = program.sets[copy.buffer_set]
    earlier = _readers_of(members, readers) | readers.by_value[donor.parameter]
    if written.instruction in earlier:
        may = {each.value_id for each in program.overwrites.get(written.value_id, ())}
        if may.isdisjoint(each.value_id for each in members):
            return False
    return _runs_before(earlier, written, readers, knows_schedule)


def _readers_of(values: Iterable[PlannedValue], readers: Readers) -> dict[str, PlannedValue]:
    return {
        name: made for value in values for name, made in readers.by_value[value.value_id].items()
    }


def _runs_before(
    earlier: Mapping[str, PlannedValue],
    later: PlannedValue,
    readers: Readers,
    knows_schedule: bool,
) -> bool:
    """Return True if these instructions run before the one that makes a value, or are that one."""
    names = earlier.keys() - {later.instruction}
    return readers.run_before(names, later.instruction) or (
        knows_schedule and all(earlier[name].live_from < later.live_from for name in names)
    )


def _first_written(program: PlannedProgram, donor: Donor) -> PlannedValue | None:
    """Return the first value of the result's set that is not just a copy of the parameter."""
    members = [
        value
        for value in program.sets[program.by_id[donor.output].buffer_set]
        if value.is_in_entry and not is_own_copy(program, value, donor)
    ]
    return min(
        members, key=lambda value: (value.live_from, value.live_until, value.value_id), default=None
    )
