"""Donation: an entry parameter gives its bytes to a result of the program.

The compiler joins both in one buffer set. Where a reader of the parameter is not known to run
before the result is written, it copies the parameter at the start, and all readers read the
copy (`CopyInsertion`, xla/service/copy_insertion.cc: it knows dependencies, not the schedule,
which is made later).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from xlagraph.plan.program import Overwrite, Program, Value

__all__ = ["Donation", "Donor", "donate"]


class Donor(NamedTuple):
    """A parameter to donate, and the result that takes its bytes."""

    parameter: int
    """Value id; so is the next."""
    output: int
    needed_until: int
    """Last step in which the parameter is needed."""


@dataclass(frozen=True, slots=True)
class Donation:
    """A program with some parameters donated."""

    program: Program
    in_place: tuple[Donor, ...]
    """The result is written over the parameter."""
    copied: tuple[Donor, ...]
    """The compiler copies the parameter first."""


def donate(program: Program, donors: Iterable[Donor]) -> Donation:
    """Return the program as the compiler makes it when these parameters are donated."""
    donors = tuple(donors)
    dependencies = _dependencies(program.values)
    readers = _readers(program.values)
    in_place: list[Donor] = []
    copied: list[Donor] = []
    for donor in donors:
        is_free = _is_read_before(program, donor, dependencies, readers)
        (in_place if is_free else copied).append(donor)
    changed = _with_copies(_without_own_copies(program, in_place), copied)
    return Donation(_joined(changed, donors), tuple(in_place), tuple(copied))


def _dependencies(values: Iterable[Value]) -> dict[str, set[str]]:
    """Return for each instruction those whose values it reads."""
    values = tuple(values)
    defining = {value.value_id: value.instruction for value in values}
    found: dict[str, set[str]] = {}
    for value in values:
        sources = found.setdefault(value.instruction, set())
        sources.update(defining[read] for read in value.reads if read in defining)
    return found


def _readers(values: Iterable[Value]) -> dict[int, dict[str, list[Value]]]:
    """Return for each value the instructions of the entry computation that read it."""
    readers: dict[int, dict[str, list[Value]]] = {}
    for value in values:
        if value.is_in_entry:
            for read in value.reads:
                readers.setdefault(read, {}).setdefault(value.instruction, []).append(value)
    return readers


def _is_read_before(
    program: Program,
    donor: Donor,
    dependencies: Mapping[str, set[str]],
    readers: Mapping[int, Mapping[str, list[Value]]],
) -> bool:
    """Whether every reader of the parameter must run before its bytes are written."""
    written = _first_written(program, donor)
    if written is None:
        return donor.needed_until <= program.by_id[donor.output].first
    before = _ancestors(written.instruction, dependencies)
    for instruction, defined in readers.get(donor.parameter, {}).items():
        if instruction == written.instruction:
            may = program.overwrites.get(written.value_id, ())
            if not any(item.value_id == donor.parameter for item in may):
                return False
        elif instruction not in before and not _is_own_copy(program, defined[0], donor):
            return False
    return True


def _first_written(program: Program, donor: Donor) -> Value | None:
    """Return the first value of the result's set that is more than a copy of the parameter."""
    members = [
        value
        for value in program.sets[program.by_id[donor.output].buffer_set]
        if value.is_in_entry and not _is_own_copy(program, value, donor)
    ]
    return min(members, key=lambda value: (value.first, value.last, value.value_id), default=None)


def _is_own_copy(program: Program, value: Value, donor: Donor) -> bool:
    """Whether a value is the copy that begins the result's set: it is what donation spares."""
    return (
        value.is_copy
        and value.operands == (donor.parameter,)
        and value.buffer_set == program.by_id[donor.output].buffer_set
    )


def _ancestors(instruction: str, dependencies: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    stack = [instruction]
    while stack:
        for source in dependencies.get(stack.pop(), ()):
            if source not in found:
                found.add(source)
                stack.append(source)
    return found


def _without_own_copies(program: Program, donors: Iterable[Donor]) -> Program:
    spared = {
        value.value_id
        for donor in donors
        for value in program.sets[program.by_id[donor.output].buffer_set]
        if _is_own_copy(program, value, donor)
    }
    return replace(
        program, values=tuple(value for value in program.values if value.value_id not in spared)
    )


def _with_copies(program: Program, donors: Iterable[Donor]) -> Program:
    """Add a copy of each parameter at the start of the program, which all readers read."""
    copy_of: dict[int, int] = {}
    copies: list[Value] = []
    start = min((value.first for value in program.values if value.first > 0), default=0)
    unused_id = max(program.by_id, default=0) + 1
    for number, donor in enumerate(donors):
        parameter = program.by_id[donor.parameter]
        copy = parameter._replace(
            value_id=unused_id + number,
            buffer_set=unused_id + number,
            first=start,
            last=max(start, donor.needed_until),
            is_copy=True,
            is_stored=False,
            instruction=f"copy of {parameter.instruction}",
            lives_out=False,
            operands=(donor.parameter,),
            reads=(donor.parameter,),
            allocation=_NOWHERE,
        )
        copies.append(copy)
        copy_of[donor.parameter] = copy.value_id
    values = tuple(_reading(value, copy_of, start) for value in program.values)
    overwrites = {
        value_id: tuple(
            Overwrite(copy_of.get(item.value_id, item.value_id), item.is_operand) for item in found
        )
        for value_id, found in program.overwrites.items()
    }
    return replace(program, values=(*values, *copies), overwrites=overwrites)


_NOWHERE = -1
"""Allocation of a value that XLA's own plan does not have."""


def _reading(value: Value, copy_of: Mapping[int, int], start: int) -> Value:
    """Return a value that reads copies in place of what they are copies of."""
    if value.value_id in copy_of:
        return value._replace(last=start)
    if not any(read in copy_of for read in value.reads):
        return value
    return value._replace(
        operands=tuple(copy_of.get(read, read) for read in value.operands),
        reads=tuple(copy_of.get(read, read) for read in value.reads),
    )


def _joined(program: Program, donors: Iterable[Donor]) -> Program:
    """Join each parameter with the set of its result, and free it for others."""
    donors = tuple(donors)
    changed = dict(program.by_id)
    freed = set()
    for donor in donors:
        parameter = changed[donor.parameter]
        freed.add(parameter.allocation)
        name = changed[donor.output].buffer_set
        if parameter.last > donor.needed_until:
            parameter = parameter._replace(last=donor.needed_until)
        changed[donor.parameter] = parameter._replace(buffer_set=name)
        members = [value for value in changed.values() if value.buffer_set == name]
        changed.update(_cut(members))
    allocations = tuple(
        item._replace(maybe_live_out=True) if item.number in freed else item
        for item in program.allocations
    )
    return replace(program, values=tuple(changed.values()), allocations=allocations)


def _cut(members: list[Value]) -> Iterator[tuple[int, Value]]:
    """Let each member end where the next one begins.

    `HloLiveRange::NormalizeAliasedBuffers` (xla/hlo/utils/hlo_live_range.cc).
    """
    members = sorted(members, key=lambda value: (value.first, value.last, value.value_id))
    for row in range(len(members) - 1):
        one, other = members[row], members[row + 1]
        members[row + 1] = other._replace(last=max(one.last, other.last))
        members[row] = one._replace(last=min(one.last, other.first))
    return iter([(value.value_id, value) for value in members])
