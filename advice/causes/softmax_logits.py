"""Find logits of a large vocabulary that are computed for all tokens at once."""

import math
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes import remedies
from xlagraph.advice.causes.cause import Cause, evidence_row, file_and_line
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.peak_values import SAME_ELEMENTS, PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import Operation
from xlagraph.planner.edits.resizing import ComputeInParts
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = ["logits"]

_LEAST_VOCABULARY: Final = 512
_COMPUTED_VOCABULARY: Final = 4096
"""Least words of a table that is no input: shorter ones may be the keys of an attention."""
_PARTS: Final = 8
"""Parts in which logits could be computed."""
_PRODUCTS: Final = ("dot", "convolution", "custom-call")
"""Opcodes of products of matrices: TPUs compute them as convolutions, libraries in kernels."""
_REDUCING: Final = frozenset(("reduce", "reduce-window"))
_LEAST_REDUCED: Final = 16
"""Least words for each element of a row's partial results: a GPU reduces long rows in two steps."""


def logits(program: PeakProgram) -> Iterator[Cause]:
    """Yield the values of a softmax over the words of a table.

    A product with a table has a dimension of its words, and the exponential of it is reduced over
    this dimension. Values of the same size that the product depends on, or that depend on it, count
    as logits too. Products in a loop are left out: each iteration may compute only some tokens.
    """
    tables = {
        tuple(sorted(value.dimensions))
        for value in program.compilation.array_parameters
        if len(lengths := value.dimensions) == 2
        and max(lengths) >= _LEAST_VOCABULARY
        and max(lengths) >= 4 * min(lengths)
    }
    seen: set[int] = set()
    found: list[tuple[StoredValue, str]] = []
    for value in program.temporaries:
        if value.value_id in seen:
            continue
        products = (
            (table[1], name)
            for table in sorted(tables)
            if table[1] in value.dimensions
            and (name := _table_of_product(program, value, table)) is not None
        )
        words, table = next(products, (0, ""))
        if not words:
            continue
        connected = _connected(program, value)
        seen |= connected
        reduction = _softmax(program, connected, words) or _of_shifted(program, value, words)
        if reduction is None:
            continue
        line = file_and_line(*program.place_of(reduction)) or reduction
        rows = math.prod(value.dimensions) // words
        reason = f"{rows} × {words} products with {table}, which {line} reduces"
        sets = {program.set_of(program.values[each]) for each in connected}
        found += [(each, reason) for each in program.temporaries if program.set_of(each) in sets]
    if found:
        yield Cause(
            "peak/contributors",
            "Logits of a large vocabulary are computed for all tokens at once",
            ChangeKind.PARTS,
            ComputeInParts({value.label: Fraction(1, _PARTS) for value, _ in found}),
            tuple(evidence_row(value, reason) for value, reason in found),
            remedies.LOGITS,
        )


def _table_of_product(
    program: PeakProgram, value: StoredValue, table: tuple[int, ...]
) -> str | None:
    """Return the name of the table in a product of the forward pass, unless it has its shape."""
    maker = program.instructions.get(value.name)
    if value.is_backward or maker is None or maker.loop is not None:
        return None
    if not any(map(maker.computes_with, _PRODUCTS)):
        return None
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    tables = [
        each for each in read if tuple(sorted(each.dimensions)) == table and not each.is_backward
    ]
    if tuple(sorted(value.dimensions)) == table or not tables:
        return None
    given = input_of(program, tables[0])
    if given is not None:
        return given.op_name or given.label
    if max(table) >= _COMPUTED_VOCABULARY:
        return tables[0].attributed_op_name or tables[0].label
    return None


def _connected(program: PeakProgram, value: StoredValue) -> set[int]:
    """Return a value, and those of its size that are made with it, from it, or from the same."""
    size, words = math.prod(value.dimensions), max(value.dimensions)
    found, waiting = {value.value_id}, [value]
    while waiting:
        each = waiting.pop()
        near = list(program.read_by.get(each.name, ()))
        near += [made.value_id for made in program.made_by.get(each.name, ())]
        for reader in program.readers_of.get(each.value_id, ()):
            near += [made.value_id for made in program.made_by.get(reader, ())]
        for value_id in near:
            other = program.values[value_id]
            is_like = words in other.dimensions and math.prod(other.dimensions) == size
            if value_id not in found and is_like:
                found.add(value_id)
                waiting.append(other)
    return found


def _softmax(program: PeakProgram, value_ids: Collection[int], words: int) -> str | None:
    """Return the instruction that reduces these values over a dimension for a softmax.

    A softmax reads the maximum or the sum of each row next to the row itself; a sum of a
    function of each element, such as a softplus, does not.
    """
    around = {name for each in value_ids for name in program.readers_of.get(each, ())}
    makers = {program.values[each].name for each in value_ids}
    size = math.prod(program.values[next(iter(value_ids))].dimensions)
    if not any(_sums_exponentials(program, name, size // words, size) for name in around):
        return None
    reducing = []
    for name in around:
        made = program.made_by.get(name, ())
        if not program.computes_with(name, "reduce"):
            continue
        reduced = [each for each in made if _is_of_rows(each, size // words, size)]
        of_rows = _computed_by_row(program, reduced, size // words)
        is_read_with_rows = any(
            not of_rows.isdisjoint(program.read_by.get(reader, ())) for reader in around | makers
        )
        is_complete = program.computes_with(name, "exponential") and any(
            math.prod(each.dimensions) == size for each in made
        )
        if (of_rows and is_read_with_rows) or is_complete:
            reducing.append(name)
    return min(reducing, key=lambda name: program.rows.get(name, 0), default=None)


def _is_of_rows(value: StoredValue, rows: int, size: int) -> bool:
    """Return True for one element, or a few partial results, of each row of `size` elements."""
    elements = math.prod(value.dimensions)
    return elements == rows or (elements % rows == 0 and _LEAST_REDUCED * elements <= size)


def _sums_exponentials(program: PeakProgram, instruction: str, rows: int, size: int) -> bool:
    """Return True if an instruction reduces exponentials, not other functions of them, to rows.

    A sigmoid computes exponentials too, and its gradient is summed for a bias.
    """
    made_values = program.made_by.get(instruction, ())
    if not any(_is_of_rows(each, rows, size) for each in made_values):
        return False
    if not program.computes_with(instruction, "reduce"):
        return False
    made = program.operations.get(instruction)
    if made is None:
        read = (program.values[each].name for each in program.read_by.get(instruction, ()))
        return any(program.computes_with(name, "exponential") for name in (instruction, *read))
    inside = program.fused_operations(made) or (made,)
    return any(
        _is_exponential(program, each, made, inside) for each in inside if each.opcode == "reduce"
    )


def _is_exponential(
    program: PeakProgram, reader: Operation, fusion: Operation, inside: Sequence[Operation]
) -> bool:
    """Return True if an operation of a fusion reads exponentials, or itself makes them."""
    by_name = {each.name: each for each in inside}
    while reader.opcode in SAME_ELEMENTS | _REDUCING and reader.operands:
        name, element = reader.operands[0]
        found = by_name.get(name)
        if found is not None and found.opcode == "parameter":
            (number,) = found.numbers.get("number") or (0,)
            name, element = fusion.operands[number]
            found = None
        if found is None:
            found = program.operations.get(name)
        if found is not None and found.opcode == "get-tuple-element" and found.operands:
            element = tuple(found.numbers.get("index", ()))
            found = program.operations.get(found.operands[0].name)
        if found is None:
            return False
        if called := program.fused_operations(found):
            fusion, inside = found, called
            by_name = {each.name: each for each in inside}
            found = called[-1]
            if found.opcode == "tuple" and element:
                found = by_name[found.operands[element[0]].name]
        reader = found
    return reader.opcode == "exponential"


def _computed_by_row(program: PeakProgram, values: Sequence[StoredValue], rows: int) -> set[int]:
    """Return values with those of one element for each row that are computed from them."""
    found, waiting = {each.value_id for each in values}, [each.value_id for each in values]
    while waiting:
        for name in program.readers_of.get(waiting.pop(), ()):
            for made in program.made_by.get(name, ()):
                if made.value_id not in found and math.prod(made.dimensions) == rows:
                    found.add(made.value_id)
                    waiting.append(made.value_id)
    return found


def _of_shifted(program: PeakProgram, value: StoredValue, words: int) -> str | None:
    """Return the instruction that sums the exponentials of a product less its rows' maximum.

    A library's kernel makes the product, reduces it and subtracts the result in one instruction.
    """
    kernel = ("dot", "reduce", "subtract")
    if not all(program.computes_with(value.name, opcode) for opcode in kernel):
        return None
    size = math.prod(value.dimensions)
    summing = [
        name
        for name in program.readers_of.get(value.value_id, ())
        if _sums_exponentials(program, name, size // words, size)
    ]
    return min(summing, key=lambda name: program.rows.get(name, 0), default=None)
