"""Attribution: which op of the user's program each value belongs to.

By the first rule that finds an instruction with an op name; file, line and call stack are
those of that same instruction:

1. own: the defining instruction.
2. inside: of the computation that it calls (fusion, call, async, custom call; nested ones
   too), breadth first from the root, operands in their order; for a tuple element from
   that operand of the root.
3. operand: of an instruction that only moves or reshapes, or of a fusion of nothing else,
   the first operand, by rules 1 to 3; what comes out of a loop or call by the value that
   goes in.
4. reader: the first reader in the schedule that has one by rule 1 or 2.

A value of which no rule finds one belongs to none.

The user's line is the innermost frame of that instruction's call stack outside of
installed packages; without a stack its own line, if that is outside.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from xlagraph.ingest.model.installed_files import is_installed
from xlagraph.ingest.model.plan import Plan, Value
from xlagraph.ingest.model.program import WHOLE, Computation, Instruction, Operand, Program

__all__ = ["Attribution", "Rule", "UserLine", "attributions"]


class Rule(StrEnum):
    """How the instruction was found."""

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


class _Result(NamedTuple):
    """What an instruction returns, or one element of it."""

    instruction: Instruction
    element: tuple[int, ...] = ()
    """Shape index of the element; empty for the whole."""


_MOVING: Final = frozenset((
    "copy", "copy-start", "copy-done", "bitcast", "bitcast-convert", "convert", "transpose",
    "reshape", "broadcast", "pad", "slice", "dynamic-slice", "concatenate", "reverse",
    "get-tuple-element", "tuple", "opt-barrier", "optimization-barrier",
    "slice-start", "slice-done", "dynamic-slice-start", "dynamic-slice-done",
    "async-update", "async-done",
))  # fmt: skip
_TUPLES_PASS: Final = frozenset(("copy", "opt-barrier", "optimization-barrier", "while"))
"""What hands each element of its operand on as the same element of its result."""
_CONTROL_FLOW: Final = frozenset(("while", "call", "conditional"))
_INPUTS: Final = frozenset(("parameter", "constant"))
_FUSION_LIKE: Final = frozenset(("fusion", "async-start"))
_MOVES_WITHIN: Final = _MOVING | _INPUTS | _FUSION_LIKE
"""Opcodes of a computation that only moves or reshapes."""
_OUTPUT_OF_ASYNC: Final = 1
"""Element of an async-start that is the result of its computation; 0 is the operands."""
_DEEPEST_INDEX: Final = 32
"""Tuples in tuples; only an instruction that is its own operand leads deeper."""


def attributions(
    plan: Plan,
    program: Program,
    steps: Mapping[str, int],
    instructions: Iterable[Instruction],
) -> tuple[Attribution | None, ...]:
    """Return what each of the plan's values belongs to; ``steps`` are those of the schedule.

    ``instructions`` are those that the plan names.

    Algorithm: rules 1 to 3 look at each instruction with its shape index once, rule 4 at
    each use of the values that are left: linear in instructions and uses.
    """
    search = _Search(program, instructions)
    found = [search.of_value(value) for value in plan.values]
    readers = _readers(plan, [value for value, rule in zip(plan.values, found, strict=True)
                              if rule is None], steps)  # fmt: skip
    locations = _Locations(program)
    result: list[Attribution | None] = []
    for value, source in zip(plan.values, found, strict=True):
        if source is None and (reader := search.first(readers.get(value.value_id, ()))) is not None:
            source = Rule.READER, reader
        result.append(None if source is None else locations.attribution(*source))
    return tuple(result)


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
    """Of a conditional the operand that the computation takes; None: all, in their order."""


class _Search:
    """Rules 1 to 3; what was found is remembered."""

    def __init__(self, program: Program, named: Iterable[Instruction]) -> None:
        self._program = program
        self._named = named
        self._inside: dict[_Result, Instruction | None] = {}
        self._with_op_names: dict[str, bool] = {}
        self._only_moves: dict[str, bool] = {}
        self._through: dict[_Result, Instruction | None] = {}

    def of_value(self, value: Value) -> tuple[Rule, Instruction] | None:
        """Return the instruction to which a value belongs by rules 1 to 3."""
        instruction = self._program.instructions.get(value.name)
        if instruction is None:
            return None
        if instruction.attributes.op_name is not None:
            return Rule.OWN, instruction
        result = _Result(instruction, _shape_index(value.shape_index))
        if (inside := self._find_inside(result)) is not None:
            return Rule.INSIDE, inside
        if (operand := self._find_through_operands(result)) is not None:
            return Rule.OPERAND, operand
        return None

    def first(self, names: Iterable[str]) -> Instruction | None:
        """Return what the first of some instructions belongs to that has one by rule 1 or 2."""
        readers = map(self._program.instructions.get, names)
        found = (self._own_or_inside(_Result(each)) for each in readers if each is not None)
        return next((each for each in found if each is not None), None)

    def _own_or_inside(self, result: _Result) -> Instruction | None:
        instruction = result.instruction
        if instruction.attributes.op_name is not None:
            return instruction
        return self._find_inside(result)

    def _find_inside(self, result: _Result) -> Instruction | None:
        """Apply rule 2."""
        if not result.instruction.runs_computations:
            return None
        if result not in self._inside:
            has_op_names = any(map(self._has_op_names, result.instruction.called))
            self._inside[result] = self._search_inside(result) if has_op_names else None
        return self._inside[result]

    def _has_op_names(self, name: str) -> bool:
        """Return whether a computation, or one that it calls, has an op name."""
        if (known := self._with_op_names.get(name)) is None:
            self._with_op_names[name] = False  # meanwhile: of one that calls itself
            found = self._program.computations.get(name)
            known = found is not None and (
                found.has_op_names or any(map(self._has_op_names, found.runs))
            )
            self._with_op_names[name] = known
        return known

    def _search_inside(self, result: _Result) -> Instruction | None:
        waiting = deque(self._roots(result))
        seen = set(waiting)
        while waiting:
            at = waiting.popleft()
            if at.instruction.attributes.op_name is not None:
                return at.instruction
            for further in (*self._roots(at), *self._sources(at)):
                if further not in seen:
                    seen.add(further)
                    waiting.append(further)
        return None

    def _roots(self, result: _Result) -> Iterator[_Result]:
        """Yield from where in the computations that it calls a result comes."""
        instruction, element = result
        if not instruction.runs_computations:
            return
        if element and instruction.is_async_start:
            if element[0] != _OUTPUT_OF_ASYNC:
                return
            element = element[1:]
        for name in instruction.called:
            computation = self._program.computations.get(name)
            if computation is not None and (root := computation.find_root()) is not None:
                yield from self._element(_Result(root, element))

    def _element(self, result: _Result) -> Iterator[_Result]:
        """Yield what stands at an element of a tuple: that operand, not the tuple."""
        instruction, element = result
        passed: set[Instruction] = set()
        while element and instruction.opcode == "tuple" and instruction not in passed:
            passed.add(instruction)
            if element[0] >= len(instruction.operands):
                break
            operand = instruction.operands[element[0]]
            found = self._program.find(operand.name, instruction.computation)
            if found is None:
                return
            instruction, element = found, _shape_index(operand.element) + element[1:]
        yield _Result(instruction, element[:_DEEPEST_INDEX])

    def _operand(
        self, reader: Instruction, operand: Operand, element: tuple[int, ...] = ()
    ) -> Iterator[_Result]:
        """Yield an element of an operand, if the program has it."""
        found = self._program.find(operand.name, reader.computation)
        if found is not None:
            yield from self._element(_Result(found, _shape_index(operand.element) + element))

    def _sources(self, result: _Result) -> Iterator[_Result]:
        """Yield the operands of an instruction; of a get-tuple-element the element."""
        instruction = result.instruction
        if instruction.opcode == "get-tuple-element":
            yield from self._read_element(result)
        else:
            for operand in instruction.operands:
                yield from self._operand(instruction, operand)

    def _read_element(self, result: _Result) -> Iterator[_Result]:
        """Yield what a get-tuple-element reads."""
        number = result.instruction.attributes.tuple_element
        own = () if number is None else (number,)
        for operand in result.instruction.operands[:1]:
            yield from self._operand(result.instruction, operand, own + result.element)

    def _find_through_operands(self, result: _Result) -> Instruction | None:
        """Apply rule 3."""
        path: dict[_Result, None] = {}
        at: _Result | None = result
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

    def _moved_from(self, result: _Result) -> Iterator[_Result]:
        """Yield what a result is a moved or reshaped form of."""
        instruction, element = result
        opcode = instruction.opcode
        if opcode == "parameter":
            yield from self._passed_in(result)
        elif not instruction.operands:
            return
        elif opcode == "get-tuple-element":
            yield from self._read_element(result)
        elif opcode == "tuple" and element:
            yield from (each for each in self._element(result) if each != result)
        elif opcode in _TUPLES_PASS:
            yield from self._operand(instruction, instruction.operands[0], element)
        elif (
            (opcode in _MOVING and not instruction.is_async_start)
            or opcode == "call"
            or self._runs_only_moves(instruction)
        ):
            yield from self._operand(instruction, instruction.operands[0])

    def _passed_in(self, parameter: _Result) -> Iterator[_Result]:
        """Yield the operand that a parameter of a loop, branch or call is."""
        caller = self._callers.get(parameter.instruction.computation)
        if caller is None:
            return
        number = caller.operand
        if number is None:
            number = parameter.instruction.parameter_number
        operands = caller.instruction.operands
        if number is not None and number < len(operands):
            yield from self._operand(caller.instruction, operands[number], parameter.element)

    @cached_property
    def _callers(self) -> Mapping[str | None, _Caller]:
        """By computation; those that control flow runs, not those of fusions."""
        callers: dict[str | None, _Caller] = {}
        for instruction in self._named:
            if instruction.opcode in _CONTROL_FLOW or instruction.is_async_start:
                is_conditional = instruction.opcode == "conditional"
                for branch, computation in enumerate(instruction.called, 1):
                    operand = branch if is_conditional else None
                    callers.setdefault(computation, _Caller(instruction, operand))
        return callers

    def _runs_only_moves(self, instruction: Instruction) -> bool:
        if instruction.opcode != "fusion" and not instruction.is_async_start:
            return False
        called = instruction.called
        return bool(called) and all(map(self._only_moves_in, called))

    def _only_moves_in(self, name: str) -> bool:
        """Return whether all instructions of a computation only move or reshape."""
        if name not in self._only_moves:
            computation = self._program.computations.get(name)
            self._only_moves[name] = False  # meanwhile: of one that calls itself
            self._only_moves[name] = computation is not None and self._all_move(computation)
        return self._only_moves[name]

    def _all_move(self, computation: Computation) -> bool:
        opcodes = computation.opcodes
        if not opcodes or not opcodes <= _MOVES_WITHIN:
            return False
        return opcodes.isdisjoint(_FUSION_LIKE) or all(
            self._runs_only_moves(each)
            for each in computation.instructions
            if each.opcode == "fusion" or each.is_async_start
        )


class _Locations:
    """Where the instructions come from that were found."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._user_lines: dict[int | None, UserLine | None] = {None: None}
        """By frame, as far as they were asked for: most instructions have few of them."""

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

    def _user_line(self, frame: int | None) -> UserLine | None:
        while frame is not None:
            at = self._program.frames[frame]
            if at.file is not None and not is_installed(at.file):
                return UserLine(at.file, at.line, at.function)
            frame = at.caller
        return None


def _shape_index(index: str | None) -> tuple[int, ...]:
    """Return ``{1,0}`` as numbers; none of an array or a whole tuple."""
    if index is None or index == WHOLE:
        return ()
    return tuple(map(int, index[1:-1].split(",")))
