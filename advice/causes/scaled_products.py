"""Find numbers that are stored once for each element of a product that they scale.

A library's kernel reads arrays: the scale of an attention's scores then has their size. The factors
of the product are smaller, and one number scales the product just as well there.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, file_and_line, of_removed
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.places_of_reads import place_of_read
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import Operation
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_LEAST_SHARE: Final = 0.01
"""Least share of the reserved bytes that such an array takes."""
_REPEATING: Final = SAME_ELEMENTS | {"broadcast", "constant"}
_SCALING: Final = frozenset(("multiply", "divide"))

_SCALED: Final[Remedies] = {
    "jax": "Scale a factor of the product, which is smaller: (q * scale) @ k.T instead of"
    " (q @ k.T) * scale, and (q / n) @ k.T instead of (q @ k.T) / n.",
    "tensorflow": "Scale a factor of the product, which is smaller:"
    " tf.matmul(q * scale, k, transpose_b=True) instead of tf.matmul(q, k, ...) * scale.",
    "pytorch": "Scale a factor of the product, which is smaller: (q * scale) @ k.T instead of"
    " (q @ k.T) * scale.",
}


def scaled_products(program: PeakProgram) -> Iterator[Cause]:
    """Yield arrays of one repeated number that only scale products in what reads them."""
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    rows = []
    for value in program.temporaries:
        if value.size_bytes < least:
            break
        readers = program.readers_of.get(value.value_id, ())
        if (
            readers
            and _is_one_number(program, value)
            and all(_scales_product(program, name, value.name) for name in readers)
        ):
            first = min(readers, key=lambda each: (program.rows.get(each, 0), each))
            # a fusion has the line of its result, such as a softmax
            _, file, line = place_of_read(program, first, [value.value_id])
            place = file_and_line(file, line) or place_name(program, first)
            reason = f"one number for each element of a product of {value.shape}, read at {place}"
            rows.append(evidence_row(value, reason, file=file, line=line))
    if rows:
        yield of_removed(
            program.compilation,
            "waste/broadcasts",
            "One number is stored for each element of a product that it scales",
            [str(row["value"]) for row in rows],
            rows,
            _SCALED,
            likelihood=0.9,
        )


def _is_one_number(program: PeakProgram, value: StoredValue) -> bool:
    maker = program.instructions.get(value.name)
    read = (program.values[each] for each in program.read_by.get(value.name, ()))
    return (
        maker is not None
        and maker.computes_only(_REPEATING)
        and not any(each.dimensions for each in read)
    )


def _scales_product(program: PeakProgram, reader: str, number: str) -> bool:
    """Return True for a fusion that only multiplies a factor or the result of a product by it."""
    fusion = program.operations.get(reader)
    fused = () if fusion is None else program.fused_operations(fusion)
    if fusion is None or not fused:
        return False
    places = [place for place, each in enumerate(fusion.operands) if each.name == number]
    given = {
        each.name
        for each in fused
        if each.opcode == "parameter" and each.numbers["number"][0] in places
    }
    same = _of_same_elements(fused, given)
    users = [each for each in fused if each.name not in same and _reads(each, same)]
    return bool(users) and all(
        each.opcode in _SCALING
        and not (each.opcode == "divide" and each.operands[0].name in same)
        and (_is_next_to_product(fused, each) or _is_factor(program, reader, fused, each))
        for each in users
    )


def _is_next_to_product(fused: Sequence[Operation], scaling: Operation) -> bool:
    """Return True if it scales the result of a product, or a factor of one."""
    by_name = {each.name: each for each in fused}

    def moved(name: str) -> Iterable[str]:
        each = by_name[name]
        return [of.name for of in each.operands] if each.opcode in SAME_ELEMENTS else ()

    sources = set(reached((each.name for each in scaling.operands), moved))
    results = _of_same_elements(fused, {scaling.name})
    return any(
        each.opcode == "dot" and (each.name in sources or _reads(each, results)) for each in fused
    )


def _is_factor(
    program: PeakProgram, fusion: str, fused: Sequence[Operation], scaling: Operation
) -> bool:
    """Return True if a fusion makes a scaled factor of a product, as a gradient of scores is."""
    made = [each.value_id for each in program.made_by.get(fusion, ())]
    readers = [name for each in made for name in program.readers_of.get(each, ())]
    return (
        fused[-1].name in _of_same_elements(fused, {scaling.name})
        and bool(readers)
        and all(program.computes_with(name, "dot") for name in readers)
    )


def _of_same_elements(fused: Sequence[Operation], names: Iterable[str]) -> set[str]:
    """Return operations that only move or convert what some make, and those."""
    found = set(names)
    for each in fused:  # operands first
        if each.opcode in SAME_ELEMENTS and _reads(each, found):
            found.add(each.name)
    return found


def _reads(operation: Operation, names: set[str]) -> bool:
    return any(each.name in names for each in operation.operands)
