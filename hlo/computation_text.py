"""The text of a computation of a module, parsed when it is needed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

from xlagraph.hlo.computation import Computation, ComputationOutline
from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.instruction_text import (
    PLAIN_HEAD,
    PLAIN_INSTRUCTION,
    WHOLE_OPERANDS,
    PrintedInstruction,
    parse_instruction,
)

_NAME: Final = r"\n  (?:ROOT )?%?([^\s=]++) = "
_PLAIN_LINE: Final = re.compile(_NAME + PLAIN_INSTRUCTION)
# Name, opcode and operands, without `#`: almost every line.
_SHORT_LINE: Final = re.compile(
    r'\n  (?:ROOT )?%([^\s=]+) = (?:\([^\n]*?\)|[^\s(]\S*+) ([a-z][\w-]*)\(([^()"#\n]*)\)'
)
_LINE: Final = re.compile(rf"{_NAME}(.*)")
_PLAIN_HEAD: Final = re.compile(_NAME + PLAIN_HEAD)
_OPCODE_OF_LINE: Final = re.compile(
    r'\n  (?:ROOT )?[^\s=]+ = (?:\([^\n]*?\)|[^\s(]\S*+) ([a-z][\w-]*)\([^()"\n]*\)'
)
# fusion(%a), kind=kLoop, calls=%fused_computation.1   call(%a), to_apply=%f
_RUN: Final = re.compile(
    r" (?:fusion|call|custom-call|[\w-]+-start)\([^\n]*?, "
    r"(?:calls|to_apply|called_computations)=(\{[^{}]*\}|[^\s,{}]+)"
)
# %name in a line that cannot be parsed, before a comma, a parenthesis or a tuple element
_MENTION: Final = re.compile(r"%?([^\s,()#{}]+)(?=[,)#])")
_COMPUTATIONS: Final = re.compile(r"[^\s,{}%]+")

NO_TEXTS: Final[Mapping[str, str]] = {}

_Fields = tuple[str, str, str, str, str]
"""Name, shape, opcode, operands and attributes."""


class PrintedComputation(Computation):
    """A computation of a module text, parsed on first access."""

    def __init__(self, name: str, body: str, plan_texts: Mapping[str, str] = NO_TEXTS) -> None:
        self.name = name
        self._body = body
        """Lines of the computation, each after a line break."""
        self._plan_texts = plan_texts
        """Text of its instructions in the memory plan, by name."""

    def outline(self) -> ComputationOutline:
        """Return names, opcodes and operands; build instructions only if a line is unusual."""
        rows = _SHORT_LINE.findall(self._body)
        if len(rows) == self._body.count("\n"):
            return ComputationOutline(rows, WHOLE_OPERANDS, _number)
        return super().outline()

    @cached_property
    def opcodes(self) -> frozenset[str | None]:
        """Opcodes of its instructions, with None if some could not be read."""
        found = _OPCODE_OF_LINE.findall(self._body)
        return frozenset(found) if len(found) == self._body.count("\n") else super().opcodes

    def has_any(self, opcodes: Iterable[str]) -> bool:
        """Return whether an instruction has one of these opcodes."""
        return any(f" {opcode}(" in self._body for opcode in opcodes)

    @property
    def has_op_names(self) -> bool:
        """True if a line has an op name."""
        return "op_name=" in self._body

    @property
    def declares_aliasing(self) -> bool:
        """True if a line has the attribute."""
        return "output_to_operand_aliasing=" in self._body

    @property
    def runs(self) -> frozenset[str]:
        """Computations that its lines call, except those of loops and reductions."""
        found = _RUN.findall(self._body)
        return frozenset(chain.from_iterable(map(_COMPUTATIONS.findall, found)))

    def find_root(self) -> Instruction | None:
        """Return the line marked ``ROOT``, else the last line; None if it cannot be parsed."""
        return self._found_root

    @property
    def root_opcode(self) -> str | None:
        """Opcode of the root, read without the rest of its line."""
        found = _PLAIN_HEAD.match(self._body, self._root_start)
        return found[3] if found else super().root_opcode

    @property
    def _root_start(self) -> int:
        at = self._body.rfind("\n  ROOT ")
        return at if at >= 0 else self._body.rfind("\n")

    def find(self, name: str) -> Instruction | None:
        """Return the instruction with this name, without reading the others."""
        if "instructions" in self.__dict__:
            return self.by_name.get(name)
        root = self._found_root
        if root is not None and root.name == name:
            return root
        if name not in self._read_alone:
            at = max(self._body.rfind(f"\n  %{name} = "), self._body.rfind(f"\n  {name} = "))
            self._read_alone[name] = self._instruction(self._line(at)) if at >= 0 else None
        return self._read_alone[name]

    @cached_property
    def _read_alone(self) -> dict[str, PrintedInstruction | None]:
        return {}

    @cached_property
    def _found_root(self) -> Instruction | None:
        line = self._line(self._root_start)
        if "instructions" not in self.__dict__:
            return self._instruction(line)
        name = _LINE.match(line)
        return self.by_name.get(name[1]) if name else None

    @cached_property
    def instructions(self) -> Sequence[Instruction]:
        """Instructions in text order, which is the schedule's order if there is one."""
        rows: list[_Fields] = _PLAIN_LINE.findall(self._body)
        found: Sequence[PrintedInstruction]
        if len(rows) == self._body.count("\n"):
            found = [PrintedInstruction(*row, self.name) for row in rows]
        else:
            read = map(self._instruction, self._lines)
            found = [instruction for instruction in read if instruction is not None]
        if self._plan_texts:
            for each in found:
                if (text := self._plan_texts.get(each.name)) is not None:
                    each.state(text)
        # keep one object of each instruction
        alone = self.__dict__.get("_read_alone", {})
        if (root := self.__dict__.get("_found_root")) is not None:
            alone = {**alone, root.name: root}
        return [alone.get(each.name) or each for each in found] if alone else found

    @cached_property
    def unread(self) -> frozenset[str] | None:
        """Operand names in the lines that cannot be parsed; None if all lines can."""
        if len(self.instructions) == self._body.count("\n"):
            return None
        odd = [line for line in self._lines if self._instruction(line) is None]
        return frozenset(chain.from_iterable(map(_MENTION.findall, odd)))

    def _line(self, start: int) -> str:
        """Return the line that begins with the line break at `start`."""
        end = self._body.find("\n", start + 1)
        return self._body[start : end if end > 0 else None]

    @property
    def _lines(self) -> Iterable[str]:
        return (f"\n{line}" for line in self._body.split("\n")[1:])

    def _instruction(self, line: str) -> PrintedInstruction | None:
        if plain := _PLAIN_LINE.fullmatch(line):
            name, shape, opcode, operands, attributes = plain.groups()
            return PrintedInstruction(name, shape, opcode, operands, attributes, self.name)
        found = _LINE.fullmatch(line)
        made = parse_instruction(found[1], found[2], self.name) if found else None
        return made if made is not None and made.opcode is not None else None


def _number(argument: str) -> int | None:
    return int(argument) if argument.isdecimal() else None
