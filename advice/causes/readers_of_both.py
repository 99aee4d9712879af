"""Say what helps if a reader of an old value also reads what is written over it."""

from collections.abc import Collection
from typing import Final

from xlagraph.advice.causes.cause import Remedies
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.places_of_reads import PlaceOfRead

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


def remedies_of_both(program: PeakProgram, reads: Collection[tuple[PlaceOfRead, str]]) -> Remedies:
    """Return what helps against readers, given with the places of their reads.

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
