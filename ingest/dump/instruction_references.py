"""What the text of an HLO instruction refers to: operands and computations.

    operands = operand { ", " operand }
    operand  = [ "/*index=" N "*/" ] [ shape " " ] [ "%" ] name { "#" N }
    calls    = ( "calls" | "to_apply" | "body" | … ) "=" ( name | "{" name { ", " name } "}" )

``%x#1`` is element 1 of ``%x``: module texts write it for a get-tuple-element since
jaxlib 0.11. Texts are those after ``%name = ``.
"""

import re
from typing import Final, NamedTuple

from xlagraph.ingest.dump.instruction_text import operand_text

__all__ = [
    "Operand",
    "called_computations",
    "operands",
    "parameter_number",
    "sharding",
    "tuple_element",
]


class Operand(NamedTuple):
    """An instruction whose result is read, or one element of it."""

    name: str
    element: tuple[int, ...] = ()
    """Shape index of the element; empty for the whole result."""


# %fusion.7   %arg_tuple.1#4
_NAMED: Final = re.compile(r"%([^\s,()#]+)((?:#\d+)*)")
# In the short form: brackets and their content, and comments
_BRACKETS: Final = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)|/\*[^*]*\*/")
_BARE: Final = re.compile(r"([^\s,()#\[\]{}]+?)((?:#\d+)*)\s*(?:,|$)")
# , calls=%fused_computation.1   , branch_computations={%a, %b}
_CALLED: Final = re.compile(
    r", (?:calls|to_apply|body|condition|branch_computations|true_computation"
    r"|false_computation|called_computations)=(\{[^{}]*\}|[^\s,{}]+)"
)
_COMPUTATION: Final = re.compile(r"[^\s,{}%]+")
_ELEMENT: Final = re.compile(r", index=(\d{1,18})(?!\d)")
# , sharding={replicated}   , sharding={{devices=[2,1]<=[2]}, {replicated}}
_SHARDING: Final = re.compile(r", sharding=(\{(?:[^{}\"]|\{[^{}\"]*\})*\})")
_METADATA: Final = ", metadata={"
# Their parentheses hold numbers and literals.
_WITHOUT_OPERANDS: Final = frozenset(("parameter", "constant", "iota"))


def operands(text: str) -> tuple[Operand, ...]:
    """Return the operands in their order; none where the text is odd."""
    opcode, inner = operand_text(text)
    if not inner or opcode in _WITHOUT_OPERANDS:
        return ()
    if "%" in inner:
        found = _NAMED.findall(inner)
    else:
        before = None
        while inner != before:
            before, inner = inner, _BRACKETS.sub("", inner)
        found = _BARE.findall(inner)
    return tuple([Operand(name, _element(element)) for name, element in found])


def called_computations(text: str) -> tuple[str, ...]:
    """Return the computations that it runs or applies, in the order of the text."""
    attributes, _, _ = text.partition(_METADATA)  # what stands in strings is not meant
    return tuple(
        name for found in _CALLED.findall(attributes) for name in _COMPUTATION.findall(found)
    )


def tuple_element(text: str) -> int | None:
    """Return which element a get-tuple-element reads."""
    attributes, _, _ = text.partition(_METADATA)
    found = _ELEMENT.search(attributes)
    return int(found[1]) if found else None


def parameter_number(text: str) -> int | None:
    """Return the number of a parameter; None of anything else."""
    opcode, inner = operand_text(text)
    return int(inner) if opcode == "parameter" and inner.isdecimal() else None


def sharding(text: str) -> str | None:
    """Return how an instruction is split over devices, in braces as printed."""
    attributes, _, _ = text.partition(_METADATA)
    found = _SHARDING.search(attributes)
    return found[1] if found else None


def _element(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("#")[1:]))
