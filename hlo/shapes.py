"""Parses XLA's shapes, prints them, and computes their dense size.

    shape  = tuple | array | "b(" array ")"
    tuple  = "(" [ shape { ", " [ "/*index=" N "*/" ] shape } ] ")"
    array  = type "[" [ dim { "," dim } ] "]" [ layout ]     e.g. f32[8,<=16]{1,0:T(8,128)S(1)}
    dim    = N | "<=" N | "?"                                fixed, bounded, unbounded
    layout = "{" order [ ":" { part } ] "}"

Unknown types are allowed: they have a shape but no dense size.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ["ShapeFacts", "dimensions", "printed_shape", "shape_facts"]


class ShapeFacts(NamedTuple):
    """The parts of a printed shape."""

    shape: str
    """Shape without layout; the whole text if it is not a shape."""
    layout: str | None
    """Layout as printed, with braces; a tuple has those of its leaves: ``({1,0}, , ({0}, ))``."""
    dtype: str | None
    """Element type, ``token``, ``opaque``, ``tuple``; None if the text is not a shape."""
    dense_bytes: int | None
    """Bytes without padding; None for tuples, tokens, unbounded shapes and unknown types."""


# A layout nests at most once: P(s8[4]{0}) is the physical shape within {0:P(s8[4]{0})}.
_LAYOUT: Final = re.compile(r"\{(?:[^{}]++|\{[^{}]*+\})*+\}")
# An array with its layout, e.g. f32[64,64]{1,0} or b(f32[4]{0}); groups: the text before the
# layout, the type, the dimensions, the layout.
_LEAF: Final = re.compile(
    rf"((?:(b)\()?([a-z][a-z0-9]*)\[([\d,<=?]*+)\])({_LAYOUT.pattern})?((?(2)\)))"
)
# Text between the leaves of a tuple, e.g. ", /*index=5*/" or "))"
_COMMENT: Final = re.compile(r"/\*index=\d+\*/")
# The width in bits is the number in the type: s4, u32, bf16, f8e4m3fn, c64
_NUMBERED_TYPE: Final = re.compile(r"(?:[suc]|b?f)(\d{1,3})(?!\d)")
# A bounded dimension counts as its bound; an unbounded one, "?", does not fit.
_SIZE: Final = re.compile(r"(?:<=)?(\d{1,18})")
# The size that a packed element has in this layout, e.g. {1,0:T(8,128)(8,1)E(4)}
_ELEMENT_BITS: Final = re.compile(r"[:)]E\((\d{1,3})\)")


@lru_cache(maxsize=2048)  # a dump has few shapes and repeats them for each value
def shape_facts(text: str) -> ShapeFacts:
    """Parse a printed shape; linear in its length.

    If the text is not a shape, it is returned as the shape and everything else is None.
    """
    if text.startswith("("):
        return _tuple_facts(text)
    leaf = _LEAF.fullmatch(text)
    if leaf is None:
        return ShapeFacts(text, None, None, None)
    before, _, dtype, dimensions, layout, after = leaf.groups()
    return ShapeFacts(before + after, layout, dtype, _dense_bytes(dtype, dimensions, layout))


def printed_shape(shape: str, layout: str | None) -> str:
    """Return shape and layout as one text, the inverse of `shape_facts`."""
    if layout is None:
        return shape
    printed: list[str] = []
    at = 0  # in the shape
    beside = 0  # the matching index in the layout
    for leaf in _LEAF.finditer(shape):
        between = shape[at : leaf.start()]
        beside += len(_COMMENT.sub("", between))
        own = _LAYOUT.match(layout, beside)
        printed += between, leaf[1], own[0] if own else "", leaf[6]
        beside = own.end() if own else beside
        at = leaf.end()
    printed.append(shape[at:])
    return "".join(printed)


def dimensions(text: str) -> tuple[int, ...] | None:
    """Return the dimensions of a printed array, bounds as they are; None if one is not known."""
    leaf = _LEAF.fullmatch(text)
    if leaf is None:
        return None
    sizes = [_SIZE.fullmatch(size) for size in leaf[4].split(",") if size]
    return None if None in sizes else tuple([int(size[1]) for size in sizes if size])


def _tuple_facts(text: str) -> ShapeFacts:
    if not _is_tuple(_COMMENT.sub("", _LEAF.sub("x", text))):
        return ShapeFacts(text, None, None, None)
    shape = _LEAF.sub(r"\1\6", text)
    if shape == text:
        return ShapeFacts(text, None, "tuple", None)
    layouts = _COMMENT.sub("", _LEAF.sub(lambda leaf: leaf[5] or "", text))
    return ShapeFacts(shape, layouts, "tuple", None)


def _is_tuple(skeleton: str) -> bool:
    """Return True if leaves, each written ``x``, are nested as in a tuple."""
    depth = 0
    before = ","
    for part in re.findall(r"x|\(|\)|, |.", skeleton, re.DOTALL):
        if part in ("x", "("):
            if before not in (",", "("):
                return False
            depth += part == "("
        elif part == ")":
            if before == ",":
                return False
            depth -= 1
        elif part == ", ":
            if before not in ("x", ")") or depth == 0:
                return False
            part = ","
        else:
            return False
        before = part
    return depth == 0


def _dense_bytes(dtype: str, dimensions: str, layout: str | None) -> int | None:
    bits = _element_bits(dtype, layout)
    if bits is None:
        return None
    for dimension in dimensions.split(",") if dimensions else ():
        if (size := _SIZE.fullmatch(dimension)) is None:
            return None
        bits *= int(size[1])
    dense_bytes = (bits + 7) // 8
    return dense_bytes if dense_bytes < 1 << 63 else None  # else misprinted


def _element_bits(dtype: str, layout: str | None) -> int | None:
    # A physical shape, P(…), comes last and has a layout of its own.
    if layout and (packed := _ELEMENT_BITS.search(layout.partition("P(")[0])):
        return int(packed[1])
    if dtype == "pred":
        return 8
    numbered = _NUMBERED_TYPE.match(dtype)
    return int(numbered[1]) if numbered else None
