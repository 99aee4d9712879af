"""Remedies if a reader of an old value forces a copy, and the edit that is replanned for them."""

from collections.abc import Collection
from typing import Final

from xlagraph.advice.causes.cause import Remedies
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.places_of_reads import PlaceOfRead
from xlagraph.planner.edits.edit import Edit
from xlagraph.planner.edits.resizing import Remove
from xlagraph.planner.edits.waiting_writes import WaitForGradients

_NEW: Final[Remedies] = {
    "jax": "Let the reader use the new value, if the result may change",
    "tensorflow": "Let the reader use the new value, if the result may change",
    "pytorch": "Let the reader use the new tensor, if the result may change",
}
_ORDERED: Final[Remedies] = {
    "jax": "; or order it before the write: old, result = jax.lax.optimization_barrier((old,"
    " result)), then compute the new value from this old.",
    "tensorflow": "; or order it before the assignment with tf.control_dependencies.",
    "pytorch": "; or read the old tensor before the in-place op.",
}
_WAITING: Final[Remedies] = {
    **_ORDERED,
    "jax": "; or order the backward pass before the update: params, grads ="
    " jax.lax.optimization_barrier((params, grads)), then update these params with these grads.",
}
_NOT_ORDERED: Final[Remedies] = {
    "jax": "; or let what is written depend on the reader's result, such as update + 0.0 * result,"
    " so that the reader must run first. jax.lax.optimization_barrier does not help on CPU: the"
    " compiler drops it before it places copies.",
    "tensorflow": ".",
    "pytorch": ".",
}
_NEEDS_BOTH: Final[Remedies] = {
    "jax": "Let the reader use only the new value, if the result may change; or compute its result"
    " from the part that is written: the update, and the old part, read before the write"
    " (jax.lax.dynamic_slice). No order helps: it reads the old value and the new one.",
    "tensorflow": "Let the reader use only the new value, if the result may change; or compute its"
    " result from the part that is written. No order helps: it reads both.",
    "pytorch": "Let the reader use only the new tensor, if the result may change; or compute its"
    " result from the part that is written. No order helps: it reads both.",
}
_MAPPED: Final[Remedies] = {
    **_NEEDS_BOTH,
    "jax": "Write the loop outside of jax.vmap: one jax.lax.while_loop whose condition is jnp.any"
    " over the batch and whose body is mapped by jax.vmap, and let a finished example write where"
    " nothing is read. jax.vmap of a while_loop instead selects for each example between its old"
    " state, if it is finished, and the new one.",
}


def remedies_of_readers(
    program: PeakProgram,
    reads: Collection[tuple[PlaceOfRead, str]],
    *,
    needs_both: bool,
    waits: bool,
) -> Remedies:
    """Return what helps against readers, given with the places of their reads.

    `needs_both`: one of them also reads what is written. `waits`: see `edit_of_copies`.
    """
    if needs_both:
        return _remedies_of_both(program, reads)
    second = _ORDERED if program.compilation.keeps_barriers else _NOT_ORDERED
    second = _WAITING if waits else second
    return {framework: start + second[framework] for framework, start in _NEW.items()}


def edit_of_copies(program: PeakProgram, labels: Collection[str], *, waits: bool) -> Edit:
    """Return the edit that removes copies of old values.

    `waits`: the readers are ordered by a barrier between all gradients and the update.
    """
    copies = Remove.of(program.compilation, labels)
    return WaitForGradients(copies, _read_of_backward_pass(program)) if waits else copies


def _remedies_of_both(program: PeakProgram, reads: Collection[tuple[PlaceOfRead, str]]) -> Remedies:
    """Return what helps against readers that also read what is written.

    A select with the name of a loop is what `jax.vmap` adds to a loop that ends at another time
    for each example.
    """
    is_mapped = all(
        place.op == "while"
        and program.instructions[reader].opcode != "while"
        and program.computes_with(reader, "select")
        for place, reader in reads
    )
    return _MAPPED if is_mapped else _NEEDS_BOTH


def _read_of_backward_pass(program: PeakProgram) -> frozenset[int]:
    """Return the values of the backward pass, such as gradients, that what follows it reads."""
    planned, values = program.program.by_id, program.values
    return frozenset(
        read
        for value in planned.values()
        if value.is_in_entry and not values[value.value_id].is_backward
        for read in value.reads
        if read in planned and planned[read].is_in_entry and values[read].is_backward
    )
