"""Attribution: which op of the user's program each value belongs to.

The first rule that finds an instruction with an op name decides. File, line and call stack
are those of the same instruction.

0. stack: the value lies in a stack that a loop fills. Rules 0 to 3 are applied to what a turn
   writes there (see `stacks`).
1. own: the defining instruction.
2. inside: an instruction of the computation that the defining instruction calls (fusion, call,
   async, custom call; also nested). The search is breadth first from the root, operands in
   their order. For a tuple element it begins at that operand of the root.
3. operand: the defining instruction only moves or reshapes, or is a fusion of such
   instructions. Rules 0 to 3 are applied to its first operand; for the result of a loop or
   call, to the value passed in.
4. reader: the first reader in the schedule for which rule 0, 1 or 2 finds one.

A value belongs to no op if no rule finds one.

The user's line is the innermost frame of that instruction's call stack that is outside of
installed packages. Without a call stack it is the instruction's line, if that is outside.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from xlagraph.ingest.measures.origins import MOVING, Origins, Result, index_numbers
from xlagraph.ingest.measures.stacks import Where, find_stacks
from xlagraph.ingest.model.installed_files import is_installed
from xlagraph.ingest.model.plan import Plan, Value
from xlagraph.ingest.model.program import Instruction, Program

__all__ = ["Attribution", "Attributions", "Rule", "StackOfValue", "UserLine", "attributions"]


class Rule(StrEnum):
    """Rule that found the instruction."""

    STACK = "stack"
    OWN = "own"
    INSIDE = "inside"
    OPERAND = "operand"
    READER = "reader"


class UserLine(NamedTuple):
    """A line outside of installed packages."""

    file: str
    line: int | None
    function: str | None


class Attribution(NamedTuple):
    """The instruction with an op name to which a value belongs."""

    rule: Rule
    op_name: str
    source_file: str | None
    source_line: int | None
    stack_frame: int | None
    """Innermost frame of its call stack."""
    user_line: UserLine | None


_TUPLES_PASS: Final = frozenset(("copy", "opt-barrier", "optimization-barrier", "while"))
"""Opcodes that pass each element of the operand on as the same element of the result."""
_CONTROL_FLOW: Final = frozenset(("while", "call", "conditional"))


class StackOfValue(NamedTuple):
    """The stack in which a value lies."""

    loop: str
    """Name of the `while` that fills it."""
    turns: int
    """Number of parts."""
    element: str | None
    """Name of the instruction that makes the part a turn writes, if the plan names it."""


class Attributions(NamedTuple):
    """The op that each value of a plan belongs to, and the stack in which it lies."""

    owners: tuple[Attribution | None, ...]
    stacks: tuple[StackOfValue | None, ...]


def attributions(
    plan: Plan,
    program: Program,
    steps: Mapping[str, int],
    instructions: Sequence[Instruction],
) -> Attributions:
    """Return the attribution and the stack of each of the plan's values.

    ``steps`` maps names of scheduled instructions to their steps, and ``instructions`` are those
    that the plan names.

    Algorithm: rules 0 to 3 look once at each instruction with its shape index, rule 4 at
    each use of the remaining values: linear in instructions and uses.
    """
    locations = _Locations(program)
    search = _Search(program, instructions, locations.line)
    found = [search.of_value(value) for value in plan.values]
    readers = _readers(plan, [value for value, rule in zip(plan.values, found, strict=True)
                              if rule is None], steps)  # fmt: skip
    result: list[Attribution | None] = []
    for value, source in zip(plan.values, found, strict=True):
        if source is None and (reader := search.first(readers.get(value.value_id, ()))) is not None:
            source = Rule.READER, reader
        result.append(None if source is None else locations.attribution(*source))
    return Attributions(tuple(result), tuple(map(search.stack_of_value, plan.values)))


def _readers(
    plan: Plan, values: Iterable[Value], steps: Mapping[str, int]
) -> dict[int, Sequence[str]]:
    """Return the scheduled readers of values, the first in the schedule first."""
    wanted = {value.value_id for value in values}
    return {
        used.value_id: sorted(
            {use.instruction for use in used.uses if use.instruction in steps},
            key=lambda name: (steps[name], name),
        )
        for used in plan.used_values or ()
        if used.value_id in wanted
    }


class _Caller(NamedTuple):
    """An instruction that runs a computation on its operands."""

    instruction: Instruction
    operand: int | None
    """Operand that a branch of a conditional takes; None if all are passed, in their order."""


class _Search:
    """Rules 0 to 3, with a cache of their results."""

    def __init__(self, program: Program, named: Sequence[Instruction], where: Where) -> None:
        self._program = program
        self._named = named
        self._origins = Origins(program)
        self._stacks = find_stacks(program, self._origins, named, where)
        self._elements: dict[Result, Instruction | None] = {}
        self._inside: dict[Result, Instruction | None] = {}
        self._with_op_names: dict[str, bool] = {}
        self._through: dict[Result, Instruction | None] = {}

    def of_value(self, value: Value) -> tuple[Rule, Instruction] | None:
        """Return the instruction to which a value belongs by rules 0 to 3."""
        instruction = self._program.instructions.get(value.name)
        if instruction is None:
            return None
        result = Result(instruction, index_numbers(value.shape_index))
        if (element := self._find_element(result)) is not None:
            return Rule.STACK, element
        if instruction.attributes.op_name is not None:
            return Rule.OWN, instruction
        if (inside := self._find_inside(result)) is not None:
            return Rule.INSIDE, inside
        if (operand := self._find_through_operands(result)) is not None:
            return Rule.OPERAND, operand
        return None

    def stack_of_value(self, value: Value) -> StackOfValue | None:
        """Return the stack in which a value lies."""
        found = self._stacks.get((value.name, index_numbers(value.shape_index)))
        if found is None:
            return None
        return StackOfValue(found.loop, found.turns, found.maker)

    def first(self, names: Iterable[str]) -> Instruction | None:
        """Return the first instruction that rule 0, 1 or 2 finds for any of these, in order."""
        readers = map(self._program.instructions.get, names)
        found = (self._own_or_inside(Result(each)) for each in readers if each is not None)
        return next((each for each in found if each is not None), None)

    def _own_or_inside(self, result: Result) -> Instruction | None:
        instruction = result.instruction
        if (element := self._find_element(result)) is not None:
            return element
        if instruction.attributes.op_name is not None:
            return instruction
        return self._find_inside(result)

    def _find_element(self, result: Result) -> Instruction | None:
        """Apply rule 0."""
        stack = self._stacks.get(result.key)
        if stack is None:
            return None
        element = stack.element
        if element not in self._elements:
            self._elements[element] = None  # ends the recursion if it is made of itself
            self._elements[element] = self._own_or_inside(element) or (
                self._find_through_operands(element)
            )
        return self._elements[element]

    def _find_inside(self, result: Result) -> Instruction | None:
        """Apply rule 2."""
        if not result.instruction.runs_computations:
            return None
        if result not in self._inside:
            has_op_names = any(map(self._has_op_names, result.instruction.called))
            self._inside[result] = self._search_inside(result) if has_op_names else None
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

    def _search_inside(self, result: Result) -> Instruction | None:
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

    def _find_through_operands(self, result: Result) -> Instruction | None:
        """Apply rule 3."""
        path: dict[Result, None] = {}
        at: Result | None = result
        found = None
        while at is not None and at not in path and at not in self._through:
            path[at] = None
            at = next(self._moved_from(at), None)
            if at is not None and (found := self._own_or_inside(at)) is not None:
                break
        else:
            found = self._through.get(at) if at is not None else None
        self._through.update(dict.fromkeys(path, found))
        return found

    def _moved_from(self, result: Result) -> Iterator[Result]:
        """Yield the result that this one moves or reshapes."""
        instruction, element = result
        opcode = instruction.opcode
        if opcode == "parameter":
            yield from self._passed_in(result)
        elif not instruction.operands:
            return
        elif opcode == "get-tuple-element":
            yield from self._origins.read_element(result)
        elif opcode == "tuple" and element:
            yield from (each for each in self._origins.element(result) if each != result)
        elif opcode in _TUPLES_PASS:
            yield from self._origins.operand(instruction, instruction.operands[0], element)
        elif (
            (opcode in MOVING and not instruction.is_async_start)
            or opcode == "call"
            or self._origins.runs_only_moves(instruction)
        ):
            yield from self._origins.operand(instruction, instruction.operands[0])

    def _passed_in(self, parameter: Result) -> Iterator[Result]:
        """Yield the operand that is passed to a parameter of a loop, branch or call."""
        caller = self._callers.get(parameter.instruction.computation)
        if caller is None:
            return
        number = caller.operand
        if number is None:
            number = parameter.instruction.parameter_number
        operands = caller.instruction.operands
        if number is not None and number < len(operands):
            yield from self._origins.operand(
                caller.instruction, operands[number], parameter.element
            )

    @cached_property
    def _callers(self) -> Mapping[str | None, _Caller]:
        """Callers by computation, for control flow and async instructions; not for fusions."""
        callers: dict[str | None, _Caller] = {}
        for instruction in self._named:
            if instruction.opcode in _CONTROL_FLOW or instruction.is_async_start:
                is_conditional = instruction.opcode == "conditional"
                for branch, computation in enumerate(instruction.called, 1):
                    operand = branch if is_conditional else None
                    callers.setdefault(computation, _Caller(instruction, operand))
        return callers


class _Locations:
    """Source locations of the instructions that were found."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._user_lines: dict[int | None, UserLine | None] = {None: None}
        """User lines by frame, filled on demand: instructions share few frames."""

    def attribution(self, rule: Rule, instruction: Instruction) -> Attribution:
        """Return the attribution to an instruction."""
        attributes = instruction.attributes
        file, line = self._program.source_location(attributes)
        frame = attributes.stack_frame if attributes.stack_frame in self._program.frames else None
        if frame not in self._user_lines:
            self._user_lines[frame] = self._user_line(frame)
        user_line = self._user_lines[frame]
        if frame is None and file and not is_installed(file):
            user_line = UserLine(file, line, None)
        return Attribution(rule, attributes.op_name or "", file or None, line, frame, user_line)

    def line(self, instruction: Instruction) -> tuple[str, int | None] | None:
        """Return file and line of an instruction; None if unknown or of an installed package."""
        file, line = self._program.source_location(instruction.attributes)
        return None if not file or is_installed(file) else (file, line)

    def _user_line(self, frame: int | None) -> UserLine | None:
        while frame is not None:
            at = self._program.frames[frame]
            if at.file is not None and not is_installed(at.file):
                return UserLine(at.file, at.line, at.function)
            frame = at.caller
        return None
