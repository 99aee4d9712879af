"""Parse the text of HLO instructions in a memory plan or a module text.

    line        = [ "ROOT " ] [ "%" ] name " = " instruction
    instruction = shape " " opcode "(" operands ")" attributes     of `attribute_text`

Operands are names, with or without ``%`` and their shapes. Since jaxlib 0.11, ``%t#1`` is a
get-tuple-element: element 1 of ``%t``.
"""

import re
from collections.abc import Callable
from typing import Final

from xlagraph.hlo.attribute_text import (
    BRACES,
    PARENTHESES,
    after_brackets,
    number,
    parse_attributes,
)
from xlagraph.hlo.instruction import Instruction, Operand
from xlagraph.hlo.shapes import parse_shape

# f32[64,64]{1,0:T(8,128)} fusion(%a, %b)   (s32[], f32[2]{0}) while(%tuple.1)
_SHAPE: Final = rf"(?:[a-z][a-z0-9]*\[[^\]]*+\]|b?{PARENTHESES})(?:{BRACES})?"
_HEAD: Final = re.compile(rf"({_SHAPE}) ([a-z][\w-]*)({PARENTHESES})")
# The same if no operand has parentheses: almost every line, in a third of the time.
PLAIN_HEAD: Final = r"(\([^\n]*?\)|[^\s(]\S*+) ([a-z][\w-]*+)\(([^()\"\n]*+)\)"
PLAIN_INSTRUCTION: Final = PLAIN_HEAD + "(.*+)"
_PLAIN_TEXT: Final = re.compile(PLAIN_INSTRUCTION, re.DOTALL)
_OPCODE: Final = re.compile(r" ([a-z][\w-]*)(?=\()")

_OPERAND: Final = re.compile(r"%([^\s,()#]+)((?:#\d+)*)")
WHOLE_OPERANDS: Final[Callable[[str], list[str]]] = re.compile(r"%([^\s,()]+)").findall
"""Function that returns the names of operands without tuple elements."""
# Without `%`: brackets and their content, and comments, are not names.
_BRACKETS: Final = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)|/\*[^*]*\*/")
_BARE: Final = re.compile(r"([^\s,()#\[\]{}]+?)((?:#\d+)*)\s*(?:,|$)")
_WITHOUT_OPERANDS: Final = frozenset(("parameter", "constant", "iota"))
"""Opcodes whose parentheses contain numbers or literals, not operands."""

_NO_HEAD: Final = (None, None, "", "")


class PrintedInstruction(Instruction):
    """An instruction of a text; its operands and attributes are parsed on first access."""

    __slots__ = ("_shape_text", "attribute_text", "operand_text")

    def __init__(
        self,
        name: str,
        shape: str | None,
        opcode: str | None,
        operand_text: str,
        attribute_text: str,
        computation: str | None = None,
    ) -> None:
        self.name = name
        self._shape_text = shape
        self.opcode = opcode
        self.operand_text = operand_text
        self.attribute_text = attribute_text
        self.computation = computation
        self.text = None
        self.unique_id = None
        if opcode == "parameter":
            self.operand_names = ()
            self.parameter_number = number(operand_text)

    def __getattr__(self, field: str) -> object:
        """Parse a field on first access."""
        if field == "operand_names":
            self.read_operands()
            return self.operand_names
        if field == "operands":
            names = self.operand_names
            if "#" not in self.operand_text:
                self.operands = tuple([Operand(name) for name in names])
            return self.operands
        if field == "shape":
            self.shape = None if self._shape_text is None else parse_shape(self._shape_text)
            return self.shape
        if field == "attributes":
            self.attributes = parse_attributes(self.attribute_text)
            return self.attributes
        if field == "parameter_number":
            is_parameter = self.opcode == "parameter"
            self.parameter_number = number(self.operand_text) if is_parameter else None
            return self.parameter_number
        raise AttributeError(field)

    def read_operands(self) -> None:
        """Parse the names of the operands, sooner than on a first access."""
        text = self.operand_text
        if self.opcode in _WITHOUT_OPERANDS:
            self.operand_names = ()
        elif "%" in text and "#" not in text:
            self.operand_names = WHOLE_OPERANDS(text)
        else:
            self.operands = _operands(text)
            self.operand_names = [name for name, _ in self.operands]

    def state(self, text: str) -> None:
        """Take over the facts in the text of the memory plan, if it differs.

        Fields missing from the plan are unchanged; file and line are replaced together. Operands,
        callees and aliasing are unchanged: every operand in the module text is a line's name,
        while a plan can name a get-tuple-element that the module text omits.
        """
        self.text = text
        # both texts are equal except in the oldest producers
        if text == (
            f"{self._shape_text} {self.opcode}({self.operand_text}){self.attribute_text.rstrip()}"
        ):
            return
        printed = parse_instruction(self.name, text)
        own, others = printed.attributes, self.attributes
        has_place = own.source_file is not None
        _ = self.operands, self.parameter_number  # read before the opcode changes
        self.opcode = printed.opcode or self.opcode
        self.shape = printed.shape or self.shape
        self.attributes = others._replace(
            op_name=own.op_name or others.op_name,
            source_file=own.source_file if has_place else others.source_file,
            source_line=own.source_line if has_place else others.source_line,
            stack_frame=own.stack_frame or others.stack_frame,
            target=own.target or others.target,
            runs=own.runs or others.runs,
            sharding=own.sharding or others.sharding,
        )


def parse_instruction(name: str, text: str, computation: str | None = None) -> PrintedInstruction:
    """Parse the text after ``%name = ``; linear in its length.

    Text that is cut or malformed gives the fields before the fault.
    """
    plain = _PLAIN_TEXT.match(text)
    shape, opcode, operands, attributes = plain.groups() if plain else _head(text)
    return PrintedInstruction(name, shape, opcode, operands, attributes, computation)


def _head(text: str) -> tuple[str | None, str | None, str, str]:
    """Return shape, opcode, and the operands and attributes as strings."""
    if head := _HEAD.match(text):
        return head[1], head[2], head[3][1:-1], text[head.end() :]
    at = 0
    while at < len(text) and text[at] != " ":
        at = after_brackets(text, at) if text[at] in "([{" else at + 1
    opcode = _OPCODE.match(text, at)
    if opcode is None:
        return _NO_HEAD
    end = after_brackets(text, opcode.end())
    return text[:at], opcode[1], text[opcode.end() + 1 : end - 1], text[end:]


def _operands(text: str) -> tuple[Operand, ...]:
    if "%" in text:
        found = _OPERAND.findall(text)
    else:
        before = None
        while text != before:
            before, text = text, _BRACKETS.sub("", text)
        found = _BARE.findall(text)
    return tuple([Operand(name, _element(numbers)) for name, numbers in found])


def _element(numbers: str) -> str:
    """Return a suffix such as ``#0#2`` as a shape index: ``{0,2}``."""
    return "{" + numbers[1:].replace("#", ",") + "}"
