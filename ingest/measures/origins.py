"""Origin of an instruction's result: one step back, through tuples and computations."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.program import Program
from xlagraph.hlo.shapes import index_numbers


class InstructionResult(NamedTuple):
    """An instruction's result, or one element of it."""

    instruction: Instruction
    element: tuple[int, ...] = ()
    """Shape index of the element; empty for the whole result."""

    @property
    def key(self) -> tuple[str, tuple[int, ...]]:
        """Name of the instruction, unique in a program, and the element."""
        return self.instruction.name, self.element


ASYNC_ENDS: Final = frozenset(("async-update", "async-done"))
"""Opcodes of instructions that continue an asynchronous computation, or wait for it."""
MOVING: Final = ASYNC_ENDS | frozenset((
    "copy", "copy-start", "copy-done", "bitcast", "bitcast-convert", "convert", "transpose",
    "reshape", "broadcast", "pad", "slice", "dynamic-slice", "concatenate", "reverse",
    "get-tuple-element", "tuple", "opt-barrier", "optimization-barrier",
    "slice-start", "slice-done", "dynamic-slice-start", "dynamic-slice-done",
))  # fmt: skip
"""Opcodes of instructions that only move or reshape."""
_INPUTS: Final = frozenset(("parameter", "constant"))
_FUSION_LIKE: Final = frozenset(("fusion", "async-start"))
_MOVES_WITHIN: Final = MOVING | _INPUTS | _FUSION_LIKE
"""Opcodes of a computation that only moves or reshapes."""
_OUTPUT_OF_ASYNC: Final = 1
"""Element of an async-start that is the result of its computation; 0 is the operands."""
_DEEPEST_INDEX: Final = 32
"""Limit of nested tuples; only an instruction that is its own operand nests deeper."""


class Origins:
    """Steps back through a program, with a cache of facts about computations."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._only_moves: dict[str, bool] = {}

    def roots(self, result: InstructionResult) -> list[InstructionResult]:
        """Return the results in called computations that become this result."""
        instruction, element = result
        if not instruction.runs_computations:
            return []
        if element and instruction.is_async_start:
            if element[0] != _OUTPUT_OF_ASYNC:
                return []
            element = element[1:]
        return self._results_of(instruction.called, element)

    def results_of_branches(self, result: InstructionResult) -> list[InstructionResult]:
        """Return the results in the branches of a conditional that may become this result."""
        return self._results_of(result.instruction.branches, result.element)

    def _results_of(
        self, computations: Iterable[str], element: tuple[int, ...]
    ) -> list[InstructionResult]:
        called = map(self._program.computations.get, computations)
        roots = [each.find_root() for each in called if each is not None]
        found = [
            self.element(InstructionResult(root, element)) for root in roots if root is not None
        ]
        return [each for each in found if each is not None]

    def element(self, result: InstructionResult) -> InstructionResult | None:
        """Return the operand at an element of a tuple, not the tuple; None if it is unknown."""
        instruction, element = result
        passed: set[Instruction] = set()
        while element and instruction.opcode == "tuple" and instruction not in passed:
            passed.add(instruction)
            if element[0] >= len(instruction.operands):
                break
            operand = instruction.operands[element[0]]
            found = self._program.find(operand.name, instruction.computation)
            if found is None:
                return None
            instruction, element = found, index_numbers(operand.element) + element[1:]
        return (
            InstructionResult(instruction, element[:_DEEPEST_INDEX])
            if passed or element
            else result
        )

    def operand(
        self, reader: Instruction, number: int, element: tuple[int, ...] = ()
    ) -> InstructionResult | None:
        """Return an element of an operand; None if the program does not contain it."""
        if number >= len(reader.operands):
            return None
        operand = reader.operands[number]
        found = self._program.find(operand.name, reader.computation)
        if found is None:
            return None
        return self.element(InstructionResult(found, index_numbers(operand.element) + element))

    def started(self, result: InstructionResult) -> InstructionResult | None:
        """Return the result of the asynchronous computation that an instruction waits for."""
        given = self.operand(result.instruction, 0)
        if given is None or not given.instruction.is_async_start:
            return given and given._replace(element=result.element)
        return given._replace(element=(_OUTPUT_OF_ASYNC, *result.element))

    def sources(self, result: InstructionResult) -> list[InstructionResult]:
        """Return an instruction's operands; for a get-tuple-element, the element it reads."""
        instruction = result.instruction
        if instruction.opcode == "get-tuple-element":
            found = [self.read_element(result)]
        else:
            found = [self.operand(instruction, each) for each in range(len(instruction.operands))]
        return [each for each in found if each is not None]

    def read_element(self, result: InstructionResult) -> InstructionResult | None:
        """Return the element that a get-tuple-element reads; None if it is unknown."""
        number = result.instruction.attributes.tuple_element
        own = () if number is None else (number,)
        return self.operand(result.instruction, 0, own + result.element)

    def runs_only_moves(self, instruction: Instruction) -> bool:
        """Return True for a fusion or async start that only moves or reshapes."""
        if instruction.opcode != "fusion" and not instruction.is_async_start:
            return False
        called = instruction.called
        return bool(called) and all(map(self._only_moves_in, called))

    def _only_moves_in(self, name: str) -> bool:
        """Return True if all instructions of a computation only move or reshape."""
        if name not in self._only_moves:
            computation = self._program.computations.get(name)
            self._only_moves[name] = False  # ends the recursion if it calls itself
            self._only_moves[name] = computation is not None and self._all_move(computation)
        return self._only_moves[name]

    def _all_move(self, computation: Computation) -> bool:
        opcodes = computation.opcodes
        if not opcodes or not opcodes <= _MOVES_WITHIN:
            return False
        return opcodes.isdisjoint(_FUSION_LIKE) or all(
            self.runs_only_moves(each)
            for each in computation.instructions
            if each.opcode == "fusion" or each.is_async_start
        )
