"""The computations of a module text, each taken apart when it is asked for.

    %fused_computation (…) -> … {      or ``fused_computation {``, and ``ENTRY`` before one
      ROOT %add.3 = f32[8]{0} add(…)   or without ``%``, or with the shapes of operands
    }

``%x#1`` is element 1 of ``%x``: texts write it for a get-tuple-element since jaxlib 0.11.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from xlagraph.ingest.dump.module_text import ModuleText
from xlagraph.plan.hlo import WHOLE, Aliasing, Computation, Instruction, Module, Operand

__all__ = ["hlo_module"]

_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_BRACES: Final = rf"\{{(?:[^{{}}\"]++|{_STRING}|\{{(?:[^{{}}\"]++|{_STRING})*+\}})*+\}}"
_PARENTHESES: Final = (
    rf'\((?:[^()"]++|{_STRING}|\((?:[^()"]++|\((?:[^()"]++|\([^()"]*+\))*+\))*+\))*+\)'
)
#   ROOT %add.3 = f32[8]{0} add(%a, %b), metadata={…}
_INSTRUCTION: Final = re.compile(
    rf"^  (?:ROOT )?%?([^\s=]+) = "
    rf"((?:[a-z][a-z0-9]*\[[^\]]*+\]|b?{_PARENTHESES})(?:{_BRACES})?)"
    rf" ([a-z][\w-]*)({_PARENTHESES})(.*)$",
    re.MULTILINE,
)
_NAME: Final = re.compile(r"%([^\s,()]+)")
_NAMED: Final = re.compile(r"%([^\s,()#]+)((?:#\d+)*)")
# In the short form: brackets and their content, and comments
_BRACKETS: Final = re.compile(r"\[[^\]]*\]|\{[^{}]*\}|/\*.*?\*/")
_BARE: Final = re.compile(r"([^\s,#]+)((?:#\d+)*)(?:,|$)")
_WITHOUT_OPERANDS: Final = frozenset(("parameter", "constant", "iota"))
_OPCODE: Final = re.compile(r" ([a-z][\w-]*)\(")


class _Computations(Mapping[str, Computation]):
    """Computations by name, parsed at the first look."""

    def __init__(self, text: ModuleText) -> None:
        self._lines = text.lines
        self._roots = text.roots
        self._parsed: dict[str, Computation] = {}

    def __getitem__(self, name: str) -> Computation:
        if name not in self._parsed:
            instructions = _instructions(self._lines[name])
            marked = self._roots.get(name)
            root = marked.name if marked is not None else next(reversed(instructions), "")
            self._parsed[name] = Computation(name, instructions, instructions[root])
        return self._parsed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def hlo_module(text: ModuleText) -> Module | None:
    """Return the program that a module text holds; None without an entry computation."""
    computations = _Computations(text)
    entry = computations.get(text.entry) if text.entry is not None else None
    if entry is None:
        return None
    aliasing = [
        Aliasing(output, parameter.number, parameter.shape_index)
        for parameter, output in text.header.output_by_donated.items()
    ]

    @cache
    def opcodes(name: str) -> frozenset[str]:
        return _opcodes(text.lines.get(name, ()))

    return Module(computations, entry, opcodes, tuple(aliasing))


def _instructions(lines: Sequence[str]) -> dict[str, Instruction]:
    return {
        own: Instruction(
            own,
            opcode,
            shape,
            () if opcode in _WITHOUT_OPERANDS else _operands(operands),
            attributes,
            int(operands[1:-1]) if opcode == "parameter" else None,
        )
        for own, shape, opcode, operands, attributes in _INSTRUCTION.findall("\n".join(lines))
    }


def _opcodes(lines: Sequence[str]) -> frozenset[str]:
    """Return the opcodes of a computation; of a line that is odd the empty one."""
    found = map(_OPCODE.search, lines)
    return frozenset([opcode[1] if opcode is not None else "" for opcode in found])


def _operands(text: str) -> tuple[Operand, ...]:
    if "%" in text and "#" not in text:
        return tuple(map(Operand, _NAME.findall(text)))
    named = _NAMED.findall(text) if "%" in text else _BARE.findall(_BRACKETS.sub("", text[1:-1]))
    return tuple(
        [Operand(name, _element(numbers) if numbers else WHOLE) for name, numbers in named]
    )


def _element(numbers: str) -> str:
    return "{" + numbers[1:].replace("#", ",") + "}"
