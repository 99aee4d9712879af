"""Stacks: loop state of which each iteration of a loop writes one part.

`lax.scan` stores the results of all iterations this way, and so do forward values that the backward
pass reads.

    body(state):
      part  = tanh(…)                                   the element, `tanh` of the user's line
      stack = dynamic-update-slice(state[2], part, iteration, 0)
      return (…, …, stack)                              result 2 is state 2 with one more part

A loop's state is a stack if the body only writes parts into it and passes it on. A branch may write
them: a sampler may keep every tenth state. The parts are equal slices along one dimension: two or
more, and no more than there are iterations. The stack's bytes also contain the parameters of body
and condition, the state that the body passes on, and the initial broadcast or its copy.

The element is the result that becomes the part, before the loop puts it into place. The slice
update belongs to the loop, and so do instructions at the loop's source line that move or reshape
the part.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.program import Program
from xlagraph.ingest.measures.origins import ASYNC_ENDS, MOVING, InstructionResult, Origins

ResultKey = tuple[str, tuple[int, ...]]
"""Name of an instruction, and the element of its result."""
Where = Callable[[Instruction], object]
"""Function from an instruction to its line; None if unknown or in an installed package."""

_WRITE: Final = "dynamic-update-slice"
_KEEPING: Final = frozenset((
    "copy", "bitcast", "reshape", "convert", "opt-barrier", "optimization-barrier",
))  # fmt: skip
"""Opcodes that keep all elements."""
_NAMELESS: Final = frozenset(("parameter", "get-tuple-element", "tuple", "bitcast"))
"""Opcodes of instructions that create no new value."""
_LONGEST_WAY: Final = 64
_EMPTY_BUFFER: Final = "AllocateBuffer"
"""Target of the custom call that allocates a stack on GPU."""


class Stack(NamedTuple):
    """Loop state that the iterations of a loop fill part by part."""

    loop: str
    """Name of the `while`."""
    turns: int
    """Number of parts."""
    element: InstructionResult
    """The result that an iteration writes."""
    maker: str | None
    """Name of the instruction that makes the part; None if the plan does not name it."""


class _At(NamedTuple):
    """A result on the way back, and the calls entered on the way, outermost first."""

    result: InstructionResult
    calls: tuple[Instruction, ...] = ()

    @property
    def key(self) -> tuple[ResultKey, int]:
        return self.result.key, len(self.calls)


def _at(result: InstructionResult | None, calls: tuple[Instruction, ...] = ()) -> _At | None:
    return None if result is None else _At(result, calls)


def find_stacks(
    program: Program, origins: Origins, named: Mapping[str, Instruction], where: Where
) -> Mapping[ResultKey, Stack]:
    """Return the stack of each result that lies in one.

    `named` has the instructions that the plan names. If several stacks begin as the same value, it
    belongs to the first. Linear in the state of the loops and the instructions that pass it on.
    """
    found: dict[ResultKey, Stack] = {}
    for instruction in [each for each in named.values() if each.opcode == "while"]:
        body = program.computations.get(instruction.callee("body") or "")
        if body is not None:
            loop = _Loop(program, origins, instruction, body, where, named)
            for number in range(loop.state_size):
                stack, results = loop.stack(number)
                if stack is not None:
                    for result in results:
                        found.setdefault(result.key, stack)
    return found


@dataclass(eq=False)
class _Loop:
    """One loop, and the steps back through its body."""

    _program: Program
    _origins: Origins
    _loop: Instruction
    _body: Computation
    _where: Where
    _named: Container[str]

    def __post_init__(self) -> None:
        self._root = self._body.find_root()

    @property
    def state_size(self) -> int:
        """Number of elements of the state; 0 if the body does not return a tuple."""
        root = self._root
        return len(root.operands) if root is not None and root.opcode == "tuple" else 0

    def stack(self, number: int) -> tuple[Stack | None, Iterable[InstructionResult]]:
        """Return the stack at an element of the state, and the results that lie in it."""
        writes: list[_At] = []
        path: list[InstructionResult] = []
        for at in self._back(self._returned(number)):
            path.append(at.result)
            if at.result.instruction.opcode == _WRITE:
                writes.append(at)
        if not (writes and self._is_state(path[-1], number)):
            return None, ()
        turns = min(map(self._parts, writes))
        runs = self._loop.attributes.trip_count
        if turns < 2 or (runs is not None and turns > runs * len(writes)):
            return None, ()  # one part is the whole, or the iterations cannot fill it
        element = self._element(writes[0])
        maker = self._maker(element) or self._fusion_of(element, writes[0])
        stack = Stack(self._loop.name, turns, element.result, maker)
        return stack, (
            InstructionResult(self._loop, (number,)),
            *path,
            *self._condition_state(number),
            *self._beginning(number),
        )

    def _returned(self, number: int) -> _At | None:
        """Return the result that the body returns as an element of the state."""
        if self._root is None:
            return None
        return _at(self._origins.element(InstructionResult(self._root, (number,))))

    def _is_state(self, result: InstructionResult, number: int) -> bool:
        instruction, element = result
        return (
            instruction.opcode == "parameter"
            and instruction.computation == self._body.name
            and element == (number,)
        )

    def _condition_state(self, number: int) -> Iterator[InstructionResult]:
        condition = self._program.computations.get(self._loop.callee("condition") or "")
        if condition is not None and (state := condition.parameters.get(0)) is not None:
            yield InstructionResult(state, (number,))

    def _beginning(self, number: int) -> Iterator[InstructionResult]:
        """Yield the initial broadcast of the stack and its copies; nothing for other values."""
        given = self._origins.operand(self._loop, 0, (number,))
        path = [at.result for at in self._back(_at(given))]
        home = self._where(self._loop)
        is_of_loop = all(self._where(each.instruction) in (None, home) for each in path)
        if path and is_of_loop and self._is_fill(path[-1].instruction):
            yield from path

    def _is_fill(self, instruction: Instruction) -> bool:
        if instruction.attributes.target == _EMPTY_BUFFER:
            return True
        if instruction.opcode != "broadcast" and not self._origins.runs_only_moves(instruction):
            return False
        return all(
            self._dimensions(operand.name, instruction) == () for operand in instruction.operands
        )

    def _dimensions(self, name: str, reader: Instruction) -> tuple[int, ...] | None:
        found = self._program.find(name, reader.computation)
        return found.shape.dimensions if found is not None and found.shape is not None else None

    def _parts(self, write: _At) -> int:
        """Return how many parts of the written size make up the whole; 0 if they do not."""
        instruction = write.result.instruction
        written = instruction.operands[1].name if len(instruction.operands) > 1 else ""
        part = self._dimensions(written, instruction) or ()
        whole = (instruction.shape.dimensions if instruction.shape is not None else None) or ()
        if len(part) != len(whole):
            return 0
        differing = [(size, of) for size, of in zip(part, whole, strict=True) if size != of]
        if len(differing) != 1 or differing[0][0] == 0:
            return 0
        size, of = differing[0]
        return of // size if of % size == 0 else 0

    def _back(self, at: _At | None) -> Iterator[_At]:
        """Yield a result and its earlier forms: passed on, or before a part was written."""
        passed: set[tuple[ResultKey, int]] = set()
        while at is not None and at.key not in passed:
            passed.add(at.key)
            yield at
            at = self._before(at)

    def _before(self, at: _At) -> _At | None:
        (instruction, element), calls = at
        if instruction.opcode == "parameter":
            return self._given(at)
        if instruction.opcode == "get-tuple-element":
            return _at(self._origins.read_element(at.result), calls)
        if instruction.opcode in _KEEPING or instruction.opcode == _WRITE:
            return _at(self._origins.operand(instruction, 0, element), calls)
        if instruction.opcode in ASYNC_ENDS:
            return _at(self._origins.started(at.result), calls)
        if instruction.opcode == "conditional":
            return self._of_writing_branch(at)
        if instruction.runs_computations and not self._is_fill(instruction):
            roots = self._origins.roots(at.result)
            return _At(roots[0], (*calls, instruction)) if roots else None
        return None

    def _of_writing_branch(self, at: _At) -> _At | None:
        """Return the result of the branch that writes a part; all others pass the state on."""
        (choice, _), calls = at
        roots = self._origins.results_of_branches(at.result)
        paths = [list(self._back(_At(root, (*calls, choice)))) for root in roots]
        if len({path[-1].key for path in paths}) > 1:
            return None
        writing = [
            path[0] for path in paths if any(at.result.instruction.opcode == _WRITE for at in path)
        ]
        return writing[0] if len(writing) == 1 else None

    def _given(self, at: _At) -> _At | None:
        """Return the operand that is passed to a parameter of a fusion, call or branch."""
        (parameter, element), calls = at
        number = parameter.parameter_number
        if not calls or number is None:
            return None
        if calls[-1].opcode == "conditional":  # its first operand chooses
            number = 1 + calls[-1].branches.index(parameter.computation)
        return _at(self._origins.operand(calls[-1], number, element), calls[:-1])

    def _maker(self, at: _At) -> str | None:
        """Return the instruction named by the plan whose result is the part, perhaps moved."""
        for _ in range(_LONGEST_WAY):
            instruction = at.result.instruction
            is_result = instruction.opcode not in _NAMELESS
            if is_result and instruction.name in self._named:
                return instruction.name
            is_parameter = instruction.opcode == "parameter"
            found = self._given(at) if is_parameter else self._moved(at)
            if found is None:
                return None
            at = found
        return None

    def _fusion_of(self, element: _At, write: _At) -> str | None:
        """Return the fusion that makes an element, unless that also writes it into the stack."""
        makers = [each.name for each in element.calls if each not in write.calls]
        return makers[0] if makers and makers[0] in self._named else None

    def _element(self, write: _At) -> _At:
        """Return the result that an iteration writes, before the loop puts it into place."""
        home = self._where(self._loop) or self._where(write.result.instruction)
        at = write
        state: InstructionResult | None = None
        passed: set[tuple[ResultKey, int]] = set()
        while True:
            passed.add(at.key)
            if self._is_in_state(at):
                state = at.result
            before = self._made_of(at, home)
            if before is None:
                return at
            if before.key in passed:  # the body passes this state on unchanged
                return self._from_outside(state) or at
            at = before

    def _made_of(self, at: _At, home: object) -> _At | None:
        instruction, element = at.result
        if instruction.opcode == "parameter":
            if at.calls:
                return self._given(at)
            # the previous iteration returned it
            return self._returned(element[0]) if self._is_in_state(at) else None
        if self._is_of_loop(instruction, home):
            return self._moved(at)
        return self._inside(at, home)

    def _inside(self, at: _At, home: object) -> _At | None:
        """Return what a fusion of the loop's line computes, if it only moves that at the end.

        On CPU results of bfloat16 are rounded in the fusion that computes them.
        """
        instruction = at.result.instruction
        if instruction.opcode != "fusion" or self._where(instruction) != home:
            return None
        roots = self._origins.roots(at.result)
        if not roots or not self._is_of_loop(roots[0].instruction, home):
            return None
        return _At(roots[0], (*at.calls, instruction))

    def _moved(self, at: _At) -> _At | None:
        """Return the operand that an instruction moves or writes; None if it computes."""
        instruction, element = at.result
        if instruction.opcode == "get-tuple-element":
            return _at(self._origins.read_element(at.result), at.calls)
        if self._moves(instruction):
            number = 1 if instruction.opcode == _WRITE else 0
            return _at(self._origins.operand(instruction, number, element), at.calls)
        return None

    def _is_of_loop(self, instruction: Instruction, home: object) -> bool:
        has_name = instruction.attributes.op_name is not None
        is_elsewhere = has_name and self._where(instruction) not in (None, home)
        return self._moves(instruction) and not is_elsewhere

    def _moves(self, instruction: Instruction) -> bool:
        return (
            instruction.opcode == _WRITE
            or instruction.opcode in MOVING
            or self._origins.runs_only_moves(instruction)
        )

    def _is_in_state(self, at: _At) -> bool:
        """Return True for an element of the state with which an iteration begins."""
        instruction, element = at.result
        is_parameter = instruction.opcode == "parameter" and not at.calls
        return is_parameter and instruction.computation == self._body.name and bool(element)

    def _from_outside(self, state: InstructionResult | None) -> _At | None:
        """Return the initial value of a state element that the body passes on unchanged."""
        return None if state is None else _at(self._origins.operand(self._loop, 0, state.element))
