"""The facts in the text of an HLO instruction.

    instruction = shape " " opcode "(" operands ")" { ", " key "=" value }
    value       = text without "," | "…" | {…} | […] | (…)     nested, and one after another
    metadata    = "{" { key "=" ( "…" | {…} | text without " " ) " " } "}"

Strings are quoted and escaped as in C; what stands in them is never looked at.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from xlagraph.ingest.hlo.computations import BRACES, STRING, Instruction

__all__ = [
    "NO_FACTS",
    "InstructionFacts",
    "attribute_facts",
    "instruction_facts",
    "unescaped",
    "with_gaps_filled",
]


class InstructionFacts(NamedTuple):
    """What one instruction text states; None where it does not."""

    shape: str | None
    """With layout, as printed."""
    opcode: str | None
    op_name: str | None
    source_file: str | None
    source_line: int | None
    stack_frame_id: int | None
    target: str | None
    """Of a custom call."""
    calls: str | None
    """Name of the computation that a fusion or an async start runs, without ``%``."""
    sharding: str | None
    """Of a parameter: how it is split over devices, in braces as printed."""


class _Metadata(NamedTuple):
    """What stands in the metadata of an instruction."""

    op_name: str | None
    source_file: str | None
    source_line: int | None
    stack_frame_id: int | None


# All quantifiers are possessive: each character is looked at a few times at most, whatever
# the text. Deeper nesting than these patterns know is left to `_after_brackets`.
_PARENTHESES: Final = rf'\((?:[^()"]++|{STRING}|\([^()"]*+\))*+\)'

# f32[64,64]{1,0:T(8,128)} fusion(%a, %b)   (s32[], f32[2]{0}) while(%tuple.1)
_HEAD: Final = re.compile(
    rf"((?:[a-z][a-z0-9]*\[[^\]]*+\]|b?{_PARENTHESES})(?:{BRACES})?)"
    rf" ([a-z][\w-]*){_PARENTHESES}"
)
_OPCODE: Final = re.compile(r" ([a-z][\w-]*)(?=\()")
_VALUE: Final = re.compile(
    rf'(?:[^,"(){{}}\[\]]++|{STRING}|{BRACES}|{_PARENTHESES}|\[[^\[\]"]*+\])*+', re.DOTALL
)
# , calls=%fused_computation.1
_ATTRIBUTE: Final = re.compile(rf", ([\w-]+)=({_VALUE.pattern})", re.DOTALL)
# A string that never ends takes all the rest, so that it is looked for once.
_BRACKET: Final = re.compile(rf"{STRING}?|[()\[\]{{}}]", re.DOTALL)
# op_name="jit(f)/add"   source_line=12   profile_type={…}
_METADATA_FIELD: Final = re.compile(
    rf'[{{ ](\w+)=(?:({STRING})|{BRACES}|([^\s{{}}"]++))', re.DOTALL
)
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_ESCAPE: Final = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPED: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b"}

# Compilations of one program say the same again: half of the texts of seven runs of a
# training program were repetitions. Longer texts are not worth the memory.
_REMEMBERED_TEXTS: Final = 1 << 15
_REMEMBERED_CHARACTERS: Final = 1000
_REMEMBERED_METADATA: Final = 1 << 13
"""Several instructions of a computation come from one operation of the user's."""

_NO_HEAD: Final = (None, None, 0)
_NO_METADATA: Final = _Metadata(None, None, None, None)
NO_FACTS: Final = InstructionFacts(None, None, *_NO_METADATA, None, None, None)


def instruction_facts(text: str) -> InstructionFacts:
    """Read the text after ``%name = ``; linear in its length.

    Text that is cut short or odd gives what stands before the oddity.
    """
    return _remembered(text) if len(text) <= _REMEMBERED_CHARACTERS else _read(text)


def attribute_facts(instruction: Instruction) -> InstructionFacts:
    """Read what stands after the operands of an instruction."""
    return _with_attributes(instruction.shape, instruction.opcode, instruction.attributes, 0)


def _read(text: str) -> InstructionFacts:
    shape, opcode, at = _head(text)
    return NO_FACTS if opcode is None else _with_attributes(shape, opcode, text, at)


def _with_attributes(shape: str | None, opcode: str, text: str, at: int) -> InstructionFacts:
    target = calls = sharding = None
    metadata = _NO_METADATA
    while attribute := _ATTRIBUTE.match(text, at):
        key, value = attribute.groups()
        at = attribute.end()
        if at < len(text) and text[at] != ",":  # nested deeper than the pattern knows
            at = _value_end(text, at)
            value = text[attribute.start(2) : at]
        if key == "metadata":
            metadata = _metadata(value)
            if text.startswith(", backend_config=", at):
                break  # long, and last in every generation
        elif key == "calls":
            calls = None if value.startswith("{") else value.removeprefix("%")
        elif key == "custom_call_target":
            target = _text(value)
        elif key == "sharding" and opcode == "parameter":
            sharding = value
    return InstructionFacts(shape, opcode, *metadata, target, calls, sharding)


_remembered: Final = lru_cache(_REMEMBERED_TEXTS)(_read)


def with_gaps_filled(facts: InstructionFacts, others: InstructionFacts) -> InstructionFacts:
    """Return `facts`, with what they leave open from `others`; file and line stay together."""
    has_place = facts.source_file is not None
    return InstructionFacts(
        facts.shape or others.shape,
        facts.opcode or others.opcode,
        facts.op_name or others.op_name,
        facts.source_file if has_place else others.source_file,
        facts.source_line if has_place else others.source_line,
        facts.stack_frame_id or others.stack_frame_id,
        facts.target or others.target,
        facts.calls or others.calls,
        facts.sharding or others.sharding,
    )


def unescaped(quoted: str) -> str:
    """Return a text without quotes and C escapes; octal and hexadecimal bytes are UTF-8."""
    inner = quoted.removeprefix('"').removesuffix('"')
    if "\\" not in inner:
        return inner
    return _ESCAPE.sub(_escaped_bytes, inner.encode()).decode(errors="replace")


def _escaped_bytes(escape: re.Match[bytes]) -> bytes:
    octal, hexadecimal, character = escape.groups()
    if octal:
        return bytes((int(octal, 8) & 0xFF,))
    if hexadecimal:
        return bytes((int(hexadecimal, 16),))
    return _ESCAPED.get(character, character)


def _head(text: str) -> tuple[str | None, str | None, int]:
    """Return shape, opcode and the end of the operands."""
    head = _HEAD.match(text)
    if head:
        return head[1], head[2], head.end()
    at = 0
    while at < len(text) and text[at] != " ":
        at = _after_brackets(text, at) if text[at] in "([{" else at + 1
    opcode = _OPCODE.match(text, at)
    return (text[:at], opcode[1], _after_brackets(text, opcode.end())) if opcode else _NO_HEAD


def _value_end(text: str, at: int) -> int:
    """Return the end of a value of which the brackets at `at` are the next part."""
    while at < len(text) and text[at] != ",":
        at = _after_brackets(text, at)
        if plain := _VALUE.match(text, at):
            at = plain.end()
    return at


def _after_brackets(text: str, at: int) -> int:
    """Return the index after the bracket that opens at `at`; the end if it never closes."""
    depth = 0
    for bracket in _BRACKET.finditer(text, at):
        if bracket[0] in "([{":
            depth += 1
        elif bracket[0] in ")]}":
            depth -= 1
            if depth <= 0:
                return bracket.end()
    return len(text)


@lru_cache(_REMEMBERED_METADATA)
def _metadata(braced: str) -> _Metadata:
    fields: dict[str, str] = {}
    at = 0
    while field := _METADATA_FIELD.match(braced, at):
        fields.setdefault(field[1], field[2] or field[3] or "")
        at = field.end()
    return _Metadata(
        _text(fields.get("op_name")),
        _text(fields.get("source_file")),
        _number(fields.get("source_line")),
        _number(fields.get("stack_frame_id")),
    )


def _text(quoted: str | None) -> str | None:
    return unescaped(quoted) or None if quoted else None


def _number(digits: str | None) -> int | None:
    # XLA's zero stands for: not known. More digits than 64 bits hold are misprinted.
    return int(digits) or None if digits and _NUMBER.fullmatch(digits) else None
