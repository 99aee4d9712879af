"""Parse an instruction's attributes in a text.

    attributes = { ", " key "=" value }
    value      = text without "," | "…" | {…} | […] | (…)     nested, and one after another
    metadata   = "{" { key "=" ( "…" | {…} | text without " " ) " " } "}"

Strings are quoted and escaped as in C; their content is never parsed.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from xlagraph.hlo.instruction import NO_ATTRIBUTES, Aliasing, Attributes, Callee, Purpose

# All quantifiers are possessive: each character is read a few times at most in any text.
# `after_brackets` handles nesting that is too deep for these patterns.
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
BRACES: Final = rf"\{{(?:[^{{}}\"]++|{_STRING}|\{{(?:[^{{}}\"]++|{_STRING})*+\}})*+\}}"
"""Pattern of braces with at most one more level inside."""
PARENTHESES: Final = rf'\((?:[^()"]++|{_STRING}|\([^()"]*+\))*+\)'

_VALUE: Final = re.compile(
    rf'(?:[^,"(){{}}\[\]]++|{_STRING}|{BRACES}|{PARENTHESES}|\[[^\[\]"]*+\])*+', re.DOTALL
)
# , calls=%fused_computation.1
_ATTRIBUTE: Final = re.compile(rf", ([\w-]+)=({_VALUE.pattern})", re.DOTALL)
# An unterminated string takes the rest of the text, so it is searched only once.
_BRACKET: Final = re.compile(rf"{_STRING}?|[()\[\]{{}}]", re.DOTALL)
# op_name="jit(f)/add"   source_line=12   profile_type={…}
_METADATA_FIELD: Final = re.compile(
    rf'[{{ ](\w+)=(?:({_STRING})|{BRACES}|([^\s{{}}"]++))', re.DOTALL
)
# {op_name="jit(f)/add" source_file="a.py" source_line=12}   {op_name="jit(f)/add" stack_frame_id=7}
_USUAL_METADATA: Final = re.compile(
    r'\{(?:op_type="\w*+" )?op_name="([^"\\]+)"'
    r'(?: source_file="([^"\\]+)" source_line=(\d{1,18}))?(?: stack_frame_id=(\d{1,18}))?\}'
)
# , kind=kLoop, calls=%fused_computation.1, metadata={…}, backend_config={…}
_USUAL_FUSION: Final = re.compile(
    r', kind=\w++, calls=%?([^\s,(){}\[\]"%]++)'
    r'(?:, metadata=(\{(?:[^{}"]++|"[^{}"\\]*+")*+\})(?:, backend_config=.*)?'
    r"|, backend_config=\{[^{}]*+\})?",
    re.DOTALL,
)
_MOST_DIGITS: Final = 18
_ESCAPE: Final = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPED: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b"}

_NAMES: Final = re.compile(r"[^\s,{}%]+")
# {0}: (1, {}), {1}: (2, {0})   or   {0}: (0, {}, may-alias)
_INDEX: Final = r"\{((?:\d{1,18}(?:, *\d{1,18})*)?)\}"
_ALIASING: Final = re.compile(rf"[{{,] *{_INDEX}: \((\d{{1,18}}), {_INDEX}[^)]*\)")
# {"known_trip_count":{"n":"8"}}, in older generations with escaped quotes
_TRIP_COUNT: Final = re.compile(r'known_trip_count\\?":\{\\?"n\\?":\\?"(\d{1,18})')
_BETA: Final = re.compile(r'\\?"beta\\?":(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)')
_MATRIX_PRODUCT: Final = "__cublas$lt$matmul"
_PURPOSES: Final[dict[str, Purpose]] = {
    "calls": "calls",
    "to_apply": "to_apply",
    "body": "body",
    "condition": "condition",
    "branch_computations": "branch",
    "true_computation": "branch",
    "false_computation": "branch",
    "called_computations": "called",
}

# Compilations of one program repeat strings: half of those in seven runs of a training program
# were repetitions. Longer strings are not worth the memory.
_REMEMBERED_TEXTS: Final = 1 << 15
_REMEMBERED_CHARACTERS: Final = 1000
_REMEMBERED_METADATA: Final = 1 << 13
"""Size of the metadata cache: one user operation becomes several instructions."""


def parse_attributes(text: str) -> Attributes:
    """Parse attributes; text that is malformed gives those before the fault."""
    if not text:
        return NO_ATTRIBUTES
    return _remembered(text) if len(text) <= _REMEMBERED_CHARACTERS else _read_attributes(text)


def _read_attributes(text: str) -> Attributes:
    text = text.rstrip()
    if usual := _USUAL_FUSION.fullmatch(text):
        called, metadata = usual.groups()
        fields: dict[str, object] = {"runs": called, "callees": (Callee("calls", called),)}
        if metadata is not None:
            fields |= _metadata(metadata)
    else:
        fields = _any_attributes(text)
    if str(fields.get("target")).startswith(_MATRIX_PRODUCT) and (beta := _BETA.search(text)):
        fields["gemm_beta"] = float(beta[1])
    if "known_trip_count" in text and (count := _TRIP_COUNT.search(text)):
        fields["trip_count"] = int(count[1])
    if "nvshmem" in text.lower():
        fields["uses_nvshmem"] = True
    return Attributes(**fields) if fields else NO_ATTRIBUTES  # type: ignore[arg-type]  # by name


def _any_attributes(text: str) -> dict[str, object]:
    """Return fields of `Attributes`, except those that are in the backend config."""
    fields: dict[str, object] = {}
    callees: list[Callee] = []
    at = 0
    while attribute := _ATTRIBUTE.match(text, at):
        key, value = attribute.groups()
        at = attribute.end()
        if at < len(text) and text[at] != ",":  # nested deeper than the pattern allows
            at = _value_end(text, at)
            value = text[attribute.start(2) : at]
        if key == "metadata":
            fields |= _metadata(value)
            if text.startswith(", backend_config=", at):
                break  # long, and the last attribute in every release
        elif (purpose := _PURPOSES.get(key)) is not None:
            is_list = purpose == "calls" and value.startswith("{")
            callees += [Callee("called" if is_list else purpose, n) for n in _NAMES.findall(value)]
            if purpose == "calls" and not is_list:
                fields["runs"] = value.removeprefix("%")
        elif key in _READERS:
            field, read = _READERS[key]
            fields[field] = read(value)
    if callees:
        fields["callees"] = tuple(callees)
    return fields


_remembered: Final = lru_cache(_REMEMBERED_TEXTS)(_read_attributes)


def _names(value: str) -> tuple[str, ...]:
    return tuple(_NAMES.findall(value))


def _aliasing(value: str) -> tuple[Aliasing, ...]:
    return tuple(
        [
            Aliasing(_index(output), int(operand), _index(index))
            for output, operand, index in _ALIASING.findall(value)
        ]
    )


def _index(numbers: str) -> str:
    return "{" + numbers.replace(" ", "") + "}"


_READERS: Final[dict[str, tuple[str, Callable[[str], object]]]] = {
    "custom_call_target": ("target", lambda value: unescaped(value) or None),
    "sharding": ("sharding", str),
    "index": ("tuple_element", lambda value: number(value)),
    "control-predecessors": ("control_predecessors", _names),
    "output_to_operand_aliasing": ("aliasing", _aliasing),
}
"""Field of `Attributes` and reader of its value, by key."""


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


def _value_end(text: str, at: int) -> int:
    """Return the end of a value whose next part is the brackets at `at`."""
    while at < len(text) and text[at] != ",":
        at = after_brackets(text, at)
        if plain := _VALUE.match(text, at):
            at = plain.end()
    return at


def after_brackets(text: str, at: int) -> int:
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
def _metadata(braced: str) -> dict[str, object]:
    """Return the fields of `Attributes` that the metadata contain."""
    if usual := _USUAL_METADATA.fullmatch(braced):
        op_name, file, line, frame = usual.groups()
        return {
            "op_name": op_name,
            "source_file": file,
            "source_line": int(line) or None if line else None,
            "stack_frame": int(frame) or None if frame else None,
        }
    fields: dict[str, str] = {}
    at = 0
    while field := _METADATA_FIELD.match(braced, at):
        fields.setdefault(field[1], field[2] or field[3] or "")
        at = field.end()
    return {
        "op_name": _text(fields.get("op_name")),
        "source_file": _text(fields.get("source_file")),
        "source_line": _number_or_none(fields.get("source_line")),
        "stack_frame": _number_or_none(fields.get("stack_frame_id")),
    }


def _text(quoted: str | None) -> str | None:
    return unescaped(quoted) or None if quoted else None


def number(digits: str) -> int | None:
    """Return the number with these digits; None for other text."""
    # A number that does not fit into 64 bits is a misprint.
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_number else None


def _number_or_none(digits: str | None) -> int | None:
    # XLA prints 0 for an unknown number.
    return number(digits) or None if digits else None
