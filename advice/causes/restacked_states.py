"""Find arrays whose parts are taken, updated one by one, and joined again to the whole array.

A Python loop over the layers of a cache does this, if it collects the new caches in a list and
stacks them: the parts exist next to the old array and the new one.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.copied_inputs import SLICING
from xlagraph.advice.causes.joined_values import joined_values
from xlagraph.advice.causes.names import pattern_of, place_name
from xlagraph.advice.causes.old_values import is_alike, written_in_part
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import Operation
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_RESTACKED: Final[Remedies] = {
    "jax": "Write only what changes into the whole array, state.at[i, ...].set(change) or"
    " jax.lax.dynamic_update_slice(state, change, (i, ...)), instead of stacking a list of new"
    " parts; or keep the parts as separate arrays, a list or dict, in the state.",
    "tensorflow": "Write only what changes into the tensor (tf.tensor_scatter_nd_update) instead of"
    " stacking a list of new parts; or keep a tf.Variable for each part.",
    "pytorch": "Write only what changes into the tensor, state[i, ...].copy_(change), instead of"
    " torch.stack; or keep a tensor for each part.",
}


_COMPUTED: Final[Remedies] = {
    "jax": "Compute all parts in one operation, jax.vmap over the first dimension; or one part"
    " after another in jax.lax.fori_loop, which writes each with state.at[i].set(part); or keep the"
    " parts as separate arrays, a list or dict, in the state.",
    "tensorflow": "Compute all parts in one operation (tf.vectorized_map); or keep a tf.Variable"
    " for each part.",
    "pytorch": "Compute all parts in one operation (torch.func.vmap); or keep a tensor for each"
    " part.",
}
_LEAST_PARTS: Final = 3
"""Least parts that are one element of the state each: two may be halves of one vector."""


class _Restacked(NamedTuple):
    """An array that is joined from parts of an old one."""

    whole: StoredValue
    old: StoredValue
    """The old array, or a copy of it."""
    parts: tuple[StoredValue, ...]
    """New parts, and those of the old array that they are written into."""


def restacked_states(program: PeakProgram) -> Iterator[Cause]:
    """Yield the parts of arrays that are updated or computed one by one and joined again."""
    yield from _cause(
        program,
        "An array is taken apart, and its new parts are stacked again",
        _restacked(program),
        _RESTACKED,
        "only if nothing else still reads the old array",
    )
    yield from _cause(
        program,
        "Parts of an array are computed one by one and stacked again",
        _recomputed(program),
        _COMPUTED,
    )


def _cause(
    program: PeakProgram,
    title: str,
    found: Iterator[_Restacked],
    remedies: Remedies,
    doubt: str | None = None,
) -> Iterator[Cause]:
    rows = []
    removed: list[str] = []
    for whole, old, parts in found:
        copies = [old] if old.opcode == "copy" else []
        reason = (
            f"{place_name(program, whole.name)} joins the new parts of"
            f" {pattern_of([old.attributed_op_name or old.label])} again"
        )
        for value in sorted((*copies, *parts), key=lambda each: -each.size_bytes):
            rows.append(evidence_row(value, reason))
            removed.append(value.label)
    if rows:
        yield of_removed(
            program.compilation,
            "alias/copies",
            title,
            removed,
            rows,
            remedies,
            doubt,
            is_exact=True,
            likelihood=0.9,
        )


def _restacked(program: PeakProgram) -> Iterator[_Restacked]:
    for planned in program.program.values:
        whole = program.values[planned.value_id]
        new_parts: list[StoredValue] = []
        old_parts: list[StoredValue] = []
        sources: dict[int, StoredValue] = {}
        for value_id in _parts_of(program, whole):
            new = program.values[value_id]
            taken = _updated_part(program, new)
            if taken is None or 2 * new.size_bytes > whole.size_bytes:
                continue
            old = [program.values[each] for each in sorted(program.sources_of(taken))]
            source = next(filter(None, (_taken_from(program, each, whole) for each in old)), None)
            if source is not None:
                sources[source.value_id] = source
                new_parts.append(new)
                old_parts += [each for each in old if each.size_bytes == taken.size_bytes]
        # the joining instruction may write some of them itself
        is_half = 2 * sum(each.size_bytes for each in new_parts) >= whole.size_bytes
        if is_half and len(sources) == 1:
            (source,) = sources.values()
            if _is_state(program, source):
                yield _Restacked(whole, source, (*new_parts, *old_parts))
        rewritten = _updated_within(program, whole)
        if rewritten and rewritten.opcode == "copy" and _is_state(program, rewritten):
            yield _Restacked(whole, rewritten, ())


def _updated_within(program: PeakProgram, whole: StoredValue) -> StoredValue | None:
    """Return the array whose parts a fusion updates and joins again, none of which is stored."""
    opcodes = ("concatenate", "dynamic-update-slice")
    is_update = all(program.computes_with(whole.name, each) for each in opcodes)
    fusion = program.operations.get(whole.name) if is_update else None
    if fusion is None:
        return None
    fused = {each.name: each for each in program.fused_operations(fusion)}

    def first(operation: Operation) -> Operation:
        while operation.opcode in SAME_ELEMENTS and operation.operands:
            operation = fused[operation.operands[0].name]
        return operation

    def operand(part: Operation) -> Sequence[int]:
        for opcode in ("dynamic-update-slice", "slice"):
            part = first(part)
            if part.opcode != opcode:
                return ()
            part = fused[part.operands[0].name]
        return tuple(part.numbers.get("number", ()))

    joined = [each for each in fused.values() if each.opcode == "concatenate"]
    if len(joined) != 1 or joined[0].lengths != whole.dimensions:
        return None
    taken = {operand(fused[each.name]) for each in joined[0].operands}
    read = (
        program.values[each.value_id]
        for each in program.uses_by.get(whole.name, ())
        if taken == {(each.operand,)}
    )
    return next((each for each in read if each.dimensions == whole.dimensions), None)


def _parts_of(program: PeakProgram, whole: StoredValue) -> Sequence[int]:
    """Return the ids of the values that an instruction joins, even if it computes with them."""
    maker = program.instructions.get(whole.name)
    if maker is not None and maker.computes_with("concatenate") and whole.dimensions:
        return program.read_by.get(whole.name, ())
    return joined_values(program, whole)


def _recomputed(program: PeakProgram) -> Iterator[_Restacked]:
    """Yield arrays that are written over an old one, and whose parts are computed from it."""
    for planned in program.program.values:
        whole = program.values[planned.value_id]
        old = replaced_by_parts(program, whole)
        if old is not None:
            parts = (program.values[each] for each in program.read_by[whole.name])
            yield _Restacked(whole, old, tuple(parts))


def replaced_by_parts(program: PeakProgram, whole: StoredValue) -> StoredValue | None:
    """Return the donated array, or its copy, from whose parts those of a new array are computed."""
    joining = program.instructions.get(whole.name)
    parts = [program.values[each] for each in program.read_by.get(whole.name, ())]
    if (
        joining is None
        or joining.opcode != "concatenate"
        or len(parts) < _LEAST_PARTS
        or any(each.dimensions != (1, *whole.dimensions[1:]) for each in parts)
    ):
        return None
    members = program.members_of(whole)
    over = {each.value_id for each in members if each.is_stored}
    sources: set[int] = set()
    for part in parts:
        maker = program.instructions[part.name]
        read = program.read_by.get(part.name, ())
        taken = [
            each for each in read if not over.isdisjoint(program.sources_of(program.values[each]))
        ]
        if len(taken) != 1 or not any(map(maker.computes_with, SLICING)):
            return None
        sources |= set(taken)
    return program.values[sources.pop()] if len(sources) == 1 else None


def _updated_part(program: PeakProgram, new: StoredValue) -> StoredValue | None:
    """Return the part of which a new one has all but a few elements, in its bytes or in others."""
    maker = program.instructions.get(new.name)
    if maker is None or not maker.computes_with("dynamic-update-slice"):
        return written_in_part(program, new)
    read = (program.values[each] for each in program.read_by.get(new.name, ()))
    alike = [each for each in read if is_alike(each, new)]
    return alike[0] if len(alike) == 1 else None


def _taken_from(program: PeakProgram, part: StoredValue, whole: StoredValue) -> StoredValue | None:
    """Return the array of the whole's dimensions of which a part is a slice."""
    maker = program.instructions.get(part.name)
    if maker is None or not any(map(maker.computes_with, SLICING)):
        return None
    read = (program.values[each] for each in program.read_by.get(part.name, ()))
    same = [each for each in read if each.dimensions == whole.dimensions]
    return same[0] if len(same) == 1 else None


def _is_state(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for an input, the state of a loop, and their copies."""
    known = (program.values[each] for each in program.sources_of(value))
    return any(each.is_phi or each.opcode == "parameter" for each in known)
