"""Count the iterations of loops of which XLA does not write the number, as on a TPU.

    i = 0;  while i < 128:  …;  i = i + 1

The counter is an element of the loop's state. It starts at a constant, the body adds one to it, and
the condition compares it with a constant.
"""

from typing import Final, NamedTuple

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.instruction import Instruction, Operand, first_number
from xlagraph.hlo.instruction_text import PrintedInstruction
from xlagraph.hlo.module_text import parse_module_text
from xlagraph.hlo.opcodes import COPYING
from xlagraph.hlo.shapes import WHOLE

_FORWARDING: Final = COPYING | {"bitcast"}


class _Element(NamedTuple):
    """An element of the state of a loop."""

    place: int


def counted_loops(module: str) -> dict[str, int]:
    """Return how often loops run, by the name of the ``while``, where constants show it."""
    program = parse_module_text(module)
    found = {}
    for computation in program.computations.values():
        for loop in computation.by_opcode.get("while", ()):
            condition = program.computations.get(loop.callee("condition") or "")
            body = program.computations.get(loop.callee("body") or "")
            if condition and body:
                count = _iterations(loop, computation, condition, body)
                if count is not None:
                    found[loop.name] = count
    return found


def _iterations(
    loop: Instruction, around: Computation, condition: Computation, body: Computation
) -> int | None:
    test, result = condition.find_root(), body.find_root()
    state = around.find(loop.operand_names[0]) if loop.operand_names else None
    if test is None or result is None or state is None or test.opcode != "compare":
        return None
    counter, end = (_source(condition, each) for each in test.operands)
    if not isinstance(counter, _Element) or not isinstance(end, int) or not _is_less(test):
        return None
    is_tuple = state.opcode == result.opcode == "tuple"
    start = _source(around, state.operands[counter.place]) if is_tuple else None
    step = _source(body, result.operands[counter.place]) if is_tuple else None
    if not isinstance(start, int) or not isinstance(step, Instruction) or step.opcode != "add":
        return None
    sum_of = {_source(body, each) for each in step.operands}
    return end - start if sum_of == {counter, 1} and end > start else None


def _source(computation: Computation, operand: Operand) -> Instruction | _Element | int | None:
    """Return the constant or element of the parameter that an operand is, or its instruction."""
    made = computation.find(operand.name)
    while (
        made is not None
        and operand.element == WHOLE
        and made.opcode in _FORWARDING
        and made.operands
    ):
        operand = made.operand(0)
        made = computation.find(operand.name)
    if not isinstance(made, PrintedInstruction):
        return made
    if made.opcode == "constant":
        text = made.operand_text.strip()
        return int(text) if text.removeprefix("-").isdecimal() else None
    place = made.attributes.tuple_element
    if made.opcode == "get-tuple-element" and place is not None:
        read = computation.find(made.operand_names[0])
    else:  # `%p#0`, without an instruction in between
        read, place = made, None if operand.element == WHOLE else first_number(operand.element)
    if read and read.opcode == "parameter" and place is not None:
        return _Element(place)
    return made


def _is_less(test: Instruction) -> bool:
    return isinstance(test, PrintedInstruction) and "direction=LT" in test.attribute_text
