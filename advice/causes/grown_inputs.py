"""Find inputs that a program returns with a few elements more, such as a cache of a decoder.

A concatenation has another shape than the input, so that both exist and the input cannot be
donated. A buffer of the final length can be donated, and is updated in place.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, of_avoidable
from xlagraph.advice.causes.names import input_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue

_LEAST_OLD: Final = Fraction(3, 4)
"""Least part of such a result that the input has already."""
_JOINING: Final = ("concatenate", "pad", "dynamic-update-slice")
_LENGTH_UNKNOWN: Final = "only if its final length is known before"
_REMEDIES: Final[Remedies] = {
    "jax": "Let the caller create the array once, with its final length; write into it with"
    " jax.lax.dynamic_update_slice instead of jnp.concatenate, return it and donate it"
    " (donate_argnums). The program is then compiled once, not for each length.",
    "tensorflow": "Keep a tf.Variable of the final length, and assign to a slice of it.",
    "pytorch": "Keep a tensor of the final length, and write to a slice of it in place.",
}


def grown_inputs(program: PeakProgram) -> Iterator[Cause]:
    """Yield the results that consist of an input and a few elements more."""
    found = [
        (value, f"{input_name(old)} with {_more(old, value)} more: both exist")
        for value in program.own_results
        if (old := _old_part(program, value)) is not None
    ]
    if found:
        yield of_avoidable(
            program.compilation,
            "alias/not-donated",
            "An input grows by a few elements, so the old and the new array exist",
            found,
            _REMEDIES,
            is_exact=True,
            doubt=_LENGTH_UNKNOWN,
        )


def _old_part(program: PeakProgram, value: StoredValue) -> StoredValue | None:
    """Return the input that a result consists of, apart from a few elements."""
    maker = program.instructions.get(value.name)
    if maker is None or not any(maker.computes_with(each) for each in _JOINING):
        return None
    lengths = value.dimensions
    for each in program.read_by.get(maker.name, ()):
        old, planned = program.values[each], program.program.by_id.get(each)
        if planned is None or not planned.is_stored or planned.lives_out:
            continue
        if old.dtype != value.dtype or len(old.dimensions) != len(lengths):
            continue
        grown = [one < other for one, other in zip(old.dimensions, lengths, strict=True)]
        others = sum(one > other for one, other in zip(old.dimensions, lengths, strict=True))
        if sum(grown) == 1 and not others and prod(old.dimensions) >= _LEAST_OLD * prod(lengths):
            return old
    return None


def _more(old: StoredValue, new: StoredValue) -> int:
    """Return the additional elements of the dimension in which two arrays differ."""
    return sum(new.dimensions) - sum(old.dimensions)
