"""The computations of a module text, each taken apart when it is asked for.

    %fused_computation (…) -> … {      or ``fused_computation {``, and ``ENTRY`` before one
      ROOT %add.3 = f32[8]{0} add(…)   or without ``%``, or with the shapes of operands
    }

``%x#1`` is element 1 of ``%x``: texts write it for a get-tuple-element since jaxlib 0.11.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
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
_NAMED: Final = re.compile(r"%([^\s,()#]+)((?:#\d+)*)")
# In the short form: brackets and their content, and comments
_BRACKETS: Final = re.compile(r"\[[^\]]*\]|\{[^{}]*\}|/\*.*?\*/")
_BARE: Final = re.compile(r"([^\s,#]+)((?:#\d+)*)(?:,|$)")
_WITHOUT_OPERANDS: Final = frozenset(("parameter", "constant", "iota"))
_UPDATES: Final = re.compile(r" (?:dynamic-update-slice|scatter|fusion|set-dimension-size)\(")


class _Computations(Mapping[str, Computation]):
    """Computations by name, parsed at the first look."""

    def __init__(self, lines: Mapping[str, Sequence[str]]) -> None:
        self._lines = lines
        self._parsed: dict[str, Computation] = {}

    def __getitem__(self, name: str) -> Computation:
        if name not in self._parsed:
            self._parsed[name] = _computation(name, "\n".join(self._lines[name]))
        return self._parsed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def hlo_module(text: ModuleText) -> Module | None:
    """Return the program that a module text holds; None without an entry computation."""
    computations = _Computations(text.lines)
    entry = computations.get(text.entry) if text.entry is not None else None
    if entry is None:
        return None
    updating = {name for name, lines in text.lines.items() if any(map(_UPDATES.search, lines))}
    aliasing = [
        Aliasing(output, parameter.number, parameter.shape_index)
        for parameter, output in text.header.output_by_donated.items()
    ]
    return Module(computations, entry, updating, tuple(aliasing))


def _computation(name: str, body: str) -> Computation:
    instructions = {
        own: Instruction(
            own,
            opcode,
            shape,
            () if opcode in _WITHOUT_OPERANDS else _operands(operands),
            attributes,
            int(operands[1:-1]) if opcode == "parameter" else None,
        )
        for own, shape, opcode, operands, attributes in _INSTRUCTION.findall(body)
    }
    marked = re.search(r"^  ROOT %?([^\s=]+) = ", body, re.MULTILINE)
    root = marked[1] if marked else next(reversed(instructions), "")
    return Computation(name, instructions, instructions[root])


def _operands(text: str) -> tuple[Operand, ...]:
    named = _NAMED.findall(text) if "%" in text else _BARE.findall(_BRACKETS.sub("", text[1:-1]))
    return tuple([Operand(name, _element(element)) for name, element in named])


def _element(numbers: str) -> str:
    return "{" + numbers[1:].replace("#", ",") + "}" if numbers else WHOLE
