"""Find the clauses and patterns in a statement's tokens, which checks need."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from xlagraph.graph.cypher_tokens import Token


class Clause(NamedTuple):
    """A clause: its keyword, such as `OPTIONAL MATCH`, and the tokens after it."""

    word: str
    tokens: tuple[Token, ...]
    line: int


class Projection(NamedTuple):
    """An expression of a WITH or RETURN, with its name."""

    expression: tuple[Token, ...]
    name: str
    is_aliased: bool
    line: int


class Pattern(NamedTuple):
    """A node `(name:Label {property: …})` or relationship `[name:TYPE|TYPE {property: …}]`.

    Also the `name:Label` of a SET or REMOVE.
    """

    variable: str | None
    names: tuple[str, ...]
    """Labels, or relationship types."""
    properties: tuple[Token, ...]
    is_node: bool
    line: int


# The longest first: OPTIONAL MATCH is one clause.
_CLAUSES: Final = (
    ("OPTIONAL", "MATCH"), ("MATCH",), ("WHERE",), ("UNWIND",), ("WITH", "DISTINCT"), ("WITH",),
    ("RETURN", "DISTINCT"), ("RETURN",), ("ORDER", "BY"), ("SKIP",), ("LIMIT",), ("UNION", "ALL"),
    ("UNION",), ("CREATE",), ("MERGE",), ("SET",), ("REMOVE",), ("DETACH", "DELETE"), ("DELETE",),
)  # fmt: skip
_FIRST_WORDS: Final = frozenset(words[0] for words in _CLAUSES)


def clauses(statement: Sequence[Token]) -> list[Clause]:
    """Split a statement at its keywords, except inside of brackets and in `STARTS WITH`."""
    starts: list[tuple[int, tuple[str, ...]]] = []
    depth = position = 0
    while position < len(statement):
        token = statement[position]
        depth += _depth_change(token)
        words = () if depth else _keyword_at(statement, position)
        if words:
            starts.append((position, words))
        position += len(words) or 1
    ends = [*(position for position, _ in starts[1:]), len(statement)]
    return [
        Clause(
            " ".join(words), tuple(statement[position + len(words) : end]), statement[position].line
        )
        for (position, words), end in zip(starts, ends, strict=False)
    ]


def projections(clause: Clause) -> list[Projection]:
    """Return the parts of a WITH or RETURN between its commas."""
    found: list[Projection] = []
    for part in split(clause.tokens, ","):
        is_aliased = len(part) > 2 and part[-2].is_word("AS")
        expression = part[:-2] if is_aliased else part
        name = part[-1].text if is_aliased else "".join(token.text for token in part)
        found.append(
            Projection(expression, name, is_aliased, part[0].line if part else clause.line)
        )
    return found


def split(sequence: Sequence[Token], separator: str) -> Iterator[tuple[Token, ...]]:
    """Split tokens at a symbol outside of all brackets."""
    depth, part = 0, list[Token]()
    for token in sequence:
        depth += _depth_change(token)
        if depth == 0 and token.text == separator and token.kind == "symbol":
            yield tuple(part)
            part = []
        else:
            part.append(token)
    yield tuple(part)


def patterns(statement: Sequence[Token]) -> Iterator[Pattern]:
    """Find the nodes and relationships that a statement names."""
    yield from _changed_labels(statement)
    for position, token in enumerate(statement):
        before = statement[position - 1] if position else None
        is_relationship = token.text == "[" and before is not None and before.text == "-"
        is_node = token.text == "(" and (
            before is None
            or before.kind == "symbol"
            or before.is_word("MATCH", "MERGE", "CREATE", "FOR", "WHERE", "AND", "OR", "NOT")
        )
        if not is_node and not is_relationship:
            continue
        rest = list(statement[position + 1 :])
        variable = rest.pop(0).text if rest and rest[0].kind == "name" else None
        names: list[str] = []
        while len(rest) > 1 and rest[0].text in (":", "|"):
            names.append(rest[1].text)
            del rest[:2]
        if not names and (not rest or rest[0].text not in (")", "]")):
            continue
        properties: list[Token] = []
        if rest and rest[0].text == "{":
            closing = next((at for at, token in enumerate(rest) if token.text == "}"), len(rest))
            properties = [
                token
                for token, after in pairwise(rest[:closing])
                if token.kind == "name" and after.text == ":"
            ]
        yield Pattern(variable, tuple(names), tuple(properties), is_node, token.line)


def _changed_labels(statement: Sequence[Token]) -> Iterator[Pattern]:
    words = [""]  # of the clause at each depth: a subquery has clauses of its own
    for position, token in enumerate(statement[:-1]):
        change = _depth_change(token)
        if change > 0:
            words.append("")
        elif change < 0 and len(words) > 1:
            words.pop()
        elif keyword := _keyword_at(statement, position):
            words[-1] = keyword[0]
        elif token.text == ":" and words[-1] in ("SET", "REMOVE"):
            variable, label = statement[position - 1], statement[position + 1]
            yield Pattern(variable.text, (label.text,), (), is_node=True, line=token.line)


def _depth_change(token: Token) -> int:
    if token.kind != "symbol":
        return 0
    return (token.text in "([{") - (token.text in ")]}")


def _keyword_at(statement: Sequence[Token], position: int) -> tuple[str, ...]:
    first = statement[position]
    if first.word not in _FIRST_WORDS:  # as most tokens
        return ()
    for words in _CLAUSES:
        here = statement[position : position + len(words)]
        if len(here) == len(words) and all(
            token.is_word(word) for token, word in zip(here, words, strict=True)
        ):
            # A property or label may be called like a keyword; STARTS WITH is an operator.
            before = statement[position - 1] if position else here[0]
            is_operator = words[0] == "WITH" and before.is_word("STARTS", "ENDS")
            return () if is_operator or before.text in (".", ":") else words
    return ()
