"""A computation of an HLO program: instructions that run together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import count, repeat
from operator import attrgetter
from typing import Any, NamedTuple

from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.instruction import Instruction, ProgramError


class ComputationOutline(NamedTuple):
    """A computation's instructions in their order, with only what few rules need."""

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

    An input format may derive from it to read instructions on request: most computations are
    bodies of fusions, of which few instructions matter.
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

    def outline(self) -> ComputationOutline:
        """Return the names, opcodes and operands of its instructions.

        An input format that builds instructions on request can return these without them.
        """
        rows = [(each.name, each.opcode, each) for each in self.instructions]
        return ComputationOutline(
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
        found = grouped((instruction.opcode, instruction) for instruction in self.instructions)
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
