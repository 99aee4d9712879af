"""The HLO program of a compilation: its instructions, and what they refer to.

Joined from the dump, which names some instructions, and the module text, which has them
all. Where both have a text, operands are those of the module text: in it every operand is
the name of a line, while a dump can name a get-tuple-element that the module text leaves
out. Computations are parsed when they are asked for.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from xlagraph.ingest.dump.instruction_references import (
    Operand,
    called_computations,
    operands,
    parameter_number,
    tuple_element,
)
from xlagraph.ingest.dump.instruction_text import InstructionFacts, instruction_facts
from xlagraph.ingest.dump.module_text import ModuleInstruction, ModuleText

__all__ = ["Caller", "Program"]

_RUNNING = frozenset(("while", "call", "conditional", "async-start"))


class Caller(NamedTuple):
    """An instruction that runs a computation on its operands."""

    instruction: str
    operand: int | None
    """Of a conditional the operand that the computation takes; None: all, in their order."""


class Program:
    """Look-ups by name; an instruction or computation that nothing states is None."""

    def __init__(
        self,
        texts: Mapping[str, str],
        facts: Mapping[str, InstructionFacts],
        module_text: ModuleText | None,
    ) -> None:
        self._texts = texts
        self._facts = dict(facts)
        self._module_text = module_text
        self._operands: dict[str, tuple[Operand, ...]] = {}
        self._computations: dict[str, tuple[str, ...]] = {}
        self._inner: dict[str, ModuleInstruction] = {}
        """Of computations that the dump does not name, as far as they were asked for."""

    def facts(self, name: str) -> InstructionFacts | None:
        """Return what an instruction states of itself."""
        found = self._facts.get(name)
        if found is None and (text := self._text(name)) is not None:
            found = self._facts[name] = instruction_facts(text)
        return found

    def opcode(self, name: str) -> str | None:
        """Return the opcode of an instruction; of what starts a computation `async-start`.

        Dumps write ``slice-start`` for an ``async-start`` of a computation that slices.
        """
        facts = self.facts(name)
        if facts is None or facts.opcode is None:
            return None
        is_start = facts.calls is not None and facts.opcode.endswith("-start")
        return "async-start" if is_start else facts.opcode

    def operands(self, name: str) -> tuple[Operand, ...]:
        """Return the operands of an instruction."""
        if (known := self._operands.get(name)) is not None:
            return known
        text = self._text(name)
        found = operands(text) if text is not None else ()
        # What the dump names can read what it does not: a parameter of an async computation.
        computation = self._computation_of(name)
        if computation is not None and any(self._text(each.name) is None for each in found):
            self.computation(computation)
        self._operands[name] = found
        return found

    def called(self, name: str) -> tuple[str, ...]:
        """Return the computations that an instruction runs or applies."""
        text = self._text(name)
        return called_computations(text) if text is not None else ()

    def tuple_element(self, name: str) -> int | None:
        """Return which element a get-tuple-element reads."""
        text = self._text(name)
        return tuple_element(text) if text is not None else None

    def parameter_number(self, name: str) -> int | None:
        """Return the number of a parameter."""
        text = self._text(name)
        return parameter_number(text) if text is not None else None

    def root(self, computation: str) -> str | None:
        """Return the instruction whose result a computation returns."""
        found = self._module_text.roots.get(computation) if self._module_text is not None else None
        if found is None:
            return None
        self._inner.setdefault(found.name, ModuleInstruction(computation, found.text))
        return found.name

    def computation(self, name: str) -> tuple[str, ...]:
        """Return the instructions of a computation."""
        if name not in self._computations:
            texts = self._module_text.computation(name) if self._module_text is not None else {}
            self._computations[name] = tuple(texts)
            for instruction, text in texts.items():
                self._inner.setdefault(instruction, ModuleInstruction(name, text))
        return self._computations[name]

    def caller(self, parameter: str) -> Caller | None:
        """Return what runs the computation that a parameter belongs to."""
        computation = self._computation_of(parameter)
        return self._callers.get(computation) if computation is not None else None

    @cached_property
    def _callers(self) -> dict[str, Caller]:
        """By computation; those that control flow runs, not those of fusions."""
        callers: dict[str, Caller] = {}
        for name, facts in list(self._facts.items()):
            if self.opcode(name) in _RUNNING:
                for branch, computation in enumerate(self.called(name), 1):
                    operand = branch if facts.opcode == "conditional" else None
                    callers.setdefault(computation, Caller(name, operand))
        return callers

    def _text(self, name: str) -> str | None:
        found = self._in_module(name)
        return found.text if found is not None else self._texts.get(name)

    def _computation_of(self, name: str) -> str | None:
        found = self._in_module(name)
        return found.computation if found is not None else None

    def _in_module(self, name: str) -> ModuleInstruction | None:
        if self._module_text is None:
            return None
        return self._module_text.instructions.get(name) or self._inner.get(name)
