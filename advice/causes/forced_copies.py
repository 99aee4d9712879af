"""Find copies of donated inputs and of loop state, with the readers that force them.

Copies of copies are one case: without the reader all of them disappear. Cases with the same reader
are one cause.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, evidence_row, file_and_line
from xlagraph.advice.causes.edits_of_readers import edit_of_copies, remedies_of_readers
from xlagraph.advice.causes.layouts import is_copied_into_another_layout
from xlagraph.advice.causes.loop_states import repeats_a_number
from xlagraph.advice.causes.names import input_name, knows_passes, pattern_of, place_name
from xlagraph.advice.causes.old_values import OldValue, callers, moved_carries, old_value
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.places_of_reads import (
    PlaceOfRead,
    is_in_call,
    is_same_expression,
    place_of_read,
    repeats_write,
)
from xlagraph.advice.causes.restacked_states import replaced_by_parts
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.planned_program import begin_of
from xlagraph.queries.catalogue.declarations import ChangeKind

_DONATED: Final = "a donated input"
_STATE: Final = "the state of a loop"
_RESULT: Final = "the result of a conditional"
_LEAST_SHARE: Final = 0.001
"""Smallest share of the reserved bytes for which a copy's reader is searched."""
_MOVED: Final = {
    "jax": "Do two steps in one iteration, so that each carry ends where it began, instead of"
    " returning a carry in the place of another one.",
    "tensorflow": "Do two steps in one iteration of the tf.while_loop, so that each loop variable"
    " ends where it began.",
    "pytorch": "Do two steps in one iteration, and write each result into the tensor that held the"
    " same state before.",
}
_RETURNED: Final = {
    "jax": "Return only the new value; or, if the caller still needs the old value, do not donate"
    " the argument (donate_argnums).",
    "tensorflow": "Do not return the old value of a variable that the function assigns.",
    "pytorch": "Drop the clone or view of the old tensor before torch_xla.sync() (xm.mark_step()).",
}
_CPU: Final = (
    "on CPU optimization_barrier does not order this reader before the write, because the compiler"
    " drops it first"
)
_NOT_ELIDED: Final = {
    "jax": "No change of the program is known to remove it: XLA for CPU places copies before it"
    " knows the schedule; XLA for GPU and TPU drops such copies afterwards.",
    "tensorflow": "No change of the program is known to remove it: XLA for CPU places copies before"
    " it knows the schedule.",
    "pytorch": "No change of the program is known to remove it.",
}


class _Case(NamedTuple):
    """Copies of one old value, in the schedule's order."""

    copies: tuple[StoredValue, ...]
    name: str
    """Name of the input or carry that is copied."""
    kind: str
    """`_DONATED`, `_STATE` or `_RESULT`."""


class _Reason(NamedTuple):
    """The common reason of cases."""

    title: str
    text: str
    """Text in which `{}` stands for the name."""
    place: tuple[str | None, int | None]
    remedies: tuple[tuple[str, str], ...]
    doubt: str | None = None
    likelihood: float = 1.0
    is_fact: bool = False
    """True if no change of the program is known."""
    waits: bool = False
    """True if only a barrier between all gradients and the update orders the readers."""


def forced_copies(program: PeakProgram) -> Iterator[Cause]:
    """Yield a cause for each reason to copy donated inputs and the state of loops."""
    moved, places = moved_carries(program)
    found: defaultdict[_Reason, defaultdict[str, list[_Case]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for case in _cases(program):
        reason = _reason(program, case, moved, places)
        if reason is not None:
            # a line may read several old values, each written elsewhere
            found[reason._replace(text="")][reason.text].append(case)
    for reason, cases in found.items():
        yield _cause(program, reason, cases)


def _cases(program: PeakProgram) -> list[_Case]:
    """Return the cases; copies of what is written into copies belong to the case of these."""
    cases: list[_Case] = []
    written: dict[int, int] = {}
    for copies in _chains(program):
        case = _case(program, copies)
        if case is not None:
            cases.append(case)
            into = len(cases) - 1
        else:
            source = program.program.by_id[copies[0].value_id].operands[0]
            into = written.get(program.program.by_id[source].buffer_set, -1)
            if into < 0:
                continue
            cases[into] = cases[into]._replace(copies=cases[into].copies + copies)
        for copy in copies:
            written[program.program.by_id[copy.value_id].buffer_set] = into
    return cases


def _chains(program: PeakProgram) -> Iterator[tuple[StoredValue, ...]]:
    """Yield the copies of each value with the copies of these."""
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    chains: defaultdict[int, list[StoredValue]] = defaultdict(list)
    origins: dict[int, int] = {}
    for planned in sorted(program.program.values, key=begin_of):
        value = program.values[planned.value_id]
        if not planned.is_copy or not planned.operands or planned.size_bytes < least:
            continue
        source = planned.operands[0]
        if value.memory_space != program.memory_space or source not in program.program.by_id:
            continue
        if is_copied_into_another_layout(program, value):
            continue
        if program.values[source].memory_space == program.memory_space:
            origins[value.value_id] = origins.get(source, source)
            chains[origins[value.value_id]].append(value)
    for chain in chains.values():
        yield tuple(chain)


def _case(program: PeakProgram, copies: tuple[StoredValue, ...]) -> _Case | None:
    """Return the copies as a case if they copy, or are copied over, an input or loop state."""
    planned = program.program.by_id[copies[0].value_id]
    sets = [program.program.by_id[planned.operands[0]].buffer_set]
    sets += [program.program.by_id[each.value_id].buffer_set for each in copies]
    for buffer_set in sets:
        members = program.program.sets[buffer_set]
        known = [program.values[member.value_id] for member in members]
        merged = [each for each in known if each.is_phi]
        kind = _STATE if any(each.opcode != "conditional" for each in merged) else _RESULT
        given = [each for each, member in zip(known, members, strict=True) if member.is_stored]
        if given and any(member.lives_out for member in members):
            return _Case(copies, input_name(given[0]), kind if kind == _STATE else _DONATED)
        if merged:
            return _Case(copies, merged[0].attributed_op_name or merged[0].label, kind)
    return None


def _reason(
    program: PeakProgram,
    case: _Case,
    moved: Mapping[int, tuple[str, int, int]],
    places: Mapping[int, tuple[str, int]],
) -> _Reason | None:
    source = program.program.by_id[case.copies[0].value_id].operands[0]
    copied = program.values[source]
    if repeats_a_number(program, copied) or _is_copied_again(program, case.copies[0], copied):
        return None
    if source in moved:
        return _of_move(program, moved[source], moved)
    old = program.program.by_id[source]
    found = old_value(program, case.copies)
    if old.is_stored and any(
        program.program.by_id[each.value_id].lives_out for each in case.copies
    ):
        if found is not None and found.readers:  # without the result they would force the copy
            return None
        # `unchanged_inputs` names those that are not donated
        if case.kind == _DONATED or program.compilation.is_donated(source):
            return _Reason(
                "A donated input is also returned, so it is copied",
                "the caller gets a copy of {}, donated and also returned",
                program.place_of(case.copies[0].name),
                tuple(_RETURNED.items()),
            )
        return None
    if found is not None:
        return _of_readers(program, case, found)
    # a carry makes room for the one that takes its place
    place = places.get(source)
    movers = (each for each in moved.values() if place == (each[0], each[2]))
    return next((_of_move(program, each, moved) for each in movers), None)


def _is_copied_again(program: PeakProgram, copy: StoredValue, source: StoredValue) -> bool:
    """Return True if each iteration of a loop copies a value from before the loop.

    The next iteration needs it too, whatever else reads it.
    """
    schedulable, made = program.schedulable, program.rows.get(source.name)
    at = program.rows.get(copy.name)
    if schedulable is None or made is None:
        return False
    around = {schedulable.owners[each] for each in callers(schedulable, made)}
    while at is not None and schedulable.owners[at] not in around:
        at = schedulable.callers.get(schedulable.owners[at])
        if at is not None and schedulable.instructions[at].opcode == "while":
            return True
    return False


def _of_move(
    program: PeakProgram,
    place: tuple[str, int, int],
    moved: Mapping[int, tuple[str, int, int]],
) -> _Reason:
    loop, one, other = place
    names = {
        each[1]: program.values[value].attributed_op_name
        for value, each in moved.items()
        if each[0] == loop
    }
    first, second = (_carry(each, names.get(each)) for each in sorted((one, other)))
    if (loop, other, one) in moved.values():
        title = "Two loop carries swap places, so the old value is copied in every iteration"
        text = f"{first} and {second} swap places in every iteration"
    else:
        title = "A loop carry moves to another place, so it is copied in every iteration"
        moved_one, place_of = (first, second) if one < other else (second, first)
        text = f"{moved_one} takes the place of {place_of} in every iteration"
    return _Reason(title, text, program.place_of(loop), tuple(_MOVED.items()))


def _carry(place: int, name: str | None) -> str:
    """Return the name of a carry, else its place in the tuple of the loop."""
    return f"element {place} of the loop's state" if not name or "/" in name else f"carry {name}"


def _of_readers(program: PeakProgram, case: _Case, old: OldValue) -> _Reason | None:
    writer = _stated_write(program, old.writer)
    written = place_name(program, _stated_write(program, old.write))
    if not old.readers:
        return _Reason(
            f"The compiler keeps a copy of {case.kind} that no reader needs",
            "every reader of the old {} is ordered before " + written + ", which overwrites it",
            program.place_of(writer),
            tuple(_NOT_ELIDED.items()),
            "the compiler did not elide the copy; no change is known to remove it",
            0.2,
            is_fact=True,
        )
    if knows_passes(program) and all(map(program.is_backward, (old.writer, *old.readers))):
        return None  # JAX writes the backward pass: no line of the program orders it
    if any(replaced_by_parts(program, each) for each in program.made_by.get(old.writer, ())):
        return None  # the parts read the old value, and `restacked_states` names them
    places = [place_of_read(program, reader, old.value_ids) for reader in old.readers]
    reads = list(zip(places, old.readers, strict=True))
    if any(repeats_write(program, *each, old.writer) for each in reads) or all(
        is_same_expression(program, reader, writer) or is_in_call(program, place, reader, writer)
        for place, reader in reads
    ):
        return None  # no line of the program can be put before another one
    readers = list(dict.fromkeys(_line(program, *each) for each in reads))
    text = " and ".join(readers[:2])
    if len(readers) > 2:
        text = f"{readers[0]} and {len(readers) - 1} other lines"
    text += f" {'reads' if len(readers) == 1 else 'read'} the old {{}}"
    if old.needs_both:
        text += f" and what {written} writes over it"
    else:
        text += f", and nothing orders this before {written}, which overwrites it"
    drops_barriers = not program.compilation.keeps_barriers
    reads_backward = any(map(program.is_backward, old.readers))
    is_backward = not knows_passes(program) or reads_backward
    waits = knows_passes(program) and reads_backward and not (drops_barriers or old.needs_both)
    return _Reason(
        f"A reader of the old value forces a copy of {case.kind}",
        text,
        (places[0].file, places[0].line),
        tuple(remedies_of_readers(program, reads, needs_both=old.needs_both, waits=waits).items()),
        _CPU if drops_barriers and is_backward else None,
        0.7 if drops_barriers and is_backward else 1.0,
        waits=waits,
    )


def _stated_write(program: PeakProgram, writer: str) -> str:
    """Return the instruction that computes what a copy or a collective without a line writes."""
    while program.place_of(writer)[0] is None and program.instructions[writer].op_name is None:
        read = program.read_by.get(writer, ())
        if len(read) != 1:
            break
        writer = program.values[read[0]].name
    return writer


def _line(program: PeakProgram, place: PlaceOfRead, instruction: str) -> str:
    """Return the line of a read with its op, or the name of the instruction."""
    line = file_and_line(place.file, place.line)
    return f"{line} ({place.op})" if line and place.op else line or place_name(program, instruction)


def _cause(program: PeakProgram, reason: _Reason, by_text: Mapping[str, list[_Case]]) -> Cause:
    file, line = reason.place
    rows = [
        evidence_row(
            copy, text.format(pattern_of(each.name for each in cases)), file=file, line=line
        )
        for text, cases in by_text.items()
        for case in cases
        for copy in case.copies
    ]
    rows.sort(key=lambda row: -int(str(row["sizeBytes"])))
    return Cause(
        "alias/copies",
        reason.title,
        ChangeKind.WITHOUT,
        edit_of_copies(program, [str(row["value"]) for row in rows], waits=reason.waits),
        tuple(rows),
        dict(reason.remedies),
        reason.doubt,
        is_exact=True,
        is_fact=reason.is_fact,
        likelihood=reason.likelihood,
    )
