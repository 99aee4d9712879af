"""Find arrays whose parts are taken, updated one by one, and joined again to the whole array.

A Python loop over the layers of a cache does this, if it collects the new caches in a list and
stacks them: the parts exist next to the old array and the new one.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.copied_inputs import SLICING
from xlagraph.advice.causes.names import pattern_of, place_name
from xlagraph.advice.causes.old_values import written_in_part
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.resizing import Remove
from xlagraph.queries.catalogue.declarations import ChangeKind

_RESTACKED: Final[Remedies] = {
    "jax": "Write only what changes into the whole array, state.at[i, ...].set(change) or"
    " jax.lax.dynamic_update_slice(state, change, (i, ...)), instead of stacking a list of new"
    " parts; or keep the parts as separate arrays, a list or dict, in the state.",
    "tensorflow": "Write only what changes into the tensor (tf.tensor_scatter_nd_update) instead of"
    " stacking a list of new parts; or keep a tf.Variable for each part.",
    "pytorch": "Write only what changes into the tensor, state[i, ...].copy_(change), instead of"
    " torch.stack; or keep a tensor for each part.",
}


class _Restacked(NamedTuple):
    """An array that is joined from parts of an old one."""

    whole: StoredValue
    old: StoredValue
    """The old array, or a copy of it."""
    parts: tuple[StoredValue, ...]
    """New parts, and those of the old array that they are written into."""


def restacked_states(program: PeakProgram) -> Iterator[Cause]:
    """Yield the parts of arrays that are updated one by one and joined again."""
    rows = []
    removed: list[str] = []
    for whole, old, parts in _restacked(program):
        copies = [old] if old.opcode == "copy" else []
        reason = (
            f"{place_name(program, whole.name)} joins the new parts of"
            f" {pattern_of([old.attributed_op_name or old.label])} again"
        )
        for value in sorted((*copies, *parts), key=lambda each: -each.size_bytes):
            rows.append(evidence_row(value, reason))
            removed.append(value.label)
    if rows:
        yield Cause(
            "alias/copies",
            "An array is taken apart, and its new parts are stacked again",
            ChangeKind.WITHOUT,
            Remove.of(program.compilation, removed),
            tuple(rows),
            _RESTACKED,
            "only if nothing else still reads the old array",
            is_exact=True,
            likelihood=0.9,
        )


def _restacked(program: PeakProgram) -> Iterator[_Restacked]:
    for planned in program.program.values:
        whole = program.values[planned.value_id]
        maker = program.instructions.get(whole.name)
        if maker is None or not maker.computes_with("concatenate") or not whole.dimensions:
            continue
        new_parts: list[StoredValue] = []
        old_parts: list[StoredValue] = []
        sources: dict[int, StoredValue] = {}
        for value_id in program.read_by.get(whole.name, ()):
            new = program.values[value_id]
            taken = written_in_part(program, new)
            if taken is None or 2 * new.size_bytes > whole.size_bytes:
                continue
            source = _taken_from(program, taken, whole)
            if source is not None:
                sources[source.value_id] = source
                new_parts.append(new)
                old_parts.append(taken)
        # the joining instruction may write some of them itself
        is_half = 2 * sum(each.size_bytes for each in new_parts) >= whole.size_bytes
        if is_half and len(sources) == 1:
            (source,) = sources.values()
            if _is_state(program, source):
                yield _Restacked(whole, source, (*new_parts, *old_parts))


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
