"""The computations of a module text, each taken apart when it is asked for.

HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, …
%fused_computation (…) -> … {      or ``fused_computation {``, and ``ENTRY`` before one
  ROOT %add.3 = f32[8]{0} add(…)   or without ``%``, or with the shapes of operands
}
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from xlagraph.plan.hlo import Computation, Instruction, Module, Operand, declared_aliasing

__all__ = ["parse_hlo"]

_END: Final = "\n}"
# %region_0.4 (a: f32[]) -> f32[] {   region_1.4 {   ENTRY %main.5 (…) -> … {
_HEADER: Final = re.compile(r"^(ENTRY )?%?([^\s(]+) (?:.*)\{$", re.MULTILINE)
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_BRACES: Final = rf"\{{(?:[^{{}}\"]++|{_STRING}|\{{(?:[^{{}}\"]++|{_STRING})*+\}})*+\}}"
_PARENTHESES: Final = (
    rf'\((?:[^()"]++|{_STRING}|\((?:[^()"]++|\((?:[^()"]++|\([^()"]*+\))*+\))*+\))*+\)'
)
#   ROOT %add.3 = f32[8]{0} add(%a, %b), metadata={…}
_INSTRUCTION: Final = re.compile(
    rf"^  (ROOT )?%?([^\s=]+) = "
    rf"((?:[a-z][a-z0-9]*\[[^\]]*+\]|b?{_PARENTHESES})(?:{_BRACES})?)"
    rf" ([a-z][\w-]*)({_PARENTHESES})(.*)$",
    re.MULTILINE,
)
_NAMED: Final = re.compile(r"%([^\s,()#]+)(?:#([\d.]+))?")
_BRACKETS: Final = re.compile(r"\[[^\]]*\]|\{[^{}]*\}|/\*.*?\*/")


class _Computations(Mapping[str, Computation]):
    """Computations by name, parsed at the first look."""

    def __init__(self, bodies: Mapping[str, str]) -> None:
        self._bodies = bodies
        self._parsed: dict[str, Computation] = {}

    def __getitem__(self, name: str) -> Computation:
        if name not in self._parsed:
            self._parsed[name] = _computation(name, self._bodies[name])
        return self._parsed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)


def parse_hlo(text: str) -> Module | None:
    """Read a module text; None if it has no entry computation."""
    bodies: dict[str, str] = {}
    entry = None
    for part in text.replace("\r\n", "\n").split(_END):
        header = _HEADER.search(part)
        if header is not None:
            bodies[header[2]] = part[header.end() :]
            if header[1]:
                entry = header[2]
    if entry is None:
        return None
    computations = _Computations(bodies)
    first_line = text[: text.find("\n") + 1]
    _, _, aliasing = first_line.partition("input_output_alias={")
    return Module(computations, computations[entry], declared_aliasing(aliasing))


def _computation(name: str, body: str) -> Computation:
    instructions: dict[str, Instruction] = {}
    root = None
    for is_root, own, shape, opcode, operands, attributes in _INSTRUCTION.findall(body):
        instruction = Instruction(
            own,
            opcode,
            shape,
            () if opcode in ("parameter", "constant") else _operands(operands),
            attributes,
            int(operands[1:-1]) if opcode == "parameter" else None,
        )
        instructions[own] = instruction
        if is_root or root is None:
            root = instruction
    if root is None:
        raise KeyError(name)
    if "ROOT " not in body:
        root = next(reversed(instructions.values()))
    return Computation(name, instructions, root)


def _operands(text: str) -> tuple[Operand, ...]:
    if text == "()":
        return ()
    if "%" in text:
        return tuple(
            [
                Operand(name, "{" + index.replace(".", ",") + "}") if index else Operand(name)
                for name, index in _NAMED.findall(text)
            ]
        )
    bare = _BRACKETS.sub("", text[1:-1])
    operands = []
    for part in bare.split(","):
        name, _, index = part.split()[-1].partition("#")
        operands.append(Operand(name, f"{{{index}}}") if index else Operand(name))
    return tuple(operands)
