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
from typing import Final, NamedTuple

from xlagraph.ingest.carriers.text.instruction_text import InstructionFacts
from xlagraph.ingest.carriers.text.module_text import ModuleText, StackFrame
from xlagraph.ingest.hlo.computations import WHOLE, Operand
from xlagraph.ingest.measures.program_lookup import ProgramLookup
from xlagraph.ingest.model.installed_files import is_installed
from xlagraph.ingest.model.plan import Plan, Value

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
    stack_frame_id: int | None
    """Innermost frame of its call stack."""
    user_line: UserLine | None


class _Result(NamedTuple):
    """What an instruction returns, or one element of it."""

    name: str
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
_CALLING: Final = frozenset(("fusion", "call", "async-start", "custom-call"))
_INPUTS: Final = frozenset(("parameter", "constant"))
_FUSION_LIKE: Final = frozenset(("fusion", "async-start"))
_MOVES_WITHIN: Final = _MOVING | _INPUTS | _FUSION_LIKE
"""Opcodes of a computation that only moves or reshapes."""
_OUTPUT_OF_ASYNC: Final = 1
"""Element of an async-start that is the result of its computation; 0 is the operands."""
_DEEPEST_INDEX: Final = 32
"""Tuples in tuples; only an instruction that is its own operand leads deeper."""


def attributions(
    plan: Plan, program: ProgramLookup, steps: Mapping[str, int], module_text: ModuleText | None
) -> tuple[Attribution | None, ...]:
    """Return what each of the plan's values belongs to; ``steps`` are those of the schedule.

    Algorithm: rules 1 to 3 look at each instruction with its shape index once, rule 4 at
    each use of the values that are left: linear in instructions and uses.
    """
    search = _Search(program)
    found = [search.of_value(value) for value in plan.values]
    readers = _readers(plan, [value for value, rule in zip(plan.values, found, strict=True)
                              if rule is None], steps)  # fmt: skip
    locations = _Locations(program, module_text)
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


class _Search:
    """Rules 1 to 3; what was found is remembered."""

    def __init__(self, program: ProgramLookup) -> None:
        self._program = program
        self._inside: dict[_Result, str | None] = {}
        self._only_moves: dict[str, bool] = {}
        self._through: dict[_Result, str | None] = {}

    def of_value(self, value: Value) -> tuple[Rule, str] | None:
        """Return the instruction to which a value belongs by rules 1 to 3."""
        if self._has_op_name(value.name):
            return Rule.OWN, value.name
        result = _Result(value.name, _shape_index(value.shape_index))
        if (inside := self._find_inside(result)) is not None:
            return Rule.INSIDE, inside
        if (operand := self._find_through_operands(result)) is not None:
            return Rule.OPERAND, operand
        return None

    def first(self, names: Iterable[str]) -> str | None:
        """Return what the first of some instructions belongs to that has one by rule 1 or 2."""
        found = (self._own_or_inside(_Result(name)) for name in names)
        return next((name for name in found if name is not None), None)

    def _has_op_name(self, name: str) -> bool:
        facts = self._program.facts(name)
        return facts is not None and bool(facts.op_name)

    def _own_or_inside(self, result: _Result) -> str | None:
        return result.name if self._has_op_name(result.name) else self._find_inside(result)

    def _find_inside(self, result: _Result) -> str | None:
        """Apply rule 2."""
        if self._program.opcode(result.name) not in _CALLING:
            return None
        if result not in self._inside:
            called = self._program.called(result.name)
            has_op_names = any(map(self._program.has_op_names, called))
            self._inside[result] = self._search_inside(result) if has_op_names else None
        return self._inside[result]

    def _search_inside(self, result: _Result) -> str | None:
        waiting = deque(self._roots(result))
        seen = set(waiting)
        while waiting:
            at = waiting.popleft()
            if self._has_op_name(at.name):
                return at.name
            for further in (*self._roots(at), *self._sources(at)):
                if further not in seen:
                    seen.add(further)
                    waiting.append(further)
        return None

    def _roots(self, result: _Result) -> Iterator[_Result]:
        """Yield from where in the computations that it calls a result comes."""
        name, element = result
        opcode = self._program.opcode(name)
        if opcode not in _CALLING:
            return
        if opcode == "async-start" and element:
            if element[0] != _OUTPUT_OF_ASYNC:
                return
            element = element[1:]
        for computation in self._program.called(name):
            if (root := self._program.root(computation)) is not None:
                yield self._element(_Result(root, element))

    def _element(self, result: _Result) -> _Result:
        """Return what stands at an element of a tuple: that operand, not the tuple."""
        name, element = result
        passed: set[str] = set()
        while element and name not in passed and self._program.opcode(name) == "tuple":
            passed.add(name)
            operands = self._program.operands(name)
            if element[0] >= len(operands):
                break
            operand = operands[element[0]]
            name, element = operand.name, _shape_index(operand.element) + element[1:]
        return _Result(name, element[:_DEEPEST_INDEX])

    def _sources(self, result: _Result) -> Iterator[_Result]:
        """Yield the operands of an instruction; of a get-tuple-element the element."""
        operands = self._program.operands(result.name)
        if self._program.opcode(result.name) == "get-tuple-element":
            yield from (self._element(each) for each in self._read_element(result, operands[:1]))
        else:
            yield from (self._element(_result(each)) for each in operands)

    def _read_element(self, result: _Result, operands: Iterable[Operand]) -> Iterator[_Result]:
        number = self._program.tuple_element(result.name)
        own = () if number is None else (number,)
        for operand in operands:
            yield _Result(operand.name, _shape_index(operand.element) + own + result.element)

    def _find_through_operands(self, result: _Result) -> str | None:
        """Apply rule 3."""
        path: dict[_Result, None] = {}
        at: _Result | None = result
        found = None
        while at is not None and at not in path and at not in self._through:
            path[at] = None
            at = self._moved_from(at)
            if at is not None and (found := self._own_or_inside(at)) is not None:
                break
        else:
            found = self._through.get(at) if at is not None else None
        self._through.update(dict.fromkeys(path, found))
        return found

    def _moved_from(self, result: _Result) -> _Result | None:
        """Return what a result is a moved or reshaped form of."""
        name, element = result
        opcode = self._program.opcode(name)
        if opcode == "parameter":
            return self._passed_in(result)
        operands = self._program.operands(name)
        if not operands:
            return None
        if opcode == "get-tuple-element":
            return self._element(next(self._read_element(result, operands)))
        if opcode == "tuple" and element:
            at = self._element(result)
            return at if at != result else None
        if opcode in _TUPLES_PASS:
            passed = _result(operands[0])
            return self._element(_Result(passed.name, passed.element + element))
        if opcode in _MOVING or opcode == "call" or self._runs_only_moves(name, opcode):
            return self._element(_result(operands[0]))
        return None

    def _passed_in(self, parameter: _Result) -> _Result | None:
        """Return the operand that a parameter of a loop, branch or call is."""
        caller = self._program.caller(parameter.name)
        if caller is None:
            return None
        operands = self._program.operands(caller.instruction)
        number = caller.operand
        if number is None:
            number = self._program.parameter_number(parameter.name)
        if number is None or number >= len(operands):
            return None
        passed = _result(operands[number])
        return self._element(_Result(passed.name, passed.element + parameter.element))

    def _runs_only_moves(self, name: str, opcode: str | None) -> bool:
        if opcode not in _FUSION_LIKE:
            return False
        called = self._program.called(name)
        return bool(called) and all(map(self._only_moves_in, called))

    def _only_moves_in(self, computation: str) -> bool:
        """Return whether all instructions of a computation only move or reshape."""
        if computation not in self._only_moves:
            opcodes = self._program.opcodes(computation)
            self._only_moves[computation] = False  # meanwhile: of one that calls itself
            self._only_moves[computation] = (
                bool(opcodes)
                and opcodes <= _MOVES_WITHIN
                and (opcodes.isdisjoint(_FUSION_LIKE) or self._all_run_only_moves(computation))
            )
        return self._only_moves[computation]

    def _all_run_only_moves(self, computation: str) -> bool:
        names = self._program.computation(computation)
        opcodes = ((name, self._program.opcode(name)) for name in names)
        return all(
            self._runs_only_moves(name, opcode)
            for name, opcode in opcodes
            if opcode in _FUSION_LIKE
        )


class _Locations:
    """Where the instructions come from that were found."""

    def __init__(self, program: ProgramLookup, module_text: ModuleText | None) -> None:
        self._program = program
        self._module_text = module_text
        self._frames: Mapping[int, StackFrame] = (
            module_text.frames if module_text is not None else {}
        )
        self._user_lines: dict[int | None, UserLine | None] = {None: None}
        """By frame, as far as they were asked for: most instructions have few of them."""

    def attribution(self, rule: Rule, name: str) -> Attribution | None:
        """Return the attribution to an instruction."""
        facts = self._program.facts(name)
        return None if facts is None else self._located(rule, facts)

    def _located(self, rule: Rule, facts: InstructionFacts) -> Attribution:
        file, line = facts.source_file, facts.source_line
        if self._module_text is not None:
            file, line = self._module_text.source_location(facts)
        frame = facts.stack_frame_id if facts.stack_frame_id in self._frames else None
        if frame not in self._user_lines:
            self._user_lines[frame] = self._user_line(frame)
        user_line = self._user_lines[frame]
        if frame is None and file and not is_installed(file):
            user_line = UserLine(file, line, None)
        return Attribution(rule, facts.op_name or "", file or None, line, frame, user_line)

    def _user_line(self, frame: int | None) -> UserLine | None:
        while frame is not None:
            at = self._frames[frame]
            if at.file is not None and not is_installed(at.file):
                return UserLine(at.file, at.line, at.function)
            frame = at.caller
        return None


def _result(operand: Operand) -> _Result:
    return _Result(operand.name, _shape_index(operand.element))


def _shape_index(index: str | None) -> tuple[int, ...]:
    """Return ``{1,0}`` as numbers; none of an array or a whole tuple."""
    if index is None or index == WHOLE:
        return ()
    return tuple(map(int, index[1:-1].split(",")))
