"""Find the outputs of an instruction that must share an operand's bytes.

The rules are those of XLA's `AliasInfo::GetInPlaceInputOutputPairs` (xla/hlo/analysis/
alias_info.cc). Updates of a slice and scatters write into their first operands. So does a fusion
if such an update is an output and its operand leads back to a parameter. Any instruction
can declare more pairs.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.instruction import Aliasing, Instruction, ProgramError
from xlagraph.hlo.program import Program
from xlagraph.hlo.shapes import WHOLE, nested_index

_FIRST_OPERAND: Final = ("dynamic-update-slice", "set-dimension-size")
_UPDATING: Final = frozenset((*_FIRST_OPERAND, "scatter", "fusion"))
"""Opcodes that update in place and can be inside a fusion."""
IN_PLACE_OPCODES: Final = _UPDATING | {"all-reduce-start", "ragged-all-to-all"}
"""Opcodes that update in place without declaring it."""
_ROOTS: Final = IN_PLACE_OPCODES | {
    "bitcast", "call", "custom-call", "get-tuple-element", "tuple", None,
}  # fmt: skip
"""Opcodes of the roots of fusions that may update in place: updates, what leads to them, and
calls, which may declare it; None for a root that could not be read."""


def updating(computation: Computation, program: Program) -> Iterator[Instruction]:
    """Yield the instructions that may update an operand in place; a quick first test."""
    declares_aliasing = computation.declares_aliasing
    for opcode, instructions in computation.by_opcode.items():
        if opcode in IN_PLACE_OPCODES and opcode != "fusion":
            yield from instructions
        elif declares_aliasing or opcode == "fusion":
            for each in instructions:
                if (opcode == "fusion" and _updating_body(each, program) is not None) or (
                    declares_aliasing and each.attributes.aliasing
                ):
                    yield each


def in_place_pairs(instruction: Instruction, program: Program) -> tuple[Aliasing, ...]:
    """Return each output that must share an operand's bytes, with this operand."""
    return (*_by_opcode(instruction, program), *instruction.attributes.aliasing)


def _by_opcode(instruction: Instruction, program: Program) -> Iterable[Aliasing]:
    opcode = instruction.opcode
    if opcode == "fusion":
        return _of_fusion(instruction, program)
    if opcode in _FIRST_OPERAND:
        return (Aliasing(WHOLE, 0, WHOLE),)
    if opcode == "scatter":
        return _each_output(instruction, (len(instruction.operands) - 1) // 2)
    if opcode == "all-reduce-start" and not (
        instruction.is_async_start or instruction.attributes.uses_nvshmem
    ):
        return _each_output(instruction, len(instruction.operands))
    if opcode == "ragged-all-to-all":
        return (Aliasing(WHOLE, 1, WHOLE),)
    return ()


def _each_output(instruction: Instruction, count: int) -> Iterable[Aliasing]:
    if count == 1 and not instruction.is_tuple:
        return (Aliasing(WHOLE, 0, WHOLE),)
    return [Aliasing(f"{{{number}}}", number, WHOLE) for number in range(count)]


def _of_fusion(fusion: Instruction, program: Program) -> Iterable[Aliasing]:
    body = _updating_body(fusion, program)
    if body is None:
        return ()
    root = body.root
    if root.opcode == "tuple":
        outputs = [
            (f"{{{number}}}", body.by_name.get(operand.name), operand.element)
            for number, operand in enumerate(root.operands)
        ]
    elif root.is_tuple:
        outputs = [
            (pair.output_index, root, pair.output_index) for pair in in_place_pairs(root, program)
        ]
    else:
        outputs = [(WHOLE, root, WHOLE)]
    return [
        Aliasing(output, *found)
        for output, source, index in outputs
        if source is not None and (found := _parameter_behind(source, index, body, program))
    ]


def _updating_body(fusion: Instruction, program: Program) -> Computation | None:
    """Return the computation that a fusion runs, unless it evidently updates nothing."""
    body = program.computations.get(fusion.callee("calls") or "")
    if body is None:
        return None
    # The root decides nearly all, and sooner than a search of the body.
    return body if body.root_opcode in _ROOTS and body.has_any(_UPDATING) else None


def _parameter_behind(
    source: Instruction, index: str, body: Computation, program: Program
) -> tuple[int, str] | None:
    """Return the number and index of the parameter that an output of a fusion overwrites."""
    source, index = _without_indirection(source, index, body)
    for found, at in _operands_behind(source, index, body, program):
        if found.opcode == "fusion":  # nested fusions are followed one level deep
            found, at = next(_operands_behind(found, at, body, program), (found, at))
        if found.opcode == "parameter" and found.parameter_number is not None:
            return found.parameter_number, at
    return None


def _operands_behind(
    source: Instruction, index: str, body: Computation, program: Program
) -> Iterator[tuple[Instruction, str]]:
    """Yield the operands that an output of an instruction overwrites, with tuple index."""
    for pair in in_place_pairs(source, program):
        if pair.output_index == index:
            operand = source.operand(pair.operand)
            operand_index = nested_index(operand.element, pair.operand_index)
            yield _without_indirection(body[operand.name], operand_index, body)


def _without_indirection(
    instruction: Instruction, index: str, body: Computation
) -> tuple[Instruction, str]:
    """Return the source of an instruction behind bitcasts, tuple elements and tuples."""
    passed: set[str] = set()
    while instruction.operands:
        operand = instruction.operands[0]
        if instruction.opcode == "get-tuple-element":
            index = nested_index(f"{{{instruction.attributes.tuple_element or 0}}}", index)
        elif instruction.opcode == "tuple" and index != WHOLE:
            first, _, rest = index[1:-1].partition(",")
            operand, index = instruction.operand(int(first)), f"{{{rest}}}"
        elif instruction.opcode != "bitcast" or index != WHOLE:
            break
        if instruction.name in passed:
            raise ProgramError(f"{instruction.name} is its own operand")
        passed.add(instruction.name)
        index = nested_index(operand.element, index)
        instruction = body[operand.name]
    return instruction, index
