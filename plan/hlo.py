"""What the rules need of a module text: computations of instructions, as plain records.

A tuple index is written as XLA prints it, ``{1,0}``; ``{}`` is the whole.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

__all__ = ["WHOLE", "Aliasing", "Computation", "Instruction", "Module", "Operand", "nested_index"]

WHOLE: Final = "{}"


class Operand(NamedTuple):
    """What an instruction reads."""

    name: str
    element: str = WHOLE
    """Tuple index within that instruction, where the text spares the get-tuple-element."""


class Aliasing(NamedTuple):
    """An output that an instruction or a program writes over an input."""

    output_index: str
    operand: int
    """Operand or parameter number."""
    operand_index: str


_NAMES: Final = re.compile(r"%?([^\s,{}]+)")
_LISTED: Final = r"=\{([^}]*)\}"
# {0}: (1, {}), {1}: (2, {0})   or   {0}: (0, {}, may-alias)
_ALIASING: Final = re.compile(r",? *\{([\d, ]*)\}: \((\d+), \{([\d, ]*)\}[^)]*\)")


class Instruction(NamedTuple):
    """One instruction of a computation."""

    name: str
    opcode: str
    shape: str
    """With layout, as printed."""
    operands: tuple[Operand, ...]
    attributes: str = ""
    """The text after the operands."""
    number: int | None = None
    """Of a parameter."""

    def called(self, attribute: str) -> str | None:
        """Return the computation that an attribute names: body, condition, calls, to_apply."""
        at = self.attributes.find(f" {attribute}=")
        found = _NAMES.match(self.attributes, at + len(attribute) + 2) if at >= 0 else None
        return found[1] if found else None

    @property
    def branches(self) -> tuple[str, ...]:
        """Computations of a conditional, in the order of its operands."""
        if listed := self._listed("branch_computations"):
            return listed
        named = (self.called("true_computation"), self.called("false_computation"))
        return tuple(name for name in named if name is not None)

    @property
    def control_predecessors(self) -> tuple[str, ...]:
        """Instructions that must run before, in the order of the text."""
        return self._listed("control-predecessors")

    def _listed(self, attribute: str) -> tuple[str, ...]:
        if attribute not in self.attributes:
            return ()
        found = re.search(attribute + _LISTED, self.attributes)
        return tuple(_NAMES.findall(found[1])) if found else ()

    @property
    def aliasing(self) -> tuple[Aliasing, ...]:
        """Outputs that it declares to write over operands."""
        _, _, declared = self.attributes.partition("output_to_operand_aliasing={")
        return _declared_aliasing(declared) if declared else ()


def _declared_aliasing(text: str) -> tuple[Aliasing, ...]:
    """Read the entries ``{0}: (1, {}), …`` that a text begins with."""
    found = []
    at = 0
    while entry := _ALIASING.match(text, at):
        output, operand, index = entry.groups()
        found.append(Aliasing(_index(output), int(operand), _index(index)))
        at = entry.end()
    return tuple(found)


@dataclass(frozen=True)
class Computation:
    """Instructions in the order of the text, by name."""

    name: str
    instructions: Mapping[str, Instruction]
    root: Instruction

    @cached_property
    def users(self) -> Mapping[str, tuple[tuple[Instruction, int], ...]]:
        """Of each instruction who reads it, and as which operand; once for each operand."""
        users: defaultdict[str, list[tuple[Instruction, int]]] = defaultdict(list)
        for instruction in self.instructions.values():
            for number, operand in enumerate(instruction.operands):
                users[operand.name].append((instruction, number))
        return {name: tuple(found) for name, found in users.items()}

    @cached_property
    def parameters(self) -> Mapping[int, Instruction]:
        """By number."""
        return {item.number: item for item in self.instructions.values() if item.number is not None}


@dataclass(frozen=True, slots=True)
class Module:
    """A program."""

    computations: Mapping[str, Computation]
    entry: Computation
    opcodes: Callable[[str], Set[str]]
    """Those in a computation, by its name: often enough to know, and sooner read than it."""
    aliasing: tuple[Aliasing, ...] = ()
    """Results of the entry computation that are written over its parameters."""


def nested_index(outer: str, inner: str) -> str:
    """Return the index of an element's element: ``{1}`` and ``{0}`` make ``{1,0}``."""
    if outer == WHOLE:
        return inner
    if inner == WHOLE:
        return outer
    return f"{outer[:-1]},{inner[1:]}"


def _index(numbers: str) -> str:
    return "{" + numbers.replace(" ", "") + "}"
