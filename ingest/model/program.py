"""The HLO program of a compilation as data, independent of the carrier.

    Program
    ├── computations   Computation    instructions in the order of the schedule, the root
    ├── instructions   Instruction    those that the plan names, also of no known computation
    │     ├── operands     Operand        instruction and tuple element that it reads
    │     └── attributes   Attributes     metadata, called computations, aliasing, …
    ├── frames         StackFrame     call stacks, each frame with its caller
    └── donations      by parameter   results that are written over a parameter

Carriers fill it; rules and measures read only this. Missing facts are None or empty, never guessed.
Tuple indices have XLA's spelling: ``{1,0}``, ``{}`` for the whole.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count, repeat
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, Self

__all__ = [
    "NO_ATTRIBUTES",
    "NO_PROGRAM",
    "WHOLE",
    "Aliasing",
    "Attributes",
    "Callee",
    "Computation",
    "EntryParameter",
    "Instruction",
    "Operand",
    "Outline",
    "Program",
    "ProgramError",
    "Purpose",
    "StackFrame",
    "first_number",
    "nested_index",
]

WHOLE: Final = "{}"

Purpose = Literal["calls", "to_apply", "body", "condition", "branch", "called"]
"""The role of a called computation, named after XLA's attribute."""


class ProgramError(LookupError):
    """The program refers to something missing, or to itself."""


class Operand(NamedTuple):
    """An instruction that another one reads."""

    name: str
    element: str = WHOLE
    """Tuple index within that instruction, if no get-tuple-element is in between."""


class Callee(NamedTuple):
    """A computation that an instruction runs or applies."""

    purpose: Purpose
    computation: str


class Aliasing(NamedTuple):
    """An output of an instruction that shares the bytes of an operand."""

    output_index: str
    operand: int
    operand_index: str


class EntryParameter(NamedTuple):
    """A parameter of the entry computation, or an element of one."""

    number: int
    shape_index: str
    """``{}`` for the whole parameter."""


class StackFrame(NamedTuple):
    """A source location from which an instruction comes, and its caller."""

    function: str | None
    file: str | None
    line: int | None
    column: int | None
    caller: int | None
    """Number of the calling frame; None for the outermost."""


class Attributes(NamedTuple):
    """The attributes of an instruction, without name, shape, opcode and operands."""

    op_name: str | None = None
    source_file: str | None = None
    source_line: int | None = None
    stack_frame: int | None = None
    """Number of the innermost frame."""
    target: str | None = None
    """Target of a custom call."""
    sharding: str | None = None
    """Split of a parameter over devices, in braces as XLA prints it."""
    runs: str | None = None
    """Computation that a fusion or an async start runs, as the memory plan names it."""
    callees: tuple[Callee, ...] = ()
    """Called computations in XLA's order; branches in the order of the operands."""
    tuple_element: int | None = None
    """Element that a get-tuple-element reads."""
    control_predecessors: tuple[str, ...] = ()
    aliasing: tuple[Aliasing, ...] = ()
    """Aliasing that is declared, not implied by the opcode."""
    trip_count: int | None = None
    """Number of turns of a loop, from its backend config."""
    gemm_beta: float | None = None
    """The factor beta in the backend config of a GPU matrix product."""
    uses_nvshmem: bool = False
    """True if the backend config of a GPU collective uses NVSHMEM."""


NO_ATTRIBUTES: Final = Attributes()

_RUNNING: Final = frozenset(("fusion", "call", "custom-call", "async-start"))


class Instruction:
    """One instruction. A carrier may fill `operands`, `attributes` and `text` on first access."""

    __slots__ = (
        "attributes",
        "computation",
        "name",
        "opcode",
        "operand_names",
        "operands",
        "parameter_number",
        "shape",
        "text",
    )

    name: str
    opcode: str | None
    """Opcode as in the memory plan: ``slice-start`` for an async-start of a slice."""
    shape: str | None
    """Shape with layout."""
    computation: str | None
    """Name of the computation that it belongs to."""
    operands: tuple[Operand, ...]
    operand_names: Sequence[str]
    """The names of its operands."""
    attributes: Attributes
    parameter_number: int | None
    text: str | None
    """The text after ``%name = ``, for display only."""

    def __init__(
        self,
        name: str,
        opcode: str | None,
        shape: str | None,
        computation: str | None = None,
        operands: tuple[Operand, ...] = (),
        attributes: Attributes = NO_ATTRIBUTES,
    ) -> None:
        self.name = name
        self.opcode = opcode
        self.shape = shape
        self.computation = computation
        self.operands = operands
        self.operand_names = [name for name, _ in operands]
        self.attributes = attributes
        self.parameter_number = None
        self.text = None

    def __repr__(self) -> str:
        return f"<{self.name} = {self.shape} {self.opcode}>"

    def operand(self, number: int) -> Operand:
        """Return one operand; raise ProgramError if there are fewer."""
        if number >= len(self.operands):
            raise ProgramError(f"{self.name} has no operand {number}")
        return self.operands[number]

    def read_operands(self) -> None:
        """Fill `operand_names`, which takes longer on their first access."""

    @property
    def is_async_start(self) -> bool:
        """True if it starts an asynchronous computation."""
        return (
            self.opcode is not None
            and self.opcode.endswith("-start")
            and self.callee("calls") is not None
        )

    @property
    def runs_computations(self) -> bool:
        """True if it runs a computation once on its operands: fusions, calls, async starts."""
        return self.opcode in _RUNNING or self.is_async_start

    def callee(self, purpose: Purpose) -> str | None:
        """Return the first computation called for a purpose."""
        for role, computation in self.attributes.callees:
            if role == purpose:
                return computation
        return None

    @property
    def called(self) -> tuple[str, ...]:
        """All called computations."""
        return tuple([name for _, name in self.attributes.callees])

    @property
    def branches(self) -> tuple[str, ...]:
        """Computations of a conditional, in the order of its operands."""
        callees = self.attributes.callees
        return tuple([name for purpose, name in callees if purpose == "branch"])


class Outline(NamedTuple):
    """The instructions of a computation in their order, with only what few rules need."""

    rows: Sequence[tuple[str, str | None, Any]]
    """Name, opcode, and the argument of the functions below."""
    operand_names: Callable[[Any], Sequence[str]]
    """Names of the operands of a row."""
    parameter_number: Callable[[Any], int | None]
    """Number of a row that is a parameter."""
    unread: frozenset[str] | None = None
    """Operands of the instructions that could not be read; None if all could be read."""


class Computation:
    """A computation: instructions that run together.

    A carrier may derive from it to read instructions when they are asked for: most computations
    are bodies of fusions, of which few instructions matter.
    """

    def __init__(
        self, name: str, instructions: Sequence[Instruction], root: Instruction | None
    ) -> None:
        self.name = name
        self._instructions = instructions
        self._root = root

    def __repr__(self) -> str:
        return f"<computation {self.name}>"

    @property
    def instructions(self) -> Sequence[Instruction]:
        """Instructions, in schedule order if the program is scheduled."""
        return self._instructions

    def find_root(self) -> Instruction | None:
        """Return the root instruction; None if it could not be read."""
        return self._root

    @property
    def root(self) -> Instruction:
        """The root instruction; raises ProgramError if there is none."""
        found = self.find_root()
        if found is None:
            raise ProgramError(f"{self.name} has no root")
        return found

    @property
    def root_opcode(self) -> str | None:
        """Opcode of the root instruction; None if it could not be read."""
        found = self.find_root()
        return found.opcode if found is not None else None

    @property
    def unread(self) -> frozenset[str] | None:
        """Operands of the instructions that could not be read; None if all could be read."""
        return None

    def outline(self) -> Outline:
        """Return the names, opcodes and operands of its instructions.

        A carrier that builds instructions when they are asked for can give these without them.
        """
        rows = [(each.name, each.opcode, each) for each in self.instructions]
        return Outline(
            rows, attrgetter("operand_names"), attrgetter("parameter_number"), self.unread
        )

    @cached_property
    def opcodes(self) -> frozenset[str | None]:
        """Opcodes of its instructions; includes None if some could not be read."""
        found = {instruction.opcode for instruction in self.instructions}
        return frozenset(found if self.unread is None else (*found, None))

    def has_any(self, opcodes: Iterable[str]) -> bool:
        """Return True if an instruction has one of these opcodes, or could not be read."""
        return self.unread is not None or not self.opcodes.isdisjoint(opcodes)

    @cached_property
    def has_op_names(self) -> bool:
        """True if one of its instructions has an op name."""
        return any(each.attributes.op_name is not None for each in self.instructions)

    @property
    def declares_aliasing(self) -> bool:
        """True if one of its instructions declares, or could declare, aliasing."""
        return any(each.attributes.aliasing for each in self.instructions)

    @cached_property
    def runs(self) -> frozenset[str]:
        """Computations that its instructions run, without those applied to each element."""
        return frozenset(
            [name for each in self.instructions if each.runs_computations for name in each.called]
        )

    @cached_property
    def names(self) -> Sequence[str]:
        """Names of its instructions, in order."""
        return [instruction.name for instruction in self.instructions]

    @cached_property
    def by_name(self) -> Mapping[str, Instruction]:
        """Its instructions by name."""
        return dict(zip(self.names, self.instructions, strict=True))

    def find(self, name: str) -> Instruction | None:
        """Return the instruction with this name; None if there is none that could be read."""
        return self.by_name.get(name)

    def __getitem__(self, name: str) -> Instruction:
        found = self.by_name.get(name)
        if found is None:
            raise ProgramError(f"{self.name} has no {name}")
        return found

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Index of each instruction in `instructions`, by name."""
        return dict(zip(self.names, count()))

    @cached_property
    def operand_rows(self) -> Sequence[Sequence[int]]:
        """Indices of the operands of each instruction; -1 if an operand is unknown."""
        row_of, unknown = self.rows.get, repeat(-1)
        for each in self.instructions:
            each.read_operands()
        return [list(map(row_of, each.operand_names, unknown)) for each in self.instructions]

    @cached_property
    def by_opcode(self) -> Mapping[str | None, Sequence[Instruction]]:
        """Its instructions by opcode, in order."""
        found: defaultdict[str | None, list[Instruction]] = defaultdict(list)
        for instruction in self.instructions:
            found[instruction.opcode].append(instruction)
        found.default_factory = None
        return found

    @cached_property
    def parameters(self) -> Mapping[int, Instruction]:
        """Its parameters by number."""
        return {
            instruction.parameter_number: instruction
            for instruction in self.by_opcode.get("parameter", ())
            if instruction.parameter_number is not None
        }

    def readers(self, name: str) -> Sequence[Instruction]:
        """Return the readers of an instruction, in order.

        Raises ProgramError if an instruction that could not be read mentions it.
        """
        if self.unread is not None and name in self.unread:
            raise ProgramError(f"{self.name} has an instruction with {name} that cannot be read")
        return self._readers.get(name, ())

    @cached_property
    def _readers(self) -> Mapping[str, list[Instruction]]:
        readers: dict[str, list[Instruction]] = {}
        for instruction in self.instructions:
            for name in dict.fromkeys(instruction.operand_names):
                readers.setdefault(name, []).append(instruction)
        return readers


@dataclass(frozen=True)
class Program:
    """An HLO program with all facts that its carrier has."""

    name: str | None = None
    """Name of the module."""
    entry_name: str | None = None
    """Name of the entry computation."""
    computations: Mapping[str, Computation] = field(default_factory=dict)
    """Computations by name; empty if the carrier has only the instructions of the plan."""
    instructions: Mapping[str, Instruction] = field(default_factory=dict)
    """Instructions of the memory plan by name; others are found in their computation."""
    frames: Mapping[int, StackFrame] = field(default_factory=dict)
    """Frames by number; every caller is included, and there are no cycles."""
    output_by_donated: Mapping[EntryParameter, str] = field(default_factory=dict)
    """Shape index of the result that a donated parameter is paired with."""
    unpaired_donors: frozenset[EntryParameter] = frozenset()
    """Donated parameters that are not paired with a result."""
    partitions: int | None = None
    """Number of devices that the program is split over; None if unknown."""
    is_gpu: bool = False
    """True if it was evidently compiled for a GPU."""

    @property
    def has_computations(self) -> bool:
        """True if the carrier has computations, not only the instructions of the plan."""
        return bool(self.computations)

    @property
    def entry(self) -> Computation:
        """The entry computation; raises ProgramError if there is none."""
        return self.computation(self.entry_name)

    def computation(self, name: str | None) -> Computation:
        """Return a computation; raise ProgramError if it does not exist."""
        found = self.computations.get(name or "")
        if found is None:
            raise ProgramError(f"there is no computation {name}")
        return found

    def with_instructions(self, instructions: Mapping[str, Instruction]) -> Self:
        """Return the same program with other instructions by name."""
        return replace(self, instructions=instructions)

    def root_opcode(self, instruction: Instruction) -> str | None:
        """Return the opcode of the root of the computation that a fusion runs; else None."""
        runs = instruction.attributes.runs
        if instruction.opcode != "fusion" or runs is None or runs not in self.computations:
            return None
        return self.computations[runs].root_opcode

    def find(self, name: str, computation: str | None) -> Instruction | None:
        """Return an instruction that a computation mentions; None if it does not exist."""
        found = self.instructions.get(name)
        if found is None and computation is not None:
            own = self.computations.get(computation)
            return own.find(name) if own is not None else None
        return found

    def source_location(self, attributes: Attributes) -> tuple[str | None, int | None]:
        """Return source file and line of the instruction, else of its innermost frame."""
        if attributes.source_file is not None or attributes.stack_frame is None:
            return attributes.source_file, attributes.source_line
        frame = self.frames.get(attributes.stack_frame)
        return (frame.file, frame.line) if frame else (None, None)


NO_PROGRAM: Final = Program()


def nested_index(outer: str, inner: str) -> str:
    """Return the index of an element's element: ``{1}`` and ``{0}`` make ``{1,0}``."""
    if outer == WHOLE:
        return inner
    if inner == WHOLE:
        return outer
    return f"{outer[:-1]},{inner[1:]}"


def first_number(index: str) -> int:
    """Return the first number of an index; raise ProgramError for ``{}``."""
    if index == WHOLE:
        raise ProgramError("an array is read as a tuple")
    return int(index[1:-1].partition(",")[0])
