"""Changes of chosen values: removed, shortened, shrunk. The schedule is unchanged."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fractions import Fraction

from xlagraph.planner.planned_program import PlannedProgram, PlannedValue

__all__ = [
    "whole_sets",
    "with_shortened_values",
    "with_shrunk_values",
    "with_sources_of_removed_copies",
    "without_values",
]


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

    The readers of the copy read the source instead. A copy that is returned has no reader left.
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
    return _with_each_value(
        program,
        lambda value: value._replace(
            live_until=max(value.live_until, last.get(value.value_id, value.live_until))
        ),
    )


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
