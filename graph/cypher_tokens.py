"""Split Cypher into tokens; every reader of a statement uses them."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# The embedded engine reads `1LOAD` as a number and a word. Neo4j reads a comment's end as a line's.
TOKEN: Final = re.compile(
    r"""
      (?P<space>     \s+ )
    | (?P<comment>   //[^\r\n]* | /\*.*?\*/ )
    | (?P<string>    '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" )
    | (?P<parameter> \$(?: [^\W\d]\w* | \d+ | `(?:[^`]|``)*` ) )
    | (?P<name>      [^\W\d]\w* | `(?:[^`]|``)*` )
    | (?P<number>    0[xX][0-9a-fA-F]+ | 0o[0-7]+ | \d+(?:\.\d+)?(?:[eE][+-]?\d+)? )
    | (?P<symbol>    \.\. | <= | >= | <> | =~ | \|\| | \+= | [^\s\w] )
    """,
    re.VERBOSE | re.DOTALL,
)


_SPACES: Final = ("space", "comment")
_WITH_LINES: Final = (*_SPACES, "string", "name", "parameter")
"""Kinds of tokens that may go on in the next line."""


class Token(NamedTuple):
    """A piece of a statement."""

    kind: str
    """`string`, `parameter`, `name`, `number` or `symbol`; `space` or `comment` if wanted."""
    text: str
    line: int
    """Line number, from 1."""
    start: int = 0
    """Index of the first character in the statement."""
    word: str = ""
    """A name in upper case; empty for the other kinds."""

    @property
    def is_quoted(self) -> bool:
        """True if it is a name or parameter in backticks."""
        return self.text.endswith("`") and self.kind in ("name", "parameter")

    @property
    def parameter(self) -> str:
        """A parameter's name, without ``$`` and backticks."""
        return self.text[2:-1] if self.is_quoted else self.text[1:]

    def is_word(self, *words: str) -> bool:
        """Return True if it is one of these keywords, in upper or lower case."""
        return self.word in words


def read_tokens(text: str, *, with_spaces: bool = False) -> Iterator[Token]:
    """Yield a statement's tokens; by default without spaces and comments."""
    line = 1
    for match in TOKEN.finditer(text):
        kind, found = str(match.lastgroup), match.group()
        if kind == "name":
            yield Token(kind, found, line, match.start(), found.upper())
        elif with_spaces or kind not in _SPACES:
            yield Token(kind, found, line, match.start())
        if kind in _WITH_LINES:
            line += found.count("\n")
