"""Find states whose rows are moved by a few places, such as the window of a decoder's cache.

    state = concatenate((state[1:], row))      or roll(state, -1), then state[-1] = row

All rows are written at other places, so the old and the new array exist, even if the state is
donated. A row that is written over the oldest one leaves the others where they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, of_avoidable
from xlagraph.advice.causes.names import input_name, place_name
from xlagraph.advice.causes.old_values import is_ordered_before, written_in_part
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import Operation

_LEAST_KEPT: Final = Fraction(7, 8)
"""Least part of the rows that only move. Of few rows, such as stacked frames, the order matters."""
_DOUBT: Final = "only if what reads the rows needs no order of them, or only a few in order"
_REMEDIES: Final[Remedies] = {
    "jax": "Write the new rows over the oldest ones and leave the others where they are:"
    " jax.lax.optimization_barrier(state.at[i % n].set(row)), with a counter i in the state."
    " Without the barrier a reader may compute the new state once more and keep the old one. Return"
    " the state and donate it (donate_argnums). Where the order matters, read only the rows that"
    " are needed: jnp.take(state, (i + jnp.arange(k)) % n, axis=0).",
    "tensorflow": "Keep a counter, and assign the new rows over the oldest ones of the tf.Variable"
    " instead of tf.concat or tf.roll.",
    "pytorch": "Keep a counter, and write the new rows over the oldest ones of the tensor in place"
    " instead of torch.cat or torch.roll.",
}


def shifted_states(program: PeakProgram) -> Iterator[Cause]:
    """Yield the arrays that a state becomes by moving all but a few of its rows."""
    found: list[tuple[StoredValue, str]] = []
    for name, known in program.instructions.items():
        joins = known.computes_with("concatenate") or known.computes_with("pad")
        for value in program.made_by.get(name, ()) if joins else ():
            kept = tuple(_kept_rows(program, value))
            old = _moved(program, value, kept)
            if old is not None:
                line = place_name(program, kept[0].name if kept else name)
                reason = f"{line} moves nearly all rows of {_name(old)}"
                new = _new_states(program, old, value)
                is_in_place = program.set_of(value) == program.set_of(old)
                found += [(each, reason) for each in (*new, *(kept if new or is_in_place else ()))]
    if found:
        yield of_avoidable(
            program.compilation,
            "alias/copies",
            "The rows of a state are moved, so the old and the new array exist",
            found,
            _REMEDIES,
            is_exact=True,
            doubt=_DOUBT,
        )


def _moved(
    program: PeakProgram, value: StoredValue, kept: Sequence[StoredValue]
) -> StoredValue | None:
    """Return what a value consists of, apart from a few rows, if nothing else must read it later.

    The rows may be kept as slices. A reader on which the value depends, as a draw from a buffer,
    runs before any write.
    """
    if not value.dimensions or program.planned(value) is None:
        return None
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    same = [each for each in read if each.shape == value.shape]
    for rows in kept:
        same += (program.values[each] for each in program.read_by[rows.name])
    if len(same) != 1 or not _moves(program, value, kept):
        return None
    readers = program.readers_of.get(same[0].value_id, ())
    others = {each for each in readers if program.instructions[each].opcode not in PASSING_ON}
    others -= {each.name for each in kept}
    return same[0] if all(_is_read_first(program, each, value) for each in others) else None


def _is_read_first(program: PeakProgram, reader: str, value: StoredValue) -> bool:
    schedulable, rows = program.schedulable, program.rows
    return reader == value.name or (
        schedulable is not None
        and reader in rows
        and is_ordered_before(schedulable, rows[reader], rows[value.name])
    )


def _moves(program: PeakProgram, value: StoredValue, kept: Sequence[StoredValue]) -> bool:
    """Return True for a fusion that joins most rows of one operand with those of others.

    A fusion that only turns the rows around needs others that are written into its result.
    """
    fusion = program.operations.get(value.name)
    fused = () if fusion is None else program.fused_operations(fusion)
    inside = {each.name: each for each in fused}
    if any(_pads_elsewhere(program, each, inside) for each in kept):
        return True
    for each in fused:
        if each.opcode != "concatenate":
            continue
        most = [one.name for one in each.operands if _is_most(inside, one.name, each, value)]
        others = [one.name for one in each.operands if one.name not in most]
        if most and (_reads_others(inside, others, value) or _is_written_into(program, value)):
            return True
    return False


def _kept_rows(program: PeakProgram, value: StoredValue) -> Iterator[StoredValue]:
    """Yield slices of nearly all rows of an old state that make a new one, as a TPU stores them."""
    for value_id in program.read_by.get(value.name, ()):
        kept = program.values[value_id]
        if program.instructions[kept.name].opcode == "slice":
            read = (program.values[each] for each in program.read_by.get(kept.name, ()))
            if any(
                each.shape == value.shape and _is_nearly_all(kept.dimensions, each.dimensions)
                for each in read
            ):
                yield kept


def _pads_elsewhere(
    program: PeakProgram, kept: StoredValue, inside: Mapping[str, Operation]
) -> bool:
    """Return True if a fusion puts a slice at another place next to others: max(pad, pad)."""
    slicing = program.operations.get(kept.name)
    start = slicing.numbers["slice"][::3] if slicing else ()
    for each in inside.values():
        parts = [inside[one.name] for one in each.operands if each.opcode == "maximum"]
        moved = [
            part.name
            for part in parts
            if part.opcode == "pad"
            and inside[part.operands[0].name].lengths == kept.dimensions
            and part.numbers["padding"][::3] != start
        ]
        others = [part.name for part in parts if part.name not in moved]
        if moved and _reads_others(inside, others, kept):
            return True
    return False


def _reads_others(
    inside: Mapping[str, Operation], names: Iterable[str], value: StoredValue
) -> bool:
    """Return True if operations of a fusion depend on an operand of other dimensions."""
    needed = reached(names, lambda name: [each.name for each in inside[name].operands])
    return any(
        inside[name].opcode == "parameter" and inside[name].lengths != value.dimensions
        for name in needed
    )


def _is_written_into(program: PeakProgram, value: StoredValue) -> bool:
    readers = program.readers_of.get(value.value_id, ())
    made = [each for name in readers for each in program.made_by.get(name, ())]
    return any(written_in_part(program, each) == value for each in made)


def _is_most(
    inside: Mapping[str, Operation], name: str, joined: Operation, value: StoredValue
) -> bool:
    """Return True for nearly all rows of an operand of the fusion that has the value's dimensions.

    They are sliced before they are joined with others, or the joined ones are sliced.
    """
    part = whole = inside[name]
    if part.opcode == "slice":
        whole = inside[part.operands[0].name]
    if whole.opcode != "parameter" or whole.lengths != value.dimensions:
        return False
    if part is whole and not any(
        each.opcode == "slice"
        and each.lengths == value.dimensions
        and each.operands[0].name == joined.name
        for each in inside.values()
    ):
        return False
    sizes = (whole, joined) if part is whole else (part, whole)
    return _is_nearly_all(*(each.lengths for each in sizes))


def _is_nearly_all(part: Sequence[int], whole: Sequence[int]) -> bool:
    """Return True for a part of one dimension with most of its elements."""
    kept = [
        Fraction(taken, length) for taken, length in zip(part, whole, strict=True) if taken < length
    ]
    return len(kept) == 1 and kept[0] >= _LEAST_KEPT


def _new_states(
    program: PeakProgram, old: StoredValue, value: StoredValue
) -> Sequence[StoredValue]:
    """Return a value and what is written into it, up to the next state after an old one.

    The next state is copied into the bytes of the old one, unless it is returned next to an input
    that is not donated. Nothing is returned for a value that becomes no state.
    """
    moved = {each.value_id: program.values[each.value_id] for each in program.members_of(value)}
    planned = program.planned(old)
    if planned is not None and planned.is_stored and value in program.own_results:
        return tuple(moved.values())
    for copy in program.members_of(old):
        for operand in copy.operands if copy.is_copy else ():
            state: StoredValue | None = program.values[operand]
            written: list[StoredValue] = []
            while state is not None and state.value_id not in moved:
                written.append(state)
                state = written_in_part(program, state)
            if state is not None:
                return (*moved.values(), *written)
    return ()


def _name(state: StoredValue) -> str:
    return f"a loop's state {state.shape}" if state.is_phi else input_name(state)
