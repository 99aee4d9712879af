"""The HLO program of a compilation: its instructions, and what they refer to.

Joined from the dump, which names some instructions, and the module text, which has them
all. Where both have a text, operands are those of the module text: in it every operand is
the name of a line, while a dump can name a get-tuple-element that the module text leaves
out. Computations are parsed when they are asked for.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from xlagraph.ingest.carriers.text.instruction_text import InstructionFacts, attribute_facts
from xlagraph.ingest.carriers.text.module_text import ModuleText
from xlagraph.ingest.hlo.computations import HloTextError, Instruction, Operand, parse_instruction

__all__ = ["Caller", "ProgramLookup"]

_CONTROL_FLOW = frozenset(("while", "call", "conditional", "async-start"))


class Caller(NamedTuple):
    """An instruction that runs a computation on its operands."""

    instruction: str
    operand: int | None
    """Of a conditional the operand that the computation takes; None: all, in their order."""


class ProgramLookup:
    """Look-ups by name; an instruction or computation that nothing states is None."""

    def __init__(
        self,
        texts: Mapping[str, str],
        facts: Mapping[str, InstructionFacts],
        module_text: ModuleText | None,
    ) -> None:
        self._texts = texts
        self._facts = dict(facts)
        self._named = module_text.instructions if module_text is not None else {}
        self._computations = module_text.computations if module_text is not None else {}
        self._instructions: dict[str, Instruction | None] = {}
        """As far as they were asked for."""
        self._inside: dict[str, str] = {}
        """Computations of instructions that the dump does not name, as far as they were met."""
        self._has_op_names: dict[str, bool] = {}

    def facts(self, name: str) -> InstructionFacts | None:
        """Return what an instruction states of itself."""
        found = self._facts.get(name)
        if found is None and (instruction := self._instruction(name)) is not None:
            found = self._facts[name] = attribute_facts(instruction)
        return found

    def opcode(self, name: str) -> str | None:
        """Return the opcode of an instruction; of what starts a computation `async-start`.

        Dumps write ``slice-start`` for an ``async-start`` of a computation that slices.
        """
        instruction = self._instruction(name)
        if instruction is None:
            return None
        opcode = instruction.opcode
        is_start = opcode.endswith("-start") and instruction.callee("calls") is not None
        return "async-start" if is_start else opcode

    def operands(self, name: str) -> tuple[Operand, ...]:
        """Return the operands of an instruction."""
        instruction = self._instruction(name)
        if instruction is None:
            return ()
        computation = self._computation_of(name)
        if computation is not None:
            for operand in instruction.operands:
                self._inside.setdefault(operand.name, computation)
        return instruction.operands

    def called(self, name: str) -> tuple[str, ...]:
        """Return the computations that an instruction runs or applies."""
        instruction = self._instruction(name)
        return instruction.callees if instruction is not None else ()

    def tuple_element(self, name: str) -> int | None:
        """Return which element a get-tuple-element reads."""
        instruction = self._instruction(name)
        return instruction.tuple_element if instruction is not None else None

    def parameter_number(self, name: str) -> int | None:
        """Return the number of a parameter."""
        instruction = self._instruction(name)
        return instruction.parameter_number if instruction is not None else None

    def root(self, computation: str) -> str | None:
        """Return the instruction whose result a computation returns."""
        found = self._computations.get(computation)
        try:
            root = found.root if found is not None else None
        except HloTextError:
            return None
        if root is None:
            return None
        self._instructions.setdefault(root.name, root)
        self._inside.setdefault(root.name, computation)
        return root.name

    def computation(self, name: str) -> tuple[str, ...]:
        """Return the instructions of a computation."""
        found = self._computations.get(name)
        if found is None:
            return ()
        self._inside |= dict.fromkeys(found.instructions, name)
        return tuple(found.instructions)

    def opcodes(self, computation: str) -> frozenset[str]:
        """Return the opcodes in a computation, as the module text writes them."""
        found = self._computations.get(computation)
        return found.opcodes if found is not None else frozenset()

    def has_op_names(self, computation: str) -> bool:
        """Return whether a computation, or one that it calls, has an op name."""
        if (known := self._has_op_names.get(computation)) is not None:
            return known
        found = self._computations.get(computation)
        self._has_op_names[computation] = False  # meanwhile: of one that calls itself
        self._has_op_names[computation] = found is not None and (
            "op_name=" in found.text or any(map(self.has_op_names, found.callees))
        )
        return self._has_op_names[computation]

    def caller(self, parameter: str) -> Caller | None:
        """Return what runs the computation that a parameter belongs to."""
        computation = self._computation_of(parameter)
        return self._callers.get(computation) if computation is not None else None

    @cached_property
    def _callers(self) -> dict[str, Caller]:
        """By computation; those that control flow runs, not those of fusions."""
        callers: dict[str, Caller] = {}
        for name, facts in list(self._facts.items()):
            opcode = facts.opcode
            if opcode is not None and opcode.endswith("-start"):
                opcode = self.opcode(name)
            if opcode in _CONTROL_FLOW:
                for branch, computation in enumerate(self.called(name), 1):
                    operand = branch if opcode == "conditional" else None
                    callers.setdefault(computation, Caller(name, operand))
        return callers

    def _computation_of(self, name: str) -> str | None:
        named = self._named.get(name)
        return named.computation if named is not None else self._inside.get(name)

    def _instruction(self, name: str) -> Instruction | None:
        if name not in self._instructions:
            self._instructions[name] = self._parsed(name)
        return self._instructions[name]

    def _parsed(self, name: str) -> Instruction | None:
        named = self._named.get(name)
        if named is not None:
            found = self._computations[named.computation].instructions.get(name)
            return found or parse_instruction(name, named.text)
        if (computation := self._inside.get(name)) is not None:
            return self._computations[computation].find(name)
        text = self._texts.get(name)
        return parse_instruction(name, text) if text is not None else None
