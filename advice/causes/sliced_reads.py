"""Find out whether instructions read a value whole, or only a part of it."""

import math
from collections.abc import Collection, Iterable
from fractions import Fraction
from itertools import chain

from xlagraph.advice.causes.loop_readers import readers_of_values
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.overwriting import ELEMENTWISE
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import ArrayShape, Operation, ShapeTree
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS


def parts_of_reads(
    program: PeakProgram,
    value_ids: Collection[int],
    readers: Collection[str],
    opcodes: Collection[str] = ("dynamic-slice",),
) -> int | None:
    """Return how many parts a value has if each reader takes one; the least if they differ.

    The value has one of the ids. Readers take a part with one of the opcodes. None if nothing reads
    it, or if a reader takes all of it or cannot be looked into: a fusion of a module that is not
    stored.
    """
    return min(_parts_of_reads(program, value_ids, readers, opcodes), default=None)


def share_of_reads(
    program: PeakProgram,
    value_ids: Collection[int],
    readers: Collection[str],
    opcodes: Collection[str],
) -> Fraction:
    """Return the most of a value that readers take, 1 if one of them takes all of it.

    Parts that several readers take are counted for each.
    """
    parts = _parts_of_reads(program, value_ids, readers, opcodes)
    return sum((Fraction(1, each) for each in parts), Fraction(0)) if parts else Fraction(1)


def places_of_slices(
    program: PeakProgram, value_ids: Collection[int], readers: Collection[str]
) -> set[int]:
    """Return the places along the first dimension that slices take of values with these ids.

    Slices that take all places are left out.
    """
    found: set[int] = set()
    for use in chain.from_iterable(program.uses_by.get(reader, ()) for reader in readers):
        taker = program.operations.get(use.instruction)
        if taker is None or use.value_id not in value_ids:
            continue
        length = (*program.values[use.value_id].dimensions, 0)[0]
        called = program.fused_operations(taker) if taker.opcode == "fusion" else (taker,)
        read = {each.name for each in called if each.numbers.get("number") == [use.operand]}
        for each in called:
            bounds = each.numbers.get("slice", ())[:3]
            if bounds and (each is taker or each.operands[0].name in read):
                taken = range(*bounds)
                found |= set(taken) if len(taken) < length else set()
    return found


def elements_of_products(program: PeakProgram, values: Iterable[StoredValue]) -> bool:
    """Return True if a product makes one of some values, of which a gather reads single elements.

    To compute such an element takes a row of both factors: more bytes than the element.
    """
    ids = {each.value_id for value in values for each in program.members_of(value)}
    makers = {program.values[each].name for each in ids}
    readers = readers_of_values(program, ids) - makers
    return not makers.isdisjoint(program.products) and any(
        each.opcode == "gather" and math.prod(each.numbers.get("slice_sizes", (0,))) == 1
        for reader in readers
        if (operation := program.operations.get(reader)) is not None
        for each in (operation, *program.fused_operations(operation))
    )


def _parts_of_reads(
    program: PeakProgram,
    value_ids: Collection[int],
    readers: Collection[str],
    opcodes: Collection[str],
) -> list[int]:
    """Return how many times larger a value is than each part that is read; empty if all is."""
    found = [
        _parts(program, program.operations.get(use.instruction), use.operand, opcodes)
        for reader in readers
        for use in program.uses_by.get(reader, ())
        if use.value_id in value_ids
    ]
    return list(chain.from_iterable(found)) if all(found) else []


def _parts(
    program: PeakProgram, reader: Operation | None, operand: int, opcodes: Collection[str]
) -> list[int]:
    """Return how many times larger an operand is than each part that an operation reads."""
    if reader is None or operand >= len(reader.operands):
        return []
    if reader.opcode in opcodes:
        sliced = program.operations.get(reader.operands[0].name)
        whole, part = _elements(sliced.shape if sliced else None), _elements(reader.shape)
        return [whole // part] if operand == 0 and whole and part and whole > part else []
    if reader.opcode != "fusion":
        return []
    called = program.fused_operations(reader)
    names = {each.name for each in called if each.numbers.get("number") == [operand]}
    parts: list[list[int]] = []
    for each in called:
        for place, read in enumerate(each.operands):
            if read.name in names:
                if each.opcode in SAME_ELEMENTS | ELEMENTWISE and each is not called[-1]:
                    names.add(each.name)
                else:
                    parts.append(_parts(program, each, place, opcodes))
    return list(chain.from_iterable(parts)) if all(parts) else []


def _elements(shape: ShapeTree | None) -> int | None:
    return math.prod(shape.lengths) if isinstance(shape, ArrayShape) else None
