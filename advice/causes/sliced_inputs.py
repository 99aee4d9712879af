"""Find inputs of which the program reads a slice, such as a whole data set on the device."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, of_smaller
from xlagraph.advice.causes.copied_inputs import SLICING
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.parts_of_devices import ON_EACH_DEVICE
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.sliced_reads import share_of_reads

_LEAST_SHARE: Final = 0.02
"""Smallest share of the reserved bytes for which an input is searched."""
_MOST_READ: Final = Fraction(1, 4)
_MAY_BE_NEEDED: Final = "only if the rest need not be on the device between two calls"
_REMEDIES: Final[Remedies] = {
    "jax": "Keep the whole array on the host, and pass the slice: batch = jax.device_put(data[i :"
    " i + n]) before the call, that of the next step while this one runs.",
    "tensorflow": "Pass batches of a tf.data.Dataset, which keeps the data on the host.",
    "pytorch": "Keep the tensor on the host, and move the slice to the device.",
}


def sliced_inputs(program: PeakProgram) -> Iterator[Cause]:
    """Yield inputs of which slices are read, other than by loops, and nothing reads the rest.

    Devices of which each takes its own slice share an input.
    """
    if any(each.opcode in ON_EACH_DEVICE for each in program.instructions.values()):
        return
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    found = []
    for value in program.compilation.array_parameters:
        planned = program.planned(value)
        if planned is None or planned.lives_out or value.memory_space != program.memory_space:
            continue
        readers = set(program.readers_of.get(value.value_id, ()))
        if value.size_bytes < least or not readers:
            continue
        share = share_of_reads(program, {value.value_id}, readers, SLICING)
        if share <= _MOST_READ and not program.compilation.is_donated(value.value_id):
            reader = min(readers, key=lambda name: (program.rows.get(name, 0), name))
            place = place_name(program, reader)
            found.append((value, f"{place} reads {share} of it", share))
    if found:
        found.sort(key=lambda each: (-each[0].size_bytes, each[0].value_id))
        yield of_smaller(
            program.compilation,
            "Only a slice of an input is read",
            found,
            _REMEDIES,
            doubt=_MAY_BE_NEEDED,
        )
