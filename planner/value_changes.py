"""Changes of chosen values: removed, shortened, shrunk. The schedule is unchanged."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from xlagraph.planner.planned_program import PlannedProgram, PlannedValue


def whole_sets(program: PlannedProgram, value_ids: Collection[int]) -> frozenset[int]:
    """Return these values, and all that must share an address with one of them.

    Ids that are not in the program are skipped.
    """
    by_id = program.by_id
    names = {by_id[value_id].buffer_set for value_id in value_ids if value_id in by_id}
    return frozenset(value.value_id for name in names for value in program.sets[name])


def without_values(program: PlannedProgram, value_ids: Collection[int]) -> PlannedProgram:
    """Return the program without these values."""
    gone = frozenset(value_ids)
    return _with_set_sizes(
        replace(
            program, values=tuple(value for value in program.values if value.value_id not in gone)
        )
    )


def with_sources_of_removed_copies(
    program: PlannedProgram, removed: Collection[int]
) -> PlannedProgram:
    """Return the program in which a removed copy's source lives until the copy's last reader.

    The readers of the copy read the source instead, or what is written over the source before
    they run; what is written into the copy's bytes is written into the source's. A copy that is
    returned has no reader left.
    """
    gone = frozenset(removed)
    by_id = program.by_id
    last: dict[int, int] = {}
    for value in program.values:
        if value.value_id not in gone or value.lives_out:
            continue
        source = value
        while source.value_id in gone and source.is_copy and len(source.operands) == 1:
            source = by_id.get(source.operands[0], source._replace(is_copy=False))
        if source.value_id not in gone:
            last[source.value_id] = max(last.get(source.value_id, 0), value.live_until)
    if not last:
        return program
    for source_id in last:
        source = by_id[source_id]
        later = (
            each.live_from
            for each in program.sets[source.buffer_set]
            if each.live_from > source.live_from and each.value_id not in gone
        )
        last[source_id] = min((last[source_id], *later))
    changed = _with_each_value(
        program,
        lambda value: value._replace(
            live_until=max(value.live_until, last.get(value.value_id, value.live_until))
        ),
    )
    copies = (by_id[value_id] for value_id in sorted(gone & by_id.keys()))
    return _written_into_sources(
        changed, sorted(copies, key=lambda copy: copy.live_from), gone & by_id.keys()
    )


def _written_into_sources(
    program: PlannedProgram, copies: Iterable[PlannedValue], removed: Collection[int]
) -> PlannedProgram:
    """Join the sets that begin with a removed copy with the sets of what they copy.

    A set stays alone if it interferes with another value there, or if both are given or returned.
    """
    by_id, sets = program.by_id, dict(program.sets)
    joined: dict[int, int] = {}
    for copy in copies:
        if not copy.is_copy or len(copy.operands) != 1 or copy.operands[0] not in by_id:
            continue
        source = by_id[copy.operands[0]]
        if source.value_id in removed:
            continue
        into = joined.get(source.buffer_set, source.buffer_set)
        written = [each for each in sets[copy.buffer_set] if each.value_id not in removed]
        known = {each.value_id: each for each in sets[into] if each.value_id not in removed}
        source = known.pop(source.value_id)
        others = known.values()
        if (
            not written
            or into == copy.buffer_set
            or copy.size_bytes != source.size_bytes
            or any(each.is_stored or each.live_from < copy.live_from for each in written)
            or any(_is_fixed(program, each) for each in (source, *others))
            or (_is_returned(written) and _is_returned((source, *others)))
            or any(
                one.live_from < other.live_until and other.live_from < one.live_until
                for one in written
                for other in others
            )
        ):
            continue
        joined[copy.buffer_set] = into
        members = [each._replace(buffer_set=into) for each in (source, *others, *written)]
        sets[into] = tuple(each for _, each in cut_where_the_next_begins(members))
    changed = {each.value_id: each for into in joined.values() for each in sets[into]}
    return _with_each_value(program, lambda value: changed.get(value.value_id, value))


def _is_returned(values: Iterable[PlannedValue]) -> bool:
    return any(value.lives_out for value in values)


def _is_fixed(program: PlannedProgram, value: PlannedValue) -> bool:
    """Return True for an input that nothing may be written over."""
    given = program.stored_in(value) if value.is_stored else None
    return given is not None and not given.maybe_live_out


def cut_where_the_next_begins(members: list[PlannedValue]) -> Iterator[tuple[int, PlannedValue]]:
    """Yield the members of a set by id, each of which ends where the next one begins.

    Follows `HloLiveRange::NormalizeAliasedBuffers` (xla/hlo/utils/hlo_live_range.cc).
    """
    members = sorted(members, key=lambda value: (value.live_from, value.live_until, value.value_id))
    for row in range(len(members) - 1):
        one, other = members[row], members[row + 1]
        members[row + 1] = other._replace(live_until=max(one.live_until, other.live_until))
        members[row] = one._replace(live_until=min(one.live_until, other.live_from))
    return iter([(value.value_id, value) for value in members])


def with_shortened_values(program: PlannedProgram, last_by_id: Mapping[int, int]) -> PlannedProgram:
    """Return the program in which these values end at the given step, but not before they begin.

    A value that ends earlier is unchanged.
    """

    def shorter(value: PlannedValue) -> PlannedValue:
        last = last_by_id.get(value.value_id)
        if last is None or last >= value.live_until:
            return value
        return value._replace(live_until=max(value.live_from, last))

    return _with_each_value(program, shorter)


def with_lengthened_values(
    program: PlannedProgram, last_by_id: Mapping[int, int]
) -> PlannedProgram:
    """Return the program in which these values are live at least until the given step.

    A value stays as it is if another one is written over it.
    """

    def longer(value: PlannedValue) -> PlannedValue:
        last = last_by_id.get(value.value_id, 0)
        if last <= value.live_until:
            return value
        members = program.sets[value.buffer_set]
        if any(each.live_from > value.live_from for each in members):
            return value
        return value._replace(live_until=last)

    return _with_each_value(program, longer) if last_by_id else program


def with_shrunk_values(
    program: PlannedProgram, factor_by_id: Mapping[int, Fraction]
) -> PlannedProgram:
    """Return the program in which these values take this fraction of their bytes, rounded up.

    A buffer set is as large as its largest member, so it shrinks only if all members are named.
    """
    if not factor_by_id:
        return program
    smaller = {
        value.value_id: -(-value.size_bytes * factor.numerator // factor.denominator)
        for value in program.values
        if (factor := factor_by_id.get(value.value_id)) is not None and not value.is_table
    }
    return _with_set_sizes(
        _with_each_value(program, lambda value: _resized(value, smaller.get(value.value_id)))
    )


def _with_each_value(
    program: PlannedProgram, changed: Callable[[PlannedValue], PlannedValue]
) -> PlannedProgram:
    return replace(program, values=tuple([changed(value) for value in program.values]))


def _with_set_sizes(program: PlannedProgram) -> PlannedProgram:
    """Resize each value to the largest member of its set."""
    sizes: dict[int, int] = {}
    for value in program.values:
        sizes[value.buffer_set] = max(value.size_bytes, sizes.get(value.buffer_set, 0))
    return _with_each_value(program, lambda value: _resized(value, sizes[value.buffer_set]))


def _resized(value: PlannedValue, size_bytes: int | None) -> PlannedValue:
    # most values are unchanged, and copying is slow
    if size_bytes is None or size_bytes == value.size_bytes:
        return value
    return value._replace(size_bytes=size_bytes)
