"""Parts of arrays that each device takes by its number."""

from collections.abc import Iterator
from typing import Final

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.walks import reached

ON_EACH_DEVICE: Final = ("partition-id", "replica-id")
"""Opcodes of the number of the device."""


def takes_part_of_device(program: PeakProgram, reader: str) -> bool:
    """Return True if an instruction keeps a part of what it reads that depends on the device."""
    if program.computes_with(reader, "reduce-scatter"):
        return True

    def numbers(name: str) -> Iterator[int]:
        found = program.read_by.get(name, ())
        return (each for each in found if not program.values[each].dimensions)

    return program.computes_with(reader, "dynamic-slice") and any(
        program.values[each].opcode in ON_EACH_DEVICE
        for each in reached(numbers(reader), lambda each: numbers(program.values[each].name))
    )
