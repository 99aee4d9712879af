"""Search for the instruction to which a value belongs, by the rules of `attribution`."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.metadata import is_installed
from xlagraph.hlo.opcodes import CONTROL_FLOW
from xlagraph.hlo.program import Program
from xlagraph.hlo.shapes import index_numbers
from xlagraph.ingest.measures.origins import MOVING, InstructionResult, Origins
from xlagraph.ingest.measures.source_places import LOCATION, Places
from xlagraph.ingest.measures.stacks import find_stacks
from xlagraph.ingest.plan import Value

_TUPLES_PASS: Final = frozenset(("copy", "opt-barrier", "optimization-barrier", "while"))
"""Opcodes that pass each element of the operand on as the same element of the result."""


class SearchRule(StrEnum):
    """Rule that found the instruction."""

    STACK = "stack"
    OWN = "own"
    INSIDE = "inside"
    OPERAND = "operand"
    READER = "reader"


class StackOfValue(NamedTuple):
    """The stack in which a value lies."""

    loop: str
    """Name of the `while` that fills it."""
    turns: int
    """Number of parts."""
    element: str | None
    """Name of the instruction that makes the part an iteration writes, if the plan names it."""


class _Caller(NamedTuple):
    """An instruction that runs a computation on its operands."""

    instruction: Instruction
    operand: int | None
    """Operand that a branch of a conditional takes; None if all are passed, in their order."""


class OpSearch:
    """Rules 0 to 3, with a cache of their results."""

    def __init__(self, program: Program, named: Mapping[str, Instruction], places: Places) -> None:
        self._program = program
        self._named = named
        self._places = places
        self._origins = Origins(program)
        self._stacks = find_stacks(program, self._origins, named, self._line)
        self._elements: dict[InstructionResult, Instruction | None] = {}
        self._inside: dict[InstructionResult, Instruction | None] = {}
        self._with_op_names: dict[str, bool] = {}
        self._through: dict[InstructionResult, Instruction | None] = {}

    def of_value(self, value: Value) -> tuple[SearchRule, Instruction] | None:
        """Return the instruction to which a value belongs by rules 0 to 3."""
        instruction = self._program.instructions.get(value.name)
        if instruction is None:
            return None
        result = InstructionResult(instruction, index_numbers(value.shape_index))
        if (element := self._find_element(result)) is not None:
            return SearchRule.STACK, element
        if instruction.attributes.op_name is not None:
            return SearchRule.OWN, instruction
        if (inside := self._find_inside(result)) is not None:
            return SearchRule.INSIDE, inside
        if (operand := self._find_through_operands(result)) is not None:
            return SearchRule.OPERAND, operand
        return None

    def stacks_of_values(self, values: Sequence[Value]) -> tuple[StackOfValue | None, ...]:
        """Return the stack in which each value lies."""
        if not self._stacks:
            return (None,) * len(values)
        return tuple(map(self._stack_of_value, values))

    def _stack_of_value(self, value: Value) -> StackOfValue | None:
        found = self._stacks.get((value.name, index_numbers(value.shape_index)))
        return None if found is None else StackOfValue(found.loop, found.turns, found.maker)

    def first(self, names: Iterable[str]) -> Instruction | None:
        """Return the first instruction that rule 0, 1 or 2 finds for any of these, in order."""
        readers = map(self._program.instructions.get, names)
        found = (
            self._own_or_inside(InstructionResult(each)) for each in readers if each is not None
        )
        return next((each for each in found if each is not None), None)

    def _own_or_inside(self, result: InstructionResult) -> Instruction | None:
        instruction = result.instruction
        if (element := self._find_element(result)) is not None:
            return element
        if instruction.attributes.op_name is not None:
            return instruction
        return self._find_inside(result)

    def _find_element(self, result: InstructionResult) -> Instruction | None:
        """Apply rule 0."""
        stack = self._stacks.get(result.key) if self._stacks else None
        if stack is None:
            return None
        element = stack.element
        if element not in self._elements:
            self._elements[element] = None  # ends the recursion if it is made of itself
            self._elements[element] = self._own_or_inside(element) or (
                self._find_through_operands(element)
            )
        return self._elements[element]

    def _find_inside(self, result: InstructionResult) -> Instruction | None:
        """Apply rule 2."""
        instruction = result.instruction
        if not instruction.runs_computations:
            return None
        for name in instruction.called:
            if self._has_op_names(name):
                break
        else:
            return None
        if result not in self._inside:
            self._inside[result] = self._search_inside(result)
        return self._inside[result]

    def _has_op_names(self, name: str) -> bool:
        """Return True if a computation, or one that it calls, has an op name."""
        if (known := self._with_op_names.get(name)) is None:
            self._with_op_names[name] = False  # ends the recursion if it calls itself
            found = self._program.computations.get(name)
            known = found is not None and (
                found.has_op_names or any(map(self._has_op_names, found.runs))
            )
            self._with_op_names[name] = known
        return known

    def _search_inside(self, result: InstructionResult) -> Instruction | None:
        waiting = deque(self._origins.roots(result))
        seen = set(waiting)
        while waiting:
            at = waiting.popleft()
            if at.instruction.attributes.op_name is not None:
                return at.instruction
            for further in (*self._origins.roots(at), *self._origins.sources(at)):
                if further not in seen:
                    seen.add(further)
                    waiting.append(further)
        return None

    def _find_through_operands(self, result: InstructionResult) -> Instruction | None:
        """Apply rule 3."""
        path: dict[InstructionResult, None] = {}
        at: InstructionResult | None = result
        found = None
        while at is not None and at not in path and at not in self._through:
            path[at] = None
            at = self._moved_from(at)
            if at is not None and (found := self._moved_element(at) or self._own_or_inside(at)):
                break
        else:
            found = self._through.get(at) if at is not None else None
        self._through.update(dict.fromkeys(path, found))
        return found

    def _moved_element(self, result: InstructionResult) -> Instruction | None:
        """Apply rule 0 to the stack that a get-tuple-element reads, whatever its own op name."""
        if not self._stacks or result.instruction.opcode != "get-tuple-element":
            return None
        read = self._origins.read_element(result)
        return None if read is None else self._find_element(read)

    def _moved_from(self, result: InstructionResult) -> InstructionResult | None:
        """Return the result that this one moves or reshapes; None if it computes."""
        instruction, element = result
        opcode = instruction.opcode
        if opcode == "parameter":
            return self._passed_in(result)
        if opcode == "get-tuple-element":
            return self._origins.read_element(result)
        if opcode == "tuple" and element:
            found = self._origins.element(result)
            return None if found == result else found
        if opcode in _TUPLES_PASS:
            return self._origins.operand(instruction, 0, element)
        if (
            (opcode in MOVING and not instruction.is_async_start)
            or opcode == "call"
            or self._origins.runs_only_moves(instruction)
        ):
            return self._origins.operand(instruction, 0)
        return None

    def _passed_in(self, parameter: InstructionResult) -> InstructionResult | None:
        """Return the operand that is passed to a parameter of a loop, branch or call."""
        caller = self._callers.get(parameter.instruction.computation)
        if caller is None:
            return None
        number = caller.operand
        if number is None:
            number = parameter.instruction.parameter_number
        if number is None:
            return None
        return self._origins.operand(caller.instruction, number, parameter.element)

    def _line(self, instruction: Instruction) -> tuple[str, int | None] | None:
        """Return file and line of an instruction; None if unknown or of an installed package."""
        file, line, _, _ = self._places[LOCATION(instruction.attributes)]
        return None if not file or is_installed(file) else (file, line)

    @cached_property
    def _callers(self) -> Mapping[str | None, _Caller]:
        """Callers by computation, for control flow and async instructions; not for fusions."""
        callers: dict[str | None, _Caller] = {}
        for instruction in self._named.values():
            if instruction.opcode in CONTROL_FLOW or instruction.is_async_start:
                is_conditional = instruction.opcode == "conditional"
                for branch, computation in enumerate(instruction.called, 1):
                    operand = branch if is_conditional else None
                    callers.setdefault(computation, _Caller(instruction, operand))
        return callers
