r"""HLO as the rules need it: computations of instructions, read from text when asked for.

    %fused_computation (…) -> … {
      %p = f32[8]{0} parameter(0)
      ROOT %add.3 = f32[8]{0} add(%p, %t#1), metadata={…}
    }

Also without ``%``, and with the shapes of operands. ``%t#1`` is element 1 of ``%t``: texts
write it for a get-tuple-element since jaxlib 0.11. A tuple index is written as XLA prints it,
``{1,0}``; ``{}`` is the whole. Lines that do not fit are passed over, unless what they say is
needed: then it is an `HloTextError`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

__all__ = [
    "BRACES",
    "STRING",
    "WHOLE",
    "Aliasing",
    "Computation",
    "HloTextError",
    "Instruction",
    "Module",
    "Operand",
    "first_number",
    "nested_index",
    "parse_instruction",
]

WHOLE: Final = "{}"

STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
BRACES: Final = rf"\{{(?:[^{{}}\"]++|{STRING}|\{{(?:[^{{}}\"]++|{STRING})*+\}})*+\}}"
"""Up to one pair of braces in another."""
_NESTING: Final = 6


def _in_parentheses(nesting: int) -> str:
    """Return the pattern of what a pair of parentheses encloses, with others nested in it."""
    further = rf"|\({_in_parentheses(nesting - 1)}\)" if nesting else ""
    return rf'(?:[^()"]++|{STRING}{further})*+'


_INNER: Final = _in_parentheses(_NESTING)
_OPCODE: Final = r"[a-z][\w-]*"
# f32[8]{0} add(%a, %b), metadata={…}   shape, opcode, operands, attributes
_ANY: Final = (
    rf"((?:[a-z][a-z0-9]*\[[^\]]*+\]|b?\({_INNER}\))(?:{BRACES})?)"
    rf" ({_OPCODE})\(({_INNER})\)(.*)"
)
_NAME: Final = r"\n  (?:ROOT )?%?([^\s=]+) = "
_LINE: Final = re.compile(_NAME + _ANY)
_TEXT: Final = re.compile(_ANY)
# The same where no operand has parentheses: almost every line, in a third of the time.
_PLAIN_SHAPE: Final = r"(?:\([^\n]*?\)|\S+)"
_PLAIN_LINE: Final = re.compile(rf"{_NAME}({_PLAIN_SHAPE}) ({_OPCODE})\(([^()\n]*)\)(.*)")
_OPCODE_OF_LINE: Final = re.compile(rf"\n  (?:ROOT )?[^\s=]+ = {_PLAIN_SHAPE} ({_OPCODE})\(")

_OPERAND: Final = re.compile(r"%([^\s,()#]+)((?:#\d+)*)")
_WHOLE_OPERAND: Final = re.compile(r"%([^\s,()]+)")
# Without `%`: brackets and their content, and comments, are not names.
_BRACKETS: Final = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)|/\*[^*]*\*/")
_BARE: Final = re.compile(r"([^\s,()#\[\]{}]+?)((?:#\d+)*)\s*(?:,|$)")
_AFTER_OPERAND: Final = frozenset(",)#")
_WITHOUT_OPERANDS: Final = frozenset(("parameter", "constant", "iota"))
"""Their parentheses hold numbers and literals."""

_NAMES: Final = re.compile(r"%?([^\s,{}]+)")
_LISTED: Final = r"=\{([^}]*)\}"
# , calls=%fused_computation.1   , branch_computations={%a, %b}
_CALLED: Final = re.compile(
    r", (?:calls|to_apply|body|condition|branch_computations|true_computation"
    r"|false_computation|called_computations)=(\{[^{}]*\}|[^\s,{}]+)"
)
_COMPUTATION: Final = re.compile(r"[^\s,{}%]+")
_NUMBER: Final = re.compile(r"\d{1,18}")
_ELEMENT: Final = re.compile(r", index=(\d{1,18})(?!\d)")
_METADATA: Final = ", metadata={"
_DECLARED_ALIASING: Final = "output_to_operand_aliasing={"
# {0}: (1, {}), {1}: (2, {0})   or   {0}: (0, {}, may-alias)
_INDEX: Final = r"\{((?:\d{1,18}(?:, *\d{1,18})*)?)\}"
_ALIASING: Final = re.compile(rf",? *{_INDEX}: \((\d{{1,18}}), {_INDEX}[^)]*\)")


class HloTextError(LookupError):
    """Raised where a text lacks what it refers to, or refers to itself."""


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


class Instruction:
    """One instruction; what its text refers to is read when it is asked for."""

    __slots__ = ("_operand_text", "_operands", "attributes", "name", "opcode", "shape")

    def __init__(
        self, name: str, shape: str, opcode: str, operand_text: str, attributes: str
    ) -> None:
        self.name = name
        self.shape = shape
        """With layout, as printed."""
        self.opcode = opcode
        self.attributes = attributes
        """The text after the operands."""
        self._operand_text = operand_text
        self._operands: tuple[Operand, ...] | None = None

    @property
    def operands(self) -> tuple[Operand, ...]:
        """What it reads, in order."""
        if self._operands is None:
            self._operands = (
                () if self.opcode in _WITHOUT_OPERANDS else _operands(self._operand_text)
            )
        return self._operands

    def operand(self, number: int) -> Operand:
        """Return one operand; raise HloTextError if there are fewer."""
        if number >= len(self.operands):
            raise HloTextError(f"{self.name} has no operand {number}")
        return self.operands[number]

    @property
    def parameter_number(self) -> int | None:
        """Number of a parameter."""
        if self.opcode != "parameter" or not _NUMBER.fullmatch(self._operand_text):
            return None
        return int(self._operand_text)

    @property
    def tuple_element(self) -> int | None:
        """Which element a get-tuple-element reads."""
        found = _ELEMENT.search(self._attributes_before_metadata)
        return int(found[1]) if found else None

    @property
    def callees(self) -> tuple[str, ...]:
        """All that it runs or applies, in the order of the text."""
        found = _CALLED.findall(self._attributes_before_metadata)
        return tuple(name for names in found for name in _COMPUTATION.findall(names))

    def callee(self, attribute: str) -> str | None:
        """Return the computation that an attribute names: body, condition, calls, to_apply."""
        at = self.attributes.find(f" {attribute}=")
        found = _NAMES.match(self.attributes, at + len(attribute) + 2) if at >= 0 else None
        return found[1] if found else None

    @property
    def branches(self) -> tuple[str, ...]:
        """Computations of a conditional, in the order of its operands."""
        if listed := self._listed("branch_computations"):
            return listed
        named = (self.callee("true_computation"), self.callee("false_computation"))
        return tuple(name for name in named if name is not None)

    @property
    def control_predecessors(self) -> tuple[str, ...]:
        """Instructions that must run before, in the order of the text."""
        return self._listed("control-predecessors")

    @property
    def aliasing(self) -> tuple[Aliasing, ...]:
        """Outputs that it declares to write over operands."""
        at = self.attributes.find(_DECLARED_ALIASING)
        return _declared_aliasing(self.attributes, at + len(_DECLARED_ALIASING)) if at >= 0 else ()

    def _listed(self, attribute: str) -> tuple[str, ...]:
        if attribute not in self.attributes:
            return ()
        found = re.search(attribute + _LISTED, self.attributes)
        return tuple(_NAMES.findall(found[1])) if found else ()

    @property
    def _attributes_before_metadata(self) -> str:
        return self.attributes.partition(_METADATA)[0]  # what stands in strings is not meant


def parse_instruction(name: str, text: str) -> Instruction | None:
    """Parse the text after ``%name = ``; None if it does not fit."""
    found = _TEXT.match(text)
    return Instruction(name, *found.groups()) if found else None


class Computation:
    """Instructions in the order of the text.

    Most computations are bodies of fusions of which few lines matter: a single instruction is
    found in the text and parsed by itself.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        """Its lines, a line break before each."""
        self._mark = "%" if text.startswith(("\n  %", "\n  ROOT %")) else ""
        self._found: dict[int, Instruction] = {}
        """By index in the text."""

    @cached_property
    def instructions(self) -> dict[str, Instruction]:
        """All by name."""
        found = _PLAIN_LINE.findall(self.text)
        if len(found) < self.text.count("\n"):  # all again: quicker than line by line
            found = _LINE.findall(self.text)
        return {fields[0]: Instruction(*fields) for fields in found}

    def find(self, name: str) -> Instruction | None:
        """Return one instruction; None if it is not there or its line does not fit."""
        for start in ("\n  ", "\n  ROOT "):
            at = self.text.find(f"{start}{self._mark}{name} = ")
            if at >= 0:
                return self._line_at(at)
        return None

    def __getitem__(self, name: str) -> Instruction:
        found = self.find(name)
        if found is None:
            raise HloTextError(f"{self.name} has no {name}")
        return found

    @cached_property
    def root(self) -> Instruction:
        """What it returns: the instruction marked so, else the last.

        Raises HloTextError if there is none.
        """
        at = self.text.rfind("\n  ROOT ")
        found = self._line_at(at if at >= 0 else self.text.rfind("\n"))
        if found is None:
            raise HloTextError(f"{self.name} has no root")
        return found

    def parameter(self, number: int) -> Instruction | None:
        """Return the parameter of a number; None if there is none."""
        at = self.text.find(f" parameter({number})")
        return self._line_at(self.text.rfind("\n", 0, at)) if at >= 0 else None

    def readers(self, name: str) -> Iterator[Instruction]:
        """Yield the instructions that read one, in the order of the text.

        Raises HloTextError where a line that mentions it does not fit.
        """
        mention = self._mark + name
        at = self.text.find(mention)
        while at >= 0:
            end = at + len(mention)
            if self.text[end : end + 1] in _AFTER_OPERAND:
                start = self.text.rfind("\n", 0, at)
                reader = self._line_at(start)
                if reader is None:
                    raise HloTextError(f"{self.name} has an odd line with {name}")
                if any(operand.name == name for operand in reader.operands):
                    yield reader
                at = self.text.find("\n", at)
                if at < 0:
                    return
            at = self.text.find(mention, at + 1)

    @cached_property
    def opcodes(self) -> frozenset[str]:
        """Opcodes in it, the empty one for a line that is odd."""
        found = _OPCODE_OF_LINE.findall(self.text)
        return frozenset(found if len(found) == self.text.count("\n") else (*found, ""))

    @cached_property
    def callees(self) -> frozenset[str]:
        """Computations that its instructions run or apply, nested ones not among them."""
        found = _CALLED.findall(self.text)
        return frozenset([name for names in found for name in _COMPUTATION.findall(names)])

    @cached_property
    def parameters(self) -> Mapping[int, Instruction]:
        """By number."""
        return {
            number: instruction
            for instruction in self.instructions.values()
            if (number := instruction.parameter_number) is not None
        }

    def _line_at(self, at: int) -> Instruction | None:
        """Parse the line that begins at an index; None if it does not fit."""
        found = self._found.get(at)
        if found is None:
            line = _PLAIN_LINE.match(self.text, at) or _LINE.match(self.text, at)
            if line is None:
                return None
            found = self._found[at] = Instruction(*line.groups())
        return found


@dataclass(frozen=True, slots=True)
class Module:
    """A program."""

    computations: Mapping[str, Computation]
    entry: Computation
    aliasing: tuple[Aliasing, ...] = ()
    """Results of the entry computation that are written over its parameters."""

    def computation(self, name: str | None) -> Computation:
        """Return a computation; raise HloTextError if it is not there."""
        found = self.computations.get(name or "")
        if found is None:
            raise HloTextError(f"there is no computation {name}")
        return found


def nested_index(outer: str, inner: str) -> str:
    """Return the index of an element's element: ``{1}`` and ``{0}`` make ``{1,0}``."""
    if outer == WHOLE:
        return inner
    if inner == WHOLE:
        return outer
    return f"{outer[:-1]},{inner[1:]}"


def first_number(index: str) -> int:
    """Return the element that an index begins with; raise HloTextError for the whole."""
    if index == WHOLE:
        raise HloTextError("an array is read as a tuple")
    return int(index[1:-1].partition(",")[0])


def _operands(text: str) -> tuple[Operand, ...]:
    if "%" in text:
        if "#" not in text:
            return tuple(map(Operand, _WHOLE_OPERAND.findall(text)))
        found = _OPERAND.findall(text)
    else:
        before = None
        while text != before:
            before, text = text, _BRACKETS.sub("", text)
        found = _BARE.findall(text)
    return tuple([Operand(name, _element(numbers)) for name, numbers in found])


def _element(numbers: str) -> str:
    """Return ``#0#2`` as an index."""
    return "{" + numbers[1:].replace("#", ",") + "}"


def _declared_aliasing(text: str, at: int) -> tuple[Aliasing, ...]:
    """Read the entries ``{0}: (1, {}), …`` that begin at an index."""
    found = []
    while entry := _ALIASING.match(text, at):
        output, operand, index = entry.groups()
        found.append(Aliasing(_index(output), int(operand), _index(index)))
        at = entry.end()
    return tuple(found)


def _index(numbers: str) -> str:
    return "{" + numbers.replace(" ", "") + "}"
