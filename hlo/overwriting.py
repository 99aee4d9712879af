"""Decide if an instruction may write an output over an operand that it reads last.

The rules are those of XLA's `HloDataflowAnalysis::CanShareOperandBufferWithUser` (xla/hlo/analysis/
hlo_dataflow_analysis.cc). Fusions on GPUs have a rule of the backend, `GpuAliasInfo` (formerly
`FusionCanShareBufferHint`, xla/service/gpu/buffer_sharing.cc).

- An update in place overwrites its operand; a constant is never overwritten.
- Otherwise shape and layout must be equal, and each element must be read no later than it is
  written: elementwise operations; fusions in which every path from the parameter is elementwise;
  sorts, if they are the only reader of the operand; the second operand of a triangular solve.
- A fusion on a GPU requires only the same number of elements of the same width. Bitcasts on the
  path are allowed, a reduction that is an output ends a path, and the output must be reached. A
  fusion that is a sort may overwrite an operand that only its sort reads (plans of jaxlib 0.10.2).
"""

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Final, NamedTuple

from xlagraph.hlo.computation import Computation, ComputationOutline
from xlagraph.hlo.in_place import IN_PLACE_OPCODES, in_place_pairs
from xlagraph.hlo.instruction import Instruction, ProgramError, first_number
from xlagraph.hlo.program import Program
from xlagraph.hlo.shapes import WHOLE, Shape

ELEMENTWISE: Final = frozenset((
    "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atan", "atanh",
    "bitcast-convert", "cbrt", "ceil", "clamp", "compare", "complex", "convert", "copy", "cosh",
    "cosine", "count-leading-zeros", "divide", "erf", "exponential", "exponential-minus-one",
    "floor", "imag", "is-finite", "log", "log-plus-one", "logistic", "map", "maximum", "minimum",
    "multiply", "negate", "not", "or", "popcnt", "power", "real", "reduce-precision", "remainder",
    "rng", "round-nearest-afz", "round-nearest-even", "rsqrt", "select", "shift-left",
    "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "sinh", "sqrt",
    "stochastic-convert", "subtract", "tan", "tanh", "xor",
))  # fmt: skip
_NO_OTHER_ORDER: Final = ELEMENTWISE | {"parameter", "constant", "tuple"}
"""Opcodes of fusions that read each element no later than they write it."""
_IN_PLACE: Final = {
    "dynamic-update-slice": 0,
    "scatter": 0,
    "set-dimension-size": 0,
    "triangular-solve": 1,
}
"""Number of the operand that each opcode may overwrite."""
_COLLECTIVES: Final = ("all-reduce", "collective-broadcast")
_OVERWRITING: Final = (ELEMENTWISE - {"copy"}) | {*_IN_PLACE, "sort", *IN_PLACE_OPCODES}
_OVERWRITING_ON_GPU: Final = _OVERWRITING | {*_COLLECTIVES, "custom-call"}


class WrittenOutput(NamedTuple):
    """An output that an instruction writes, or a leaf of the output."""

    instruction: Instruction
    shape_index: str
    shape: Shape


def overwriting(computation: Computation, *, is_gpu: bool) -> Iterator[Instruction]:
    """Yield the instructions that can overwrite an operand; a quick first test."""
    opcodes = _OVERWRITING_ON_GPU if is_gpu else _OVERWRITING
    declares_aliasing = computation.declares_aliasing
    for opcode, instructions in computation.by_opcode.items():
        if opcode in opcodes:
            yield from instructions
        elif declares_aliasing and opcode != "copy":
            yield from [each for each in instructions if each.attributes.aliasing]


def overwritable(
    output: WrittenOutput, operands: Mapping[int, Shape], program: Program, *, is_gpu: bool
) -> list[int]:
    """Return the operands that an output may overwrite, of those that nothing else needs.

    `operands` are numbers, with the shapes that the instruction reads.
    """
    instruction, output_index, output_shape = output
    equal = [number for number, shape in operands.items() if shape == output_shape]
    tried = list(operands) if is_gpu else equal
    if not tried:
        return []
    computation = program.computation(instruction.computation)
    names = instruction.operand_names
    sources = [(number, computation.by_name.get(names[number])) for number in tried]
    tried = [number for number, each in sources if each is None or each.opcode != "constant"]
    if instruction.opcode == "fusion" and not is_gpu:
        found = _read_in_order(instruction, tried, program)
    else:
        found = [
            number
            for number in tried
            if _may_overwrite_by_order(
                output, (number, operands[number]), computation, program, is_gpu=is_gpu
            )
        ]
    if len(found) < len(tried):
        found += [
            pair.operand
            for pair in in_place_pairs(instruction, program)
            if pair.output_index == output_index
            and pair.operand in equal
            and pair.operand_index == WHOLE
        ]
    return [number for number in tried if number in found]


def _may_overwrite_by_order(
    output: WrittenOutput,
    read: tuple[int, Shape],
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
    if opcode in _IN_PLACE:
        return operand == _IN_PLACE[opcode] and _is_read_once(instruction, name)
    if opcode == "sort":
        is_sole_reader = len(list(computation.readers(name))) == 1
        index = WHOLE if len(instruction.operands) == 1 else f"{{{operand}}}"
        return is_sole_reader and index == output_index and _is_read_once(instruction, name)
    return opcode in ELEMENTWISE


def _is_read_once(instruction: Instruction, name: str) -> bool:
    return sum(operand.name == name for operand in instruction.operands) == 1


def _same_elements(one: Shape, other: Shape) -> bool:
    """Return whether two arrays have the same number of elements of the same width."""
    lengths, others = one.dimensions, other.dimensions
    if lengths is None or others is None:
        return False
    return prod(lengths) == prod(others) and one.element_bytes == other.element_bytes


def _read_in_order(fusion: Instruction, operands: list[int], program: Program) -> list[int]:
    """Return the operands to which XLA's `AreTransitiveUsesElementwiseOrTuple` applies."""
    body = program.computations.get(fusion.callee("calls") or "")
    if body is None:
        return []
    outline = body.outline()
    is_tpu = _is_tiled(fusion.shape)
    others = _read_in_other_order(outline, (), is_tpu=is_tpu)
    if outline.rows and not others and outline.unread is None:
        return operands
    in_order = _parameters_except(others, outline)
    first = fusion.operands.index
    numbers = [first(fusion.operands[operand]) for operand in operands]
    if outline.unread is not None:
        uncertain = _read_in_other_order(outline, outline.unread, is_tpu=is_tpu)
        certain = _parameters_except(uncertain, outline)
        if not certain.issuperset(in_order.intersection(numbers)):
            raise ProgramError(f"{body.name} has an instruction that cannot be read")
    return [
        operand for operand, number in zip(operands, numbers, strict=True) if number in in_order
    ]


def _is_tiled(shape: Shape | None) -> bool:
    """Return True for the layout of an array, or of an element, on a TPU."""
    if shape is not None and shape.is_tuple:
        return any(map(_is_tiled, shape.elements))
    return shape is not None and ":T(" in (shape.layout or "")


def _read_in_other_order(
    outline: ComputationOutline, last: Iterable[str], *, is_tpu: bool
) -> set[str]:
    """Return what an instruction does not read element by element, directly or indirectly.

    ``last`` names what is known to be read like that. Operands precede their readers. A TPU also
    reads element by element what it reduces to another result of the fusion (seen in dumps).
    """
    names_of = outline.operand_names
    read = set(last)
    reduced: frozenset[str] = frozenset()
    for name, opcode, argument in reversed(outline.rows):
        if is_tpu and opcode == "tuple" and not reduced:
            reduced = frozenset(names_of(argument))
        is_in_order = opcode in _NO_OTHER_ORDER or (opcode == "reduce" and name in reduced)
        if name in read or not is_in_order:
            is_update = opcode == "dynamic-update-slice" and name not in read
            read.update(names_of(argument)[1:] if is_update else names_of(argument))
    return read


def _parameters_except(names: set[str], outline: ComputationOutline) -> set[int | None]:
    """Return the numbers of the other parameters."""
    return {
        outline.parameter_number(argument)
        for name, opcode, argument in outline.rows
        if opcode == "parameter" and name not in names
    }


def _positions(user: Instruction, name: str) -> list[int]:
    """Return the operand numbers at which an instruction reads another one."""
    return [row for row, operand in enumerate(user.operands) if operand.name == name]


def _is_elementwise(instruction: Instruction, operand: int) -> bool:
    return instruction.opcode in ELEMENTWISE or (
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
    if root.opcode == "sort":
        position = 0 if output_index == WHOLE else first_number(output_index)
        readers = list(body.readers(parameter.name))
        return readers == [root] and _positions(root, parameter.name) == [position]
    is_multiple = root.opcode == "tuple"
    outputs = [body[result.name] for result in root.operands] if is_multiple else [root]
    output = body[root.operand(first_number(output_index)).name] if is_multiple else root
    written = output
    if written.opcode == "bitcast":
        written = body[written.operand(0).name]
    hero = _hero_reduction(outputs, body)
    waiting = [parameter.name]
    reached = set(waiting)
    while waiting:
        name = waiting.pop()
        if name == hero:
            continue
        for user in body.readers(name):
            if user.name not in reached:
                reached.add(user.name)
                waiting.append(user.name)
            if not all(
                _may_lie_on_path(user, position, name, written, hero)
                for position in _positions(user, name)
            ):
                return False
    if is_multiple and written.opcode not in ELEMENTWISE:
        others = [result.name for result in outputs if result.name != output.name]
        if any(other in reached for other in others):
            return False
    return output.name in reached


def _hero_reduction(outputs: list[Instruction], body: Computation) -> str | None:
    """Return the first reduction in the outputs, computed before any other output is written."""
    for output in outputs:
        source = output
        passed: set[str] = set()
        while source.opcode == "bitcast":
            if source.name in passed:
                raise ProgramError(f"{source.name} is its own operand")
            passed.add(source.name)
            source = body[source.operand(0).name]
        if source.opcode == "reduce":
            return source.name
    return None


def _may_lie_on_path(
    user: Instruction, position: int, name: str, written: Instruction, hero: str | None
) -> bool:
    if user.name == written.name and user.opcode == "scatter":
        count = (len(user.operands) - 1) // 2
        if position < count and _is_read_once(user, name):
            return True
    is_update = written.opcode == "dynamic-update-slice"
    if is_update and user.opcode == "dynamic-slice" and user.operands[:1] == written.operands[:1]:
        return user.operands[1:] == written.operands[2:]
    if user.opcode in ("bitcast", "tuple") or user.name == hero:
        return True
    if user.opcode != "copy" and _is_elementwise(user, position):
        return True
    return is_update and user.name == written.name and position == 1


def _gpu_call_may_overwrite(call: Instruction, output_index: str, operand: int) -> bool:
    target, beta = call.attributes.target or "", call.attributes.gemm_beta
    if target.startswith("__cublas$lt$matmul") and output_index != "{1}":
        return operand == 2 and beta is not None and beta != 0
    return target == "__cusolver$cholesky" and output_index == "{0}"
