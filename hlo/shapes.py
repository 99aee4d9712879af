"""XLA's shapes and shape indices as data, parsed from text or made from their parts.

    shape  = tuple | array | "b(" array ")"
    tuple  = "(" [ shape { ", " [ "/*index=" N "*/" ] shape } ] ")"
    array  = type "[" [ dim { "," dim } ] "]" [ layout ]     e.g. f32[8,<=16]{1,0:T(8,128)S(1)}
    dim    = N | "<=" N | "?"                                fixed, bounded, unbounded
    layout = "{" order [ ":" { part } ] "}"

Unknown types are allowed: they have a shape but no dense size. The shape index ``{1,0}`` is
element 0 of element 1, ``{}`` the whole.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Final, NamedTuple

WHOLE: Final = "{}"


def index_text(numbers: Iterable[int]) -> str:
    """Print the numbers of an index."""
    return "{" + ",".join(map(str, numbers)) + "}"


def index_numbers(index: str | None) -> tuple[int, ...]:
    """Return the numbers of a printed index; none for the whole, or for None."""
    if index is None or index == WHOLE:
        return ()
    return tuple(map(int, index[1:-1].split(",")))


@lru_cache(1 << 12)
def nested_index(outer: str, inner: str) -> str:
    """Return the index of an element's element: ``{1}`` and ``{0}`` make ``{1,0}``."""
    if outer == WHOLE:
        return inner
    if inner == WHOLE:
        return outer
    return f"{outer[:-1]},{inner[1:]}"


_TUPLE: Final = "tuple"
_POINTER_BYTES: Final = 8
_ELEMENTS_BETWEEN_COMMENTS: Final = 5

# A layout nests at most once: P(s8[4]{0}) is the physical shape within {0:P(s8[4]{0})}.
_LAYOUT: Final = re.compile(r"\{(?:[^{}]++|\{[^{}]*+\})*+\}")
# An array with its layout, e.g. f32[64,64]{1,0} or b(f32[4]{0}).
_LEAF: Final = re.compile(
    r"(?P<bare>(?:(?P<buffer>b)\()?(?P<dtype>[a-z][a-z0-9]*)\[(?P<dimensions>[\d,<=?]*+)\])"
    rf"(?P<layout>{_LAYOUT.pattern})?(?P<end>(?(buffer)\)))"
)
_COMMENT: Final = re.compile(r"/\*index=\d+\*/")
_TOKEN: Final = re.compile(
    rf"(?P<leaf>{_LEAF.pattern})|(?P<open>\()|(?P<close>\))|(?P<comma>, (?:{_COMMENT.pattern})*)|.",
    re.DOTALL,
)
# The width in bits is the number in the type: s4, u32, bf16, f8e4m3fn, c64
_NUMBERED_TYPE: Final = re.compile(r"(?:[suc]|b?f)(\d{1,3})(?!\d)")
_DIMENSION: Final = re.compile(r"(<=)?(\d{1,18})")
# The size that a packed element has in this layout, e.g. {1,0:T(8,128)(8,1)E(4)}
_PACKED_BITS: Final = re.compile(r"[:)]E\((\d{1,3})\)")


def is_float(dtype: str | None) -> bool:
    """Return True for a floating-point type of any width, such as `bf16`; `c64` is none."""
    return (dtype or "").startswith(("f", "bf"))


class Dimension(NamedTuple):
    """The length of one dimension of an array."""

    size: int | None
    """Number of elements; the bound of a dynamic dimension, or None if it has no bound."""
    is_dynamic: bool = False

    def __str__(self) -> str:
        return "?" if self.size is None else f"<={self.size}" if self.is_dynamic else str(self.size)


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an array or a tuple. Shapes are equal if they are printed alike."""

    text: str
    """The shape as XLA prints it."""
    bare: str = field(compare=False)
    """The text without layouts; all of it if it is not a shape."""
    layout: str | None = field(default=None, compare=False)
    """Layout as printed, with braces; a tuple has those of its leaves: ``({1,0}, , ({0}, ))``."""
    dtype: str | None = field(default=None, compare=False)
    """Element type, ``token``, ``opaque``, ``tuple``; None if the text is not a shape."""
    sizes: tuple[Dimension, ...] = field(default=(), compare=False)
    """Dimensions of an array, outermost first."""
    packed_bits: int | None = field(default=None, compare=False)
    """Bits of an element as the layout states them; None if it does not."""
    elements: "tuple[Shape, ...]" = field(default=(), compare=False)
    """Elements of a tuple."""

    @property
    def is_tuple(self) -> bool:
        """True if it is a tuple."""
        return self.text.startswith("(")

    @property
    def dimensions(self) -> tuple[int, ...] | None:
        """Lengths of an array's dimensions, outermost first; a bounded one has its bound.

        None for a tuple, for text that is not a shape, and if a dimension is unbounded: of
        ``f32[?,8]`` not even the number of elements is known.
        """
        if self.dtype in (None, _TUPLE):
            return None
        sizes = [size for size, _ in self.sizes if size is not None]
        return tuple(sizes) if len(sizes) == len(self.sizes) else None

    @property
    def element_bytes(self) -> int:
        """Bytes of an element that is not packed; 0 for an unknown type."""
        return ((_bits(self.dtype) or 0) + 7) // 8

    @property
    def dense_bytes(self) -> int | None:
        """Bytes without padding; None for tuples, tokens, unbounded shapes and unknown types."""
        bits, lengths = self.packed_bits or _bits(self.dtype), self.dimensions
        if bits is None or lengths is None:
            return None
        dense_bytes = (prod(lengths) * bits + 7) // 8
        return dense_bytes if dense_bytes < 1 << 63 else None  # else misprinted

    @property
    def stored_bytes(self) -> int:
        """Bytes by XLA's `ShapeUtil::ByteSizeOf`: of an array, or of a tuple's pointer table."""
        if self.is_tuple:
            return _POINTER_BYTES * len(self.elements)
        if self.dtype in ("token", "opaque"):
            return 0 if self.dtype == "token" else _POINTER_BYTES
        count = prod([max(size or 0, 0) for size, _ in self.sizes])
        if self.packed_bits:
            return (count * self.packed_bits + 7) // 8
        return count * self.element_bytes

    def at(self, index: Iterable[int]) -> "Shape":
        """Return the shape at a shape index; raise IndexError if there is none."""
        shape = self
        for number in index:
            if number < 0:
                raise IndexError(number)
            shape = shape.elements[number]
        return shape


@lru_cache(maxsize=1 << 13)  # a program has few shapes and repeats them
def parse_shape(text: str) -> Shape:
    """Parse a printed shape; linear in its length.

    Text that is not a shape is returned as a `Shape` without an element type.
    """
    if (leaf := _LEAF.fullmatch(text)) is not None:
        return _leaf_shape(leaf)
    return _parsed_tuple(text) or Shape(text, text)


@lru_cache(maxsize=1 << 12)
def dimensions(text: str | None) -> tuple[int, ...] | None:
    """Return `Shape.dimensions` of a printed shape."""
    return parse_shape(text).dimensions if text else None


def array_shape(
    dtype: str, sizes: tuple[Dimension, ...], layout: str | None, packed_bits: int | None
) -> Shape:
    """Return an array's shape from its parts."""
    bare = f"{dtype}[{','.join(map(str, sizes))}]"
    return Shape(bare + (layout or ""), bare, layout, dtype, sizes, packed_bits)


def buffer_shape(array: Shape) -> Shape:
    """Return the shape of a buffer with an array: ``b(f32[4]{0})``."""
    return Shape(
        f"b({array.text})", f"b({array.bare})", array.layout, array.dtype, array.sizes,
        array.packed_bits,
    )  # fmt: skip


def tuple_shape(elements: tuple[Shape, ...]) -> Shape:
    """Return the shape of a tuple from its elements."""
    return _tuple(f"({listed(element.text for element in elements)})", elements)


def listed(elements: Iterable[str]) -> str:
    """Join elements as XLA does, with the number of every fifth one in a comment."""
    text = ""
    for number, element in enumerate(elements):
        if number:
            is_counted = number % _ELEMENTS_BETWEEN_COMMENTS == 0
            text += f", /*index={number}*/" if is_counted else ", "
        text += element
    return text


def printed_shape(shape: str, layout: str | None) -> str:
    """Return a bare shape and its layout as one text."""
    if layout is None:
        return shape
    printed: list[str] = []
    at = 0  # in the shape
    beside = 0  # the matching index in the layout
    for leaf in _LEAF.finditer(shape):
        between = shape[at : leaf.start()]
        beside += len(_COMMENT.sub("", between))
        own = _LAYOUT.match(layout, beside)
        printed += between, leaf["bare"], own[0] if own else "", leaf["end"]
        beside = own.end() if own else beside
        at = leaf.end()
    printed.append(shape[at:])
    return "".join(printed)


def _leaf_shape(leaf: re.Match[str]) -> Shape:
    printed, layout = leaf["dimensions"], leaf["layout"]
    # A physical shape, P(…), comes last and has a layout of its own.
    packed = _PACKED_BITS.search(layout.partition("P(")[0]) if layout else None
    return Shape(
        leaf[0],
        leaf["bare"] + leaf["end"],
        layout,
        leaf["dtype"],
        tuple(map(_dimension, printed.split(","))) if printed else (),
        int(packed[1]) if packed else None,
    )


def _dimension(text: str) -> Dimension:
    found = _DIMENSION.fullmatch(text)
    return Dimension(int(found[2]), found[1] is not None) if found else Dimension(None, True)


def _parsed_tuple(text: str) -> Shape | None:
    """Parse a tuple; return None if the text is not one."""
    whole: list[Shape] = []
    opened: list[tuple[int, list[Shape]]] = [(0, whole)]
    """Start and elements of each tuple that is not closed yet."""
    is_separated = True
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        start, elements = opened[-1]
        if kind in ("leaf", "open"):
            if not is_separated or (kind == "leaf" and len(opened) == 1):
                return None
            is_separated = kind == "open"
            if kind == "open":
                opened.append((token.start(), []))
            else:
                elements.append(parse_shape(token[0]))
        elif len(opened) == 1 or (is_separated and (kind != "close" or elements)):
            return None
        elif kind == "close":
            opened.pop()
            opened[-1][1].append(_tuple(text[start : token.end()], tuple(elements)))
            is_separated = False
        elif kind == "comma":
            is_separated = True
        else:
            return None
    return whole[0] if len(opened) == 1 and len(whole) == 1 else None


def _tuple(text: str, elements: tuple[Shape, ...]) -> Shape:
    bare = _LEAF.sub(r"\g<bare>\g<end>", text)
    layout = None
    if bare != text:
        layout = _COMMENT.sub("", _LEAF.sub(lambda leaf: leaf["layout"] or "", text))
    return Shape(text, bare, layout, _TUPLE, elements=elements)


@lru_cache
def _bits(dtype: str | None) -> int | None:
    """Return the bits of an element of a type; None for an unknown type."""
    if dtype == "pred":
        return 8
    numbered = _NUMBERED_TYPE.match(dtype or "")
    return int(numbered[1]) if numbered else None
