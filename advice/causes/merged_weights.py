"""Find weights to which the program adds a product of two thin matrices before it uses them.

Low-rank adapters need no such sum: ``x @ w + (x @ a) @ b`` has the same result as
``x @ (w + a @ b)``, without a second matrix of the size of ``w``, which the backward pass keeps.
"""

from collections.abc import Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, of_avoidable
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.names import input_name, pattern_of
from xlagraph.advice.causes.needed_only import readers_of_set
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue

_LEAST_RATIO: Final = 4
"""Least rows or columns of weights for each column of the thin matrices."""

_MERGED_WEIGHTS: Final[Remedies] = dict.fromkeys(
    ("jax", "tensorflow", "pytorch"),
    "Multiply the inputs with each matrix in turn: x @ w + (x @ a) @ b instead of x @ (w + a @ b).",
)


def merged_weights(program: PeakProgram) -> Iterator[Cause]:
    """Yield sums of weights and low-rank products that only products with other values read."""
    products = {
        value.value_id: rank
        for value in program.temporaries
        if (rank := _rank(program, value)) is not None
    }
    found: dict[int, StoredValue] = {}
    names: list[str] = []
    for value in program.temporaries if products else ():
        read = [program.values[each] for each in program.read_by.get(value.name, ())]
        factors = [each for each in read if each.value_id in products]
        if value.value_id not in products:
            weights = _weights(program, value, [each for each in read if each not in factors])
        else:  # the compiler adds the weights in the product itself
            weights, factors = _weights(program, value, read), [value]
        if weights is None or not factors or not _is_only_multiplied(program, value):
            continue
        names.append(input_name(weights))
        found |= {each.value_id: each for each in (value, *factors)}
    if found:
        rank = max(products[each] for each in found if each in products)
        reason = f"a product of rank {rank} is added to all of {pattern_of(names)}"
        yield of_avoidable(
            program.compilation,
            "peak/contributors",
            "Low-rank weights are added to the matrices that they adapt",
            [(each, reason) for each in found.values()],
            _MERGED_WEIGHTS,
            likelihood=0.9,
        )


def _rank(program: PeakProgram, value: StoredValue) -> int | None:
    """Return the rank of a product of two thin inputs; None if it is no such product."""
    if len(value.dimensions) != 2 or not program.instructions[value.name].multiplies:
        return None
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    most = min(value.dimensions) // _LEAST_RATIO
    thin = [
        each
        for each in read
        if len(each.dimensions) == 2
        and min(each.dimensions) <= most
        and input_of(program, each) is not None
    ]
    ranks = {min(each.dimensions) for each in thin}
    lengths = sorted(max(each.dimensions) for each in thin)
    return ranks.pop() if len(ranks) == 1 and lengths == sorted(value.dimensions) else None


def _weights(
    program: PeakProgram, value: StoredValue, read: list[StoredValue]
) -> StoredValue | None:
    """Return the input of a value's shape that is added to it."""
    is_library = program.instructions[value.name].opcode == "custom-call"  # adds an operand
    if not (is_library or program.computes_with(value.name, "add")):
        return None
    given = [input_of(program, each) for each in read if each.dimensions == value.dimensions]
    return given[0] if len(given) == 1 else None


def _is_only_multiplied(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if only products read a value, none of which has its shape."""
    readers = readers_of_set(program, value)
    return bool(readers) and all(
        program.instructions[name].multiplies
        and all(made.dimensions != value.dimensions for made in program.made_by.get(name, ()))
        for name in readers
    )
