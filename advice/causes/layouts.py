"""Find inputs that the program stores again in the layout in which it reads them.

The caller passes arrays in the default layout. If a loop or a product reads another one, the
compiler copies the whole input first, and copies a donated result back afterwards.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.names import input_name, pattern_of
from xlagraph.advice.causes.peak_values import JOINED_PARTS, PeakProgram
from xlagraph.graph.engine import Cell
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.layout_edit import PassInLayout
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS
from xlagraph.queries.catalogue.declarations import ChangeKind

_LEAST_SHARE: Final = 0.001
"""Smallest share of the reserved bytes for which a copy is searched."""
_MOVING: Final = ("copy", "slice", "async", "tuple", "bitcast", "get-tuple-element")
"""Beginnings of the opcodes that only move parts of an input into another memory space."""

_LAYOUTS: Final[Remedies] = {
    "jax": "Let the compiler choose how arguments and results are stored: jax.jit(...,"
    " in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO)) of"
    " jax.experimental.layout; or pass the array with its dimensions in the order of the copy, and"
    " keep that order in the program.",
    "tensorflow": "Store the variable with its dimensions in the order of the copy, and keep that"
    " order in the program.",
    "pytorch": "Store the tensor with its dimensions in the order of the copy, and keep that order"
    " in the program.",
}


def copies_in_other_layouts(program: PeakProgram) -> Iterator[Cause]:
    """Yield the inputs that are read only through a copy in another layout.

    The copy of an input that is not donated counts only if nothing is written into it. Inputs whose
    copies are in another memory space change their layout too. Elements that were rounded to a
    narrower type on the way are no longer those of the input.
    """
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    found = [
        pair
        for value in program.temporaries
        if value.size_bytes >= least and (pair := _copy(program, value)) is not None
    ]
    if found:
        yield Cause(
            "alias/copies",
            "Inputs are copied into another layout",
            ChangeKind.WITHOUT,
            PassInLayout(
                {copy.value_id: given.value_id for copy, given in found},
                {given.value_id: copy.size_bytes for copy, given in _copies_elsewhere(program)},
            ),
            tuple(_rows(program, found)),
            _LAYOUTS,
            "the compiler may choose another layout than that of the copy",
            is_exact=True,
            likelihood=0.9,
        )


def _copies_elsewhere(program: PeakProgram) -> Iterator[tuple[StoredValue, StoredValue]]:
    """Yield the copies of inputs that are in another memory space than the inputs."""
    for members in program.program.sets.values():
        if members[0].memory_space != program.memory_space:
            pair = _copy(program, program.values[members[0].value_id])
            if pair is not None:
                yield pair


def _copy(program: PeakProgram, value: StoredValue) -> tuple[StoredValue, StoredValue] | None:
    """Return the copy among the values that share a value's bytes, with its input."""
    members = program.members_of(value)
    for member in members:
        copy = program.values[member.value_id]
        given = input_of(program, copy, converted=False) if _is_reordered(program, copy) else None
        if (
            given is not None
            and given.value_id in program.compilation.parameters
            and given.memory_space == program.memory_space
            and (given.dtype, math.prod(given.dimensions))
            == (copy.dtype, math.prod(copy.dimensions))
            and (len(members) == 1 or program.compilation.is_donated(given.value_id))
            and all(_only_moves(program, name) for name in program.readers_of[given.value_id])
            and all(map(partial(_is_unchanged, program), program.read_by[copy.name]))
        ):
            return copy, given
    return None


def _is_unchanged(program: PeakProgram, value_id: int) -> bool:
    """Return False for the state of a loop, which is an input in the first iteration alone."""
    members = [program.values[e.value_id] for e in program.members_of(program.values[value_id])]
    makers = (program.instructions[each.name] for each in members)
    return not any(each.is_phi for each in members) or all(
        each.opcode == "parameter" or each.opcode in PASSING_ON or each.computes_only(SAME_ELEMENTS)
        for each in makers
    )


def _is_reordered(program: PeakProgram, copy: StoredValue) -> bool:
    """Return True for a value that holds the elements of an operand in another order."""
    maker = program.instructions.get(copy.name)
    if maker is None or not maker.computes_only(SAME_ELEMENTS):
        return False
    read = [program.values[each] for each in program.wholes_read_by(maker.name)]
    return maker.computes_with("transpose") or any(
        each.dimensions == copy.dimensions and _order(each) != _order(copy) for each in read
    )


def is_copied_into_another_layout(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a copy that is needed in any order of the instructions."""
    planned = program.program.by_id.get(value.value_id)
    if planned is None or not planned.is_copy or not planned.operands:
        return False
    source = program.values.get(planned.operands[0])
    return source is not None and bool(source.layout) and _order(source) != _order(value)


def _order(value: StoredValue) -> str:
    """Return the dimensions from the innermost one outwards, such as `{1,0`, without tiles."""
    return (value.layout or "").partition(":")[0].rstrip("}")


def _only_moves(program: PeakProgram, instruction: str) -> bool:
    """Return True if an instruction reads an input only to store it elsewhere or in another order.

    What another instruction reads in the input's own layout would need a copy after the change.
    """
    reader = program.instructions[instruction]
    is_moving = (reader.opcode or "").startswith(_MOVING) or reader.target == JOINED_PARTS
    return is_moving or reader.computes_only(SAME_ELEMENTS)


def _rows(
    program: PeakProgram, found: Sequence[tuple[StoredValue, StoredValue]]
) -> Iterator[Mapping[str, Cell]]:
    """Yield a row for each copy, with the first line of the program that has its bytes."""
    names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for copy, given in found:
        names[given.full_shape, copy.full_shape].append(input_name(given))
    for copy, given in found:
        passed, stored = given.full_shape, copy.full_shape
        text = pattern_of(names[passed, stored])
        values = [program.values[each.value_id] for each in program.members_of(copy)]
        readers = [program.place_of(name) for name in program.readers_of.get(copy.value_id, ())]
        places = [*((each.user_file, each.user_line) for each in values), *readers]
        file, line = next((each for each in places if each[0] is not None), (None, None))
        yield evidence_row(
            copy, f"{text}: passed as {passed}, stored again as {stored}", file=file, line=line
        )
