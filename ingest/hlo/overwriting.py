"""Decide if an instruction may write an output over an operand that it reads last.

The rules are those of XLA's `HloDataflowAnalysis::CanShareOperandBufferWithUser` (xla/hlo/analysis/
hlo_dataflow_analysis.cc). Fusions on GPUs have a rule of the backend, `GpuAliasInfo` (formerly
`FusionCanShareBufferHint`, xla/service/gpu/buffer_sharing.cc).

- An update in place overwrites its operand; a constant is never overwritten.
- Otherwise shape and layout must be equal, and each element must be read no later than it is
  written: elementwise operations; fusions in which every path from the parameter is elementwise;
  sorts, if they are the only reader of the operand; the second operand of a triangular solve.
- A fusion on a GPU requires only the same number of elements of the same width. Bitcasts on the
  path are allowed, a reduction that is an output ends a path, and the output must be reached.
"""

import re
from collections.abc import Iterable
from math import prod
from typing import Final, NamedTuple

from xlagraph.ingest.hlo.in_place import IN_PLACE_OPCODES, in_place_pairs
from xlagraph.ingest.model.program import (
    WHOLE,
    Computation,
    Instruction,
    Program,
    ProgramError,
    first_number,
)

__all__ = ["ReadOperand", "WrittenOutput", "ever_overwrites", "may_overwrite"]

_ELEMENTWISE: Final = frozenset((
    "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atan", "atanh",
    "bitcast-convert", "cbrt", "ceil", "clamp", "compare", "complex", "convert", "copy", "cosh",
    "cosine", "count-leading-zeros", "divide", "erf", "exponential", "exponential-minus-one",
    "floor", "imag", "is-finite", "log", "log-plus-one", "logistic", "map", "maximum", "minimum",
    "multiply", "negate", "not", "or", "popcnt", "power", "real", "reduce-precision", "remainder",
    "rng", "round-nearest-afz", "round-nearest-even", "rsqrt", "select", "shift-left",
    "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "sinh", "sqrt",
    "stochastic-convert", "subtract", "tan", "tanh", "xor",
))  # fmt: skip
_NO_OTHER_ORDER: Final = _ELEMENTWISE | {"parameter", "constant", "tuple"}
"""Opcodes of fusions that read each element no later than they write it."""
_IN_PLACE: Final = {
    "dynamic-update-slice": 0,
    "scatter": 0,
    "set-dimension-size": 0,
    "triangular-solve": 1,
}
"""Number of the operand that each opcode may overwrite."""
_COLLECTIVES: Final = ("all-reduce", "collective-broadcast")
_OVERWRITING: Final = _ELEMENTWISE | {*_IN_PLACE, "fusion", "sort", *IN_PLACE_OPCODES}
_OVERWRITING_ON_GPU: Final = _OVERWRITING | {*_COLLECTIVES, "custom-call"}
_ARRAY: Final = re.compile(r"([a-z][a-z0-9]*)\[([\d,<=]*)\]")
_SIZE: Final = re.compile(r"\d{1,18}")
_WIDTH: Final = re.compile(r"\D+(\d{1,18})")


class WrittenOutput(NamedTuple):
    """An output that an instruction writes, or a leaf of the output."""

    instruction: Instruction
    shape_index: str
    shape: str
    """Shape with layout, as printed."""


class ReadOperand(NamedTuple):
    """An operand that the instruction reads, or a leaf of the operand."""

    operand: int
    shape: str
    """Shape with layout, as printed at the reader."""


def ever_overwrites(instruction: Instruction, *, is_gpu: bool) -> bool:
    """Return whether an instruction can overwrite any operand; a quick first test."""
    opcodes = _OVERWRITING_ON_GPU if is_gpu else _OVERWRITING
    return instruction.opcode in opcodes or bool(instruction.attributes.aliasing)


def may_overwrite(
    output: WrittenOutput,
    read: ReadOperand,
    computation: Computation,
    program: Program,
    *,
    is_gpu: bool,
) -> bool:
    """Return whether an output may overwrite an operand that nothing else needs."""
    instruction, output_index, output_shape = output
    operand, operand_shape = read
    is_equal = output_shape == operand_shape
    if not is_equal and not is_gpu:
        return False
    source = computation.by_name.get(instruction.operands[operand].name)
    if source is not None and source.opcode == "constant":
        return False
    return _may_overwrite_by_order(output, read, computation, program, is_gpu=is_gpu) or (
        is_equal
        and any(
            pair.output_index == output_index
            and pair.operand == operand
            and pair.operand_index == WHOLE
            for pair in in_place_pairs(instruction, program)
        )
    )


def _may_overwrite_by_order(
    output: WrittenOutput,
    read: ReadOperand,
    computation: Computation,
    program: Program,
    *,
    is_gpu: bool,
) -> bool:
    """Return whether each element is read no later than it is written."""
    instruction, output_index, output_shape = output
    operand, operand_shape = read
    name = instruction.operands[operand].name
    opcode = instruction.opcode
    is_equal = output_shape == operand_shape
    if is_gpu:
        if opcode == "fusion":
            return (
                is_equal or _same_elements(output_shape, operand_shape)
            ) and _gpu_fusion_may_overwrite(instruction, output_index, operand, program)
        if opcode in _COLLECTIVES:
            return len(instruction.operands) == 1 or output_index == f"{{{operand}}}"
        if opcode == "custom-call":
            return _gpu_call_may_overwrite(instruction, output_index, operand)
    if not is_equal:
        return False
    if opcode == "fusion":
        return _fusion_may_overwrite(instruction, operand, program)
    if opcode in _IN_PLACE:
        return operand == _IN_PLACE[opcode] and _is_read_once(instruction, name)
    if opcode == "sort":
        is_sole_reader = len(list(computation.readers(name))) == 1
        index = WHOLE if len(instruction.operands) == 1 else f"{{{operand}}}"
        return is_sole_reader and index == output_index and _is_read_once(instruction, name)
    return opcode in _ELEMENTWISE


def _is_read_once(instruction: Instruction, name: str) -> bool:
    return sum(operand.name == name for operand in instruction.operands) == 1


def _same_elements(one: str, other: str) -> bool:
    """Return whether two arrays have the same number of elements of the same width."""
    found, others = _ARRAY.match(one), _ARRAY.match(other)
    return (
        found is not None
        and others is not None
        and _count(found[2]) == _count(others[2])
        and _width(found[1]) == _width(others[1])
    )


def _count(dimensions: str) -> int:
    return prod(map(int, _SIZE.findall(dimensions)))


def _width(dtype: str) -> int:
    """Return the bytes of an element."""
    if dtype == "pred":
        return 1
    found = _WIDTH.match(dtype)
    return (int(found[1]) + 7) // 8 if found else 0


def _fusion_may_overwrite(fusion: Instruction, operand: int, program: Program) -> bool:
    """Return XLA's `AreTransitiveUsesElementwiseOrTuple` for the parameter of an operand."""
    body = program.computations.get(fusion.callee("calls") or "")
    if body is None:
        return False
    others = _reads_in_other_order(body)
    if not others and body.instructions and body.unread is None:
        return True
    number = _positions(fusion, fusion.operands[operand].name)[0]
    parameter = body.parameters.get(number)
    if parameter is None or parameter.name in _read_by(others, body):
        return False
    if body.unread is not None and parameter.name in _read_by(body.unread, body):
        raise ProgramError(f"{body.name} has an instruction that cannot be read")
    return True


def _reads_in_other_order(body: Computation) -> list[str]:
    """Return the operands of a fusion's instructions that are not read element by element."""
    read: list[str] = []
    for user in body.instructions:
        if user.opcode == "dynamic-update-slice":
            read += user.operand_names[1:]
        elif user.opcode not in _NO_OTHER_ORDER:
            read += user.operand_names
    return read


def _read_by(names: Iterable[str], body: Computation) -> frozenset[str]:
    """Return the named instructions and all that they read, directly or indirectly."""
    waiting = list(names)
    reached = set(waiting)
    while waiting:
        instruction = body.by_name.get(waiting.pop())
        for name in instruction.operand_names if instruction is not None else ():
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return frozenset(reached)


def _positions(user: Instruction, name: str) -> list[int]:
    """Return the operand numbers at which an instruction reads another one."""
    return [row for row, operand in enumerate(user.operands) if operand.name == name]


def _is_elementwise(instruction: Instruction, operand: int) -> bool:
    return instruction.opcode in _ELEMENTWISE or (
        instruction.opcode == "dynamic-update-slice" and operand == 0
    )


def _gpu_fusion_may_overwrite(
    fusion: Instruction, output_index: str, operand: int, program: Program
) -> bool:
    body = program.computations.get(fusion.callee("calls") or "")
    number = _positions(fusion, fusion.operands[operand].name)[0]
    parameter = body.parameters.get(number) if body is not None else None
    if body is None or parameter is None:
        return False
    root = body.root
    is_multiple = root.opcode == "tuple"
    outputs = [body[result.name] for result in root.operands] if is_multiple else [root]
    output = body[root.operand(first_number(output_index)).name] if is_multiple else root
    written = output
    if written.opcode == "bitcast":
        written = body[written.operand(0).name]
    reductions = _reductions(outputs, body)
    waiting = [parameter.name]
    reached = set(waiting)
    while waiting:
        name = waiting.pop()
        if name in reductions:
            continue
        for user in body.readers(name):
            if user.name not in reached:
                reached.add(user.name)
                waiting.append(user.name)
            if not all(
                _may_lie_on_path(user, position, name, written, reductions)
                for position in _positions(user, name)
            ):
                return False
    if is_multiple and written.opcode not in _ELEMENTWISE:
        others = [result.name for result in outputs if result.name != output.name]
        if any(other in reached for other in others):
            return False
    return output.name in reached


def _reductions(outputs: list[Instruction], body: Computation) -> frozenset[str]:
    """Return the reductions in the outputs, computed before any other output is written."""
    found = set()
    for output in outputs:
        source = output
        passed: set[str] = set()
        while source.opcode == "bitcast":
            if source.name in passed:
                raise ProgramError(f"{source.name} is its own operand")
            passed.add(source.name)
            source = body[source.operand(0).name]
        if source.opcode == "reduce":
            found.add(source.name)
    return frozenset(found)


def _may_lie_on_path(
    user: Instruction, position: int, name: str, written: Instruction, reductions: frozenset[str]
) -> bool:
    if user.name == written.name and user.opcode == "scatter":
        count = (len(user.operands) - 1) // 2
        if position < count and _is_read_once(user, name):
            return True
    is_update = written.opcode == "dynamic-update-slice"
    if is_update and user.opcode == "dynamic-slice" and user.operands[:1] == written.operands[:1]:
        return user.operands[1:] == written.operands[2:]
    if user.opcode in ("bitcast", "tuple") or user.name in reductions:
        return True
    if user.opcode != "copy" and _is_elementwise(user, position):
        return True
    return is_update and user.name == written.name and position == 1


def _gpu_call_may_overwrite(call: Instruction, output_index: str, operand: int) -> bool:
    target, beta = call.attributes.target or "", call.attributes.gemm_beta
    if target.startswith("__cublas$lt$matmul") and output_index != "{1}":
        return operand == 2 and beta is not None and beta != 0
    return target == "__cusolver$cholesky" and output_index == "{0}"
