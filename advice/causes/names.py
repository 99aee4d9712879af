"""Names of inputs and instructions for those who wrote the program."""

import re
from collections.abc import Iterable
from typing import Final

from xlagraph.advice.causes.cause import file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.op_names import INPUT_OF_TENSORFLOW, has_all_transformations
from xlagraph.planner.compilation.records import StoredValue

_PART: Final = re.compile(r"\[[^]]*\]|[^\[]+")
_SHOWN: Final = 3
"""Patterns that are written out."""


def place_name(program: PeakProgram, instruction: str) -> str:
    """Return the line of an instruction, else its op name, else its own name."""
    known = program.instructions.get(instruction)
    line = file_and_line(*program.place_of(instruction))
    return line or (known and known.op_name) or instruction


def knows_passes(program: PeakProgram) -> bool:
    """Return True if op names tell the forward pass from the backward pass; PyTorch's do not."""
    return program.framework != "pytorch" and has_all_transformations(
        each.op_name for each in program.values.values()
    )


def input_name(value: StoredValue) -> str:
    """Return the name of an input; with the shape if the framework gives all the same."""
    if value.op_name == INPUT_OF_TENSORFLOW:
        return f"input {value.shape}"
    return value.op_name or value.label


def pattern_of(names: Iterable[str]) -> str:
    """Return the names with `*` in place of the keys in which they differ.

    Names of other depths, or of other arguments, are listed.
    """
    groups: dict[tuple[str, int], list[list[str]]] = {}
    for name in dict.fromkeys(names):
        parts = _PART.findall(name) or [name]
        groups.setdefault((parts[0], len(parts)), []).append(parts)
    patterns = ["".join(map(_common, zip(*group, strict=True))) for group in groups.values()]
    text = " and ".join(patterns[:_SHOWN])
    left = len(patterns) - _SHOWN
    return f"{text} and {left} more" if left > 0 else text


def have_same_end(name: str, other: str) -> bool:
    """Return True if names end with the same key: ``p['w']`` and ``state[0].mu['w']``."""
    ends = [_PART.findall(each)[1:][-1:] for each in (name, other)]
    return ends[0] == ends[1] != []


def _common(keys: tuple[str, ...]) -> str:
    return keys[0] if len(set(keys)) == 1 else "[*]"
