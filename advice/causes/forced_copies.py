"""Find copies that a reader forces: of donated inputs, loop state, and carries that swap.

The compiler copies a value before overwriting it if the old value is needed later. Copies of copies
are one case: without the reader all of them disappear.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, evidence_row, file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.graph.engine import Cell
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.resizing import Remove
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = ["forced_copies"]

_QUERY: Final = "alias/copies"
_SWAP: Final = {
    "jax": "Do two steps in one iteration, so that each carry ends where it began, or carry one"
    " stacked array and an index that alternates, instead of returning (new, old) as the next"
    " (a, b).",
    "tensorflow": "Do two steps in one iteration of the tf.while_loop, so that each loop variable"
    " ends where it began, instead of returning (new, old) as the next (a, b).",
    "pytorch": "Do two steps in one iteration, and write each result into the tensor that held the"
    " same state before, instead of swapping two tensors.",
}
_RETURNED: Final = {
    "jax": "Return only the new value; or, if the caller still needs the old value, do not donate"
    " the argument (donate_argnums).",
    "tensorflow": "Do not return the old value of a variable that the function assigns.",
    "pytorch": "Drop the clone or view of the old tensor before torch_xla.sync() (xm.mark_step()).",
}
_READ_LATER: Final = {
    "jax": "Read the old value before the update: first compute the reader and pass its result"
    " through jax.lax.optimization_barrier together with the array; or let the reader use the"
    " new value; or keep only the slice that is needed (old = x[i] before x.at[i].set(...)).",
    "tensorflow": "Read the old value before the assignment (order both with"
    " tf.control_dependencies), or keep only the slice that is needed.",
    "pytorch": "Read the old value before the in-place op, or keep only the slice that is needed;"
    " drop views and clones of the tensor.",
}


class _Copy(NamedTuple):
    """A copy with its row of alias/copies."""

    value: StoredValue
    copied: StoredValue | None
    row: Mapping[str, Cell]


class _Case(NamedTuple):
    """Copies with a common cause."""

    copies: tuple[_Copy, ...]
    """Copies in the order of the schedule."""

    @property
    def reader(self) -> Mapping[str, Cell] | None:
        """The row with the last reader of the old value."""
        return next((copy.row for copy in self.copies if copy.row["forcedBy"]), None)


def forced_copies(program: PeakProgram, rows: Sequence[Mapping[str, Cell]]) -> Iterator[Cause]:
    """Yield a cause for each group of copies of donated inputs and of the state of loops."""
    copies = [copy for row in rows if (copy := _copy(program, row)) is not None]
    for case in _cases(program, copies):
        found = _cause(program, case)
        if found is not None:
            yield found


def _copy(program: PeakProgram, row: Mapping[str, Cell]) -> _Copy | None:
    value = program.by_label.get(str(row["value"]))
    if (
        value is None
        or value.memory_space != program.memory_space
        or value.value_id not in program.program.by_id
    ):
        return None
    return _Copy(value, program.by_label.get(str(row["copied"])), row)


def _cases(program: PeakProgram, copies: Iterable[_Copy]) -> Iterator[_Case]:
    """Group copies with copies of them, and the copies of carries that swap places."""
    by_id = {copy.value.value_id: copy for copy in copies}
    leader: dict[int, int] = {value_id: value_id for value_id in by_id}

    def find(value_id: int) -> int:
        while leader[value_id] != value_id:
            leader[value_id] = leader[leader[value_id]]
            value_id = leader[value_id]
        return value_id

    for copy in by_id.values():
        if copy.copied is not None and copy.copied.value_id in by_id:
            leader[find(copy.value.value_id)] = find(copy.copied.value_id)
    swapping = _swapping_sets(program, by_id.values())
    by_set: dict[int, int] = {}
    for copy in by_id.values():
        source = program.set_of(copy.copied)
        if source in swapping:
            pair = swapping[source]
            leader[find(copy.value.value_id)] = find(by_set.setdefault(pair, copy.value.value_id))
    groups: defaultdict[int, list[_Copy]] = defaultdict(list)
    for value_id, copy in by_id.items():
        groups[find(value_id)].append(copy)
    for group in groups.values():
        yield _Case(tuple(sorted(group, key=lambda copy: copy.value.live_from or 0)))


def _swapping_sets(program: PeakProgram, copies: Iterable[_Copy]) -> dict[int | None, int]:
    """Return the buffer sets of carries that swap, each with the smallest set of its pair."""
    copied_into = {copy.value.value_id: copy.copied for copy in copies}
    pairs: dict[int | None, int] = {}
    for value_id in copied_into:
        source = copied_into[value_id]
        while source is not None and source.value_id in copied_into:
            source = copied_into[source.value_id]
        one = program.set_of(source)
        other = program.set_of(program.values[value_id])
        if one is None or other is None or one == other:
            continue
        if _loop_of(program, one) is not None and _loop_of(program, one) == _loop_of(
            program, other
        ):
            pair = min(one, other, pairs.get(one, one), pairs.get(other, other))
            pairs[one] = pairs[other] = pair
    return pairs


def _loop_of(program: PeakProgram, buffer_set: int) -> str | None:
    """Return the instruction of the loop that carries a buffer set."""
    members = program.program.sets[buffer_set]
    loops = (member for member in members if program.values[member.value_id].opcode == "while")
    return next((loop.instruction for loop in loops), None)


def _cause(program: PeakProgram, case: _Case) -> Cause | None:
    if any(
        source in _swapping_sets(program, case.copies)
        for source in (program.set_of(copy.value) for copy in case.copies)
    ):
        return _of_swap(program, case)
    first = case.copies[0]
    source = program.set_of(first.copied)
    if source is None or first.copied is None:
        return None
    members = program.program.sets[source]
    is_donated = any(member.is_stored for member in members) and any(
        member.lives_out for member in members
    )
    loop = _loop_of(program, source)
    if is_donated and loop is None:
        returned = [copy for copy in case.copies if _lives_out(program, copy.value)]
        if returned:
            return _of_returned(program, case, first.copied)
        return _of_reader(program, case, first.copied, "a donated input")
    if loop is not None and case.reader is not None:
        return _of_reader(program, case, first.copied, "the state of a loop")
    return None


def _lives_out(program: PeakProgram, value: StoredValue) -> bool:
    planned = program.planned(value)
    return planned is not None and planned.lives_out


def _of_swap(program: PeakProgram, case: _Case) -> Cause:
    moved = [copy for copy in case.copies if _loop_of_value(program, copy.value) is not None]
    carries = sorted({label for copy in case.copies for label in _carry_labels(program, copy)})
    names = " and ".join(carries[:2])
    reader = case.reader
    where = file_and_line(reader["forcedByFile"], reader["forcedByLine"]) if reader else None
    reason = f"{names} swap places in every iteration"
    if where:
        reason += f"; {where} reads the old value"
    line_of = moved[0] if moved else case.copies[0]
    return _made(
        program,
        "Two loop carries swap places, so the old value is copied in every iteration",
        case,
        reason,
        _SWAP,
        line_of.row if reader is None else reader,
    )


def _loop_of_value(program: PeakProgram, value: StoredValue) -> str | None:
    buffer_set = program.set_of(value)
    return None if buffer_set is None else _loop_of(program, buffer_set)


def _carry_labels(program: PeakProgram, copy: _Copy) -> Iterator[str]:
    for value in (copy.value, copy.copied):
        buffer_set = program.set_of(value)
        if buffer_set is None:
            continue
        for member in program.program.sets[buffer_set]:
            found = program.values[member.value_id]
            if found.opcode == "while":
                yield f"carry {(found.shape_index or '{}')[1:-1]}"


def _of_returned(program: PeakProgram, case: _Case, copied: StoredValue) -> Cause:
    reason = f"{copied.label} is donated and also returned, so the caller gets the copy"
    return _made(
        program,
        "A donated input is also returned, so it is copied",
        case,
        reason,
        _RETURNED,
        case.copies[0].row,
    )


def _of_reader(program: PeakProgram, case: _Case, copied: StoredValue, what: str) -> Cause:
    row = case.reader or case.copies[0].row
    where = file_and_line(row["forcedByFile"], row["forcedByLine"])
    reader = where or row["forcedBy"] or row["neededBy"] or "an instruction"
    reason = f"{reader} reads the old {copied.label} after it is overwritten"
    title = f"A reader of the old value forces a copy of {what}"
    return _made(program, title, case, reason, _READ_LATER, row)


def _made(
    program: PeakProgram,
    title: str,
    case: _Case,
    reason: str,
    remedies: Mapping[str, str],
    blamed: Mapping[str, Cell],
) -> Cause:
    file, line = blamed["forcedByFile"], blamed["forcedByLine"]
    rows = [
        evidence_row(
            copy.value,
            reason,
            file=file if isinstance(file, str) else None,
            line=line if isinstance(line, int) else None,
        )
        for copy in case.copies
    ]
    rows.sort(key=lambda row: -int(str(row["sizeBytes"])))
    edit = Remove.of(program.compilation, [str(row["value"]) for row in rows])
    return Cause(
        _QUERY,
        title,
        ChangeKind.WITHOUT,
        edit,
        tuple(rows),
        remedies,
        is_exact=True,
        likelihood=1.0,
    )
