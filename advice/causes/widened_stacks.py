"""Find stacks of a loop that hold numbers of a narrower type, such as frames of bytes as floats."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from fractions import Fraction
from math import prod
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, Remedies, of_smaller
from xlagraph.advice.causes.needed_only import readers_of_set
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.overwriting import ELEMENTWISE
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import Operation
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_LEAST_SHARE: Final = 0.02
"""Smallest share of the reserved bytes for which a stack is searched."""
_INTEGERS: Final = ("s", "u", "pred")
"""First letters of the types that only a program widens; compilers widen floats, too."""
_OF_EACH: Final = (ELEMENTWISE - {"rng"}) | SAME_ELEMENTS | {"broadcast", "constant", "parameter"}
"""Opcodes that compute an element from one element of each operand."""
_CONVERTING: Final = _OF_EACH | {"concatenate", "dynamic-slice", "gather", "iota", "pad", "slice"}
"""Opcodes next to which a compiler converts what is read, without an array of its own."""

_REMEDIES: Final[Remedies] = {
    "jax": "Return the numbers in their own type from the body of jax.lax.scan, such as frames in"
    " uint8, and convert only what is read of them, such as a minibatch: x.astype(jnp.float32)"
    " there. The body itself can go on computing with the converted part.",
    "tensorflow": "Write the numbers to the tf.TensorArray in their own type, and tf.cast what is"
    " read of them.",
    "pytorch": "Store the numbers in their own type, and convert what is read of them: x.float().",
}


class _Numbers(NamedTuple):
    """Numbers that an instruction computes, which need not be stored."""

    name: str
    """Name of the instruction, or of the operation in a fusion."""
    dtype: str
    dimensions: tuple[int, ...]
    size_bytes: int


def widened_stacks(program: PeakProgram, named: AbstractSet[str]) -> Iterator[Cause]:
    """Yield stacks whose parts a loop computes from integers of a narrower type, one by one.

    What reads them converts them as it reads. Stacks for the backward pass are left out: JAX
    chooses what they hold; so are those with a label that another cause has ``named``.
    """
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    found = []
    for value in program.temporaries:
        if value.size_bytes < least:
            break
        stack = program.stack_of(value)
        if stack is None or named & {value.label, stack.label}:
            continue
        if stack.is_backward or stack.value_id in program.backward_stacks:
            continue
        part = stack.size_bytes // (stack.stack_turns or 1)
        narrow = _computed_from(program, stack, part // 2)
        if narrow is None:
            continue
        if _is_converted_where_read(program, stack):
            kept = Fraction(narrow.size_bytes, part)
            reason = f"the loop computes each {stack.dtype} in it from one {narrow.dtype}"
            found.append((value, reason, kept))
            reason = f"copied from the stack of what is computed from {narrow.dtype}"
            found += [(each, reason, kept) for each in _gathered(program, stack)]
    if found:
        yield of_smaller(
            program.compilation,
            "A loop stacks numbers in a wider type than their own",
            found,
            _REMEDIES,
        )


def _is_converted_where_read(program: PeakProgram, value: StoredValue) -> bool:
    readers = readers_of_set(program, value)
    return all(program.instructions[name].computes_only(_CONVERTING) for name in readers)


def _gathered(program: PeakProgram, stack: StoredValue) -> Iterator[StoredValue]:
    """Yield what only gathers all numbers of a stack, such as shuffled rows for minibatches."""
    for name in readers_of_set(program, stack):
        if not program.computes_with(name, "gather"):
            continue
        read = [program.values[each] for each in program.read_by[name]]
        others = [each for each in read if program.set_of(each) != program.set_of(stack)]
        for made in program.made_by.get(name, ()):
            is_same = made.dtype == stack.dtype and made.size_bytes == stack.size_bytes
            is_copy = is_same and all(each.is_integer for each in others)
            is_temporary = made in program.temporaries and program.is_alone(made)
            if is_copy and is_temporary and _is_converted_where_read(program, made):
                yield made


def _computed_from(program: PeakProgram, stack: StoredValue, most: int) -> _Numbers | None:
    """Return the integers of some bytes from which alone a part is computed, one by one.

    They are computed where the part is written, or by an instruction before.
    """
    numbers = _Numbers(stack.name, stack.dtype or "", (), 0)
    elements = prod(stack.dimensions) // (stack.stack_turns or 1)
    while not numbers.dtype.startswith(_INTEGERS):
        sources = _read_one_by_one(program, numbers.name, most)
        if len(sources) != 1 or (source := sources.pop()) is None:
            return None
        numbers = source
        if prod(numbers.dimensions) != elements:
            return None
    return numbers if 0 < numbers.size_bytes <= most else None


def _read_one_by_one(program: PeakProgram, name: str, most: int) -> set[_Numbers | None]:
    """Return the numbers of which an instruction computes each element, or each that it writes.

    These are what it reads, or integers within a fusion. Constants are left out; None stands for
    anything of which an element needs more than one.
    """
    operation = program.operations.get(name)
    if operation is None:
        return {None}
    found: set[_Numbers | None] = set()
    operands: set[int] = set()
    called = {each.name: each for each in program.fused_operations(operation)}
    called = called or {operation.name: operation}
    waiting = [next(reversed(called))]
    while waiting:
        each = called.pop(waiting.pop(), None)
        if each is None:
            continue
        if each.opcode == "parameter":
            operands.update(each.numbers.get("number", ()))
        elif (integers := _integers_in(program, operation, each.name, most)) is not None:
            found.add(integers)
        elif each.opcode == "dynamic-update-slice":
            waiting.append(each.operands[1].name)
        elif each.opcode in _OF_EACH:
            waiting += [operand.name for operand in each.operands]
        else:
            found.add(None)
    if operation.opcode != "fusion":
        is_write = operation.opcode == "dynamic-update-slice"
        operands = {1} if is_write else {*range(len(operation.operands))}
    for use in program.uses_by.get(name, ()):
        if use.operand in operands:
            value = program.values[use.value_id]
            kind = value.dtype or ""
            found.add(_Numbers(value.name, kind, value.dimensions, value.size_bytes))
    return found


def _integers_in(program: PeakProgram, fusion: Operation, name: str, most: int) -> _Numbers | None:
    """Return integers that a fusion computes, if these are their bytes at most.

    None if the module is not stored as a text.
    """
    module = program.stored.operations
    text = None if module is None else module.program
    called = fusion.callees.get("calls", ())
    found = None if text is None or not called else text.find(name, called[0])
    shape = None if found is None or found.opcode == "constant" else found.shape
    if shape is None or not (shape.dtype or "").startswith(_INTEGERS):
        return None
    size = shape.dense_bytes or 0
    numbers = _Numbers(name, shape.dtype or "", shape.dimensions or (), size)
    return numbers if 0 < size <= most else None
