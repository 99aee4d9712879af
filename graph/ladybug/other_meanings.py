"""Rejects statements to which the embedded engine silently gives other rows than Neo4j does.

Each rule was found by running generated statements on both engines:

- COUNT { … } of nothing is 1, and `x CONTAINS ''` is false.
- A WHERE of OPTIONAL MATCH or EXISTS matches nothing if a property of an earlier variable is null.
- One MATCH may follow a relationship twice.
- Lists and `substring` count from 1; `(n:A:B)` is either label; UNION ignores names of columns.
- TIMESTAMP_NS wraps around outside of 1678 to 2262, `factorial` and `list_sum` beyond 64 bits.
- `range` is empty where its end is more than 64 bits beyond its start.
- `=~` with a pattern that RE2 cannot read is false.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Final, NamedTuple

from xlagraph.graph.cypher_tokens import Token
from xlagraph.graph.engine import Cell
from xlagraph.graph.errors import QueryRefused
from xlagraph.graph.read_only import read_statement

_CLAUSES: Final = frozenset((
    "MATCH", "OPTIONAL", "WHERE", "WITH", "RETURN", "UNWIND", "UNION", "ORDER", "SKIP", "LIMIT",
))  # fmt: skip
_BEFORE_LISTS: Final = _CLAUSES | {
    "IN", "AND", "OR", "XOR", "NOT", "WHEN", "THEN", "ELSE", "CASE", "BY", "DISTINCT", "ALL", "AS",
}  # fmt: skip
_FUNCTIONS: Final[Mapping[str, str]] = {
    "SUBSTRING": "substring counts from 1 in the embedded engine: use left and right",
    "LABELS": "labels is not a list in the embedded engine: name the label in the pattern",
    "KEYS": "keys has absent properties too in the embedded engine: return the node itself",
    "FACTORIAL": "factorial is wrong beyond 20: multiply",
    "EPOCH_MS": "epoch_ms is wrong for large numbers: use to_timestamp, which takes seconds",
    "LIST_SUM": "list_sum is wrong beyond 64 bits: use UNWIND and sum",
    "LIST_PRODUCT": "list_product is wrong beyond 64 bits: multiply",
    "BITSHIFT_LEFT": "bitshift_left is wrong beyond 64 bits: multiply by a power of 2",
    "PROPERTIES": "properties has absent ones too in the embedded engine: return the node itself",
}
_LISTS: Final = frozenset({"[", "COLLECT", "NODES", "RELATIONSHIPS", "RANGE"})


class _Clause(NamedTuple):
    """A MATCH with its WHERE."""

    is_nested: bool
    """True for an OPTIONAL MATCH and for a MATCH in braces."""
    pattern: Sequence[Token]
    condition: Sequence[Token]
    """Tokens of the WHERE, without those in braces."""


_FAR: Final = 1 << 62
"""Numbers of this size may be so far apart that the engine's range overflows."""


class _Step(NamedTuple):
    """A relationship of a pattern; its ends are positions, or names of variables."""

    types: frozenset[str]
    source: str
    target: str
    has_direction: bool


def check_meanings(text: str, parameters: Mapping[str, Cell]) -> None:
    """Raise QueryRefused for a statement that means something else to the embedded engine."""
    # other values make no difference, so that a statement is checked once for most parameters
    telling = {
        (name, given)
        for name, given in parameters.items()
        if given == "" or (isinstance(given, int) and abs(given) >= _FAR)
    }
    _check_meanings(text, frozenset(telling))


@lru_cache(maxsize=64)
def _check_meanings(text: str, telling: frozenset[tuple[str, int | str]]) -> None:
    tokens = read_statement(text).tokens
    _check_words(tokens, dict(telling))
    _check_unions(tokens)
    named = _named(tokens)
    known: set[str] = set()
    for clause in _clauses(tokens):
        if clause.is_nested:
            _check_nulls(clause.condition, known)
        if not any(token.text == "<>" for token in clause.condition):
            _check_steps(_steps(clause.pattern))
        known |= _variables(clause.pattern) | named


def checked_patterns(
    text: str, parameters: Mapping[str, Cell]
) -> Iterator[tuple[str, str, dict[str, Cell]]]:
    """Yield the patterns of `=~` that are one literal or parameter.

    Each has a statement, with its parameters, that returns false if the engine cannot read it.
    """
    tokens = read_statement(text).tokens if "=~" in text else ()
    none = Token("", "", 0)
    for operator, pattern, after in zip(tokens, tokens[1:], (*tokens[2:], none), strict=False):
        name = pattern.parameter if pattern.kind == "parameter" else None
        is_text = pattern.kind == "string" or isinstance(parameters.get(name or ""), str)
        if operator.text == "=~" and is_text and after.text not in ("+", "||", ".", "["):
            given = {} if name is None else {name: parameters[name]}
            # the empty text fits a pattern or nothing
            yield (
                str(parameters[name]) if name else pattern.text[1:-1],
                f"RETURN '' =~ ({pattern.text} + '|') AS isPattern",
                given,
            )


def _check_words(tokens: Sequence[Token], parameters: Mapping[str, Cell]) -> None:
    none = Token("", "", 0)
    around = zip(
        (none, *tokens), tokens, (*tokens[1:], none), (*tokens[2:], none, none), strict=False
    )
    for number, (before, token, after, second) in enumerate(around):
        word = token.word if before.text != "." else ""
        if word == "COUNT" and after.text == "{":
            raise QueryRefused(
                "COUNT { … } of nothing is 1 in the embedded engine: use OPTIONAL MATCH and count"
            )
        if word in _FUNCTIONS and after.text == "(":
            raise QueryRefused(_FUNCTIONS[word])
        if word == "RANGE" and after.text == "(" and _is_far(tokens, parameters):
            raise QueryRefused("range is wrong for numbers beyond 62 bits: use smaller ones")
        if word == "REVERSE" and after.text == "(" and (second.word or second.text) in _LISTS:
            raise QueryRefused("reverse takes only texts in the embedded engine")
        if word == "CONTAINS" and _is_empty(after, tokens, parameters):
            raise QueryRefused(
                "CONTAINS an empty text is false in the embedded engine: leave the condition out"
            )
        if (token.word or token.text.upper()).strip("'\"`") == "TIMESTAMP_NS":
            raise QueryRefused(
                "TIMESTAMP_NS is wrong outside the years 1678 to 2262: use TIMESTAMP"
            )
        if token.text == "[" and _can_be_indexed(before) and _is_index(tokens, number + 1):
            raise QueryRefused(
                "elements of a list count from 1 in the embedded engine: return the whole list, or"
                " UNWIND it"
            )
        if token.text == second.text == ":" and after.kind == "name":
            raise QueryRefused(
                f"(:{after.text}:…) has either label in the embedded engine, and both in Neo4j:"
                " write one label, or the labels with |"
            )


def _is_empty(token: Token, tokens: Sequence[Token], parameters: Mapping[str, Cell]) -> bool:
    """Return True for an empty text that is written, or a parameter without a test for it."""
    if token.kind != "parameter":
        return token.text in ("''", '""')
    tested = any(
        (first.text, second.text) == (token.text, "=") and third.text in ("''", '""')
        for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )
    return parameters.get(token.parameter) == "" and not tested


def _is_far(tokens: Sequence[Token], parameters: Mapping[str, Cell]) -> bool:
    """Return True if a statement has a number whose distance to another can overflow."""
    found = (
        int(token.text) if token.kind == "number" else parameters.get(token.parameter)
        for token in tokens
        if token.kind == "parameter" or (token.kind == "number" and token.text.isdigit())
    )
    return any(isinstance(number, int) and abs(number) >= _FAR for number in found)


def _can_be_indexed(token: Token) -> bool:
    if token.kind == "name":
        return token.is_quoted or token.word not in _BEFORE_LISTS
    return token.kind == "parameter" or token.text in (")", "]")


def _is_index(tokens: Sequence[Token], first: int) -> bool:
    """Return True if brackets hold one position from the beginning, not a slice."""
    if tokens[first : first + 1] and tokens[first].text == "-":
        return False  # positions from the end are those of Neo4j
    depth = 0
    for token in tokens[first:]:
        if token.kind == "symbol":
            if depth == 0 and token.text in ("..", "]"):
                return token.text == "]"
            depth += (token.text in "([{") - (token.text in ")]}")
    return False


def _check_unions(tokens: Sequence[Token]) -> None:
    if not any(token.word == "UNION" for token in tokens):
        return
    branches: list[list[str]] = []
    column: list[str] | None = None
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.is_word("RETURN"):
            branches.append([])
            column = []
        elif column is not None and depth == 0 and token.is_word("UNION", "ORDER", "SKIP", "LIMIT"):
            branches[-1].append(_column_name(column))
            column = None
        elif column is not None and depth == 0 and token.text == ",":
            branches[-1].append(_column_name(column))
            column = []
        elif column is not None and not (token.is_word("DISTINCT") and not column):
            column.append(token.text)
    if column is not None:
        branches[-1].append(_column_name(column))
    if any(branch != branches[0] for branch in branches):
        raise QueryRefused("the parts of a UNION return columns of the same names and order")


def _column_name(column: Sequence[str]) -> str:
    return (
        column[-1].strip("`;")
        if len(column) > 2 and column[-2].upper() == "AS"
        else ("".join(column).rstrip(";"))
    )


def _clauses(tokens: Sequence[Token]) -> Iterator[_Clause]:
    """Yield each MATCH, those in braces after the one around them."""
    for number, token in enumerate(tokens):
        if token.word != "MATCH" or (number and tokens[number - 1].text in (".", ":")):
            continue
        before = tokens[number - 1] if number else token
        pattern, end = _until_clause(tokens, number + 1)
        condition: Sequence[Token] = ()
        if end < len(tokens) and tokens[end].is_word("WHERE"):
            condition, _ = _until_clause(tokens, end + 1)
        yield _Clause(before.is_word("OPTIONAL") or before.text == "{", pattern, condition)


def _until_clause(tokens: Sequence[Token], first: int) -> tuple[Sequence[Token], int]:
    """Return the tokens up to the next clause or the end of braces, and its position."""
    found: list[Token] = []
    braces = 0
    for position in range(first, len(tokens)):
        token = tokens[position]
        if token.text == "}" and braces == 0:
            return found, position
        if not braces and token.word in _CLAUSES:
            before = tokens[position - 1]
            # STARTS WITH and ENDS WITH are no clauses
            is_operator = token.word == "WITH" and before.is_word("STARTS", "ENDS")
            if not is_operator and before.text not in (".", ":"):
                return found, position
        braces += (token.text == "{") - (token.text == "}")
        if not braces and token.text != "}":
            found.append(token)
    return found, len(tokens)


def _variables(pattern: Sequence[Token]) -> set[str]:
    """Return the names of nodes, relationships and paths in a pattern."""
    return {
        token.text
        for before, token in zip((Token("", "", 0), *pattern), pattern, strict=False)
        if token.kind == "name" and before.text not in (":", "|", "&", "!", ".")
    }


def _named(tokens: Sequence[Token]) -> set[str]:
    return {
        token.text
        for before, token in pairwise(tokens)
        if before.word == "AS" and token.kind == "name"
    }


def _check_nulls(condition: Sequence[Token], known: set[str]) -> None:
    """Reject a condition that could be true where a property of an earlier variable is null."""
    texts = [token.word or token.text for token in condition]
    tested = ""
    for number, token in enumerate(condition):
        if token.text not in known or token.kind != "name" or (number and texts[number - 1] == "."):
            continue
        is_property = texts[number + 1 : number + 2] == ["."]
        end = min(number + (3 if is_property else 1), len(condition))
        if is_property and condition[end - 1].text != "key":
            tested = tested or f"{token.text}.{condition[end - 1].text}"
        if texts[end : end + 2] == ["IS", "NULL"]:
            raise QueryRefused(_null_message("".join(each.text for each in condition[number:end])))
    is_combined = not {"OR", "XOR", "CASE"}.isdisjoint(texts) or any(
        pair in (("NOT", "("), (")", "IS")) for pair in pairwise(texts)
    )
    if tested and is_combined:
        raise QueryRefused(_null_message(tested))


def _null_message(tested: str) -> str:
    return (
        "where OPTIONAL MATCH or EXISTS tests what an earlier clause found, the embedded engine"
        f" finds nothing if it is null: test {tested} in a WITH before, such as"
        f" `WITH *, {tested} IS NULL AS isAbsent`"
    )


def _steps(pattern: Sequence[Token]) -> list[_Step]:
    """Return the relationships of a pattern that have a fixed length."""
    steps: list[_Step] = []
    node = ""
    source, types, arrows = "", frozenset[str](), ""
    position, is_open, has_length = 0, False, False
    while position < len(pattern):
        text = pattern[position].text
        if text == "(":
            end = next(
                (at for at in range(position, len(pattern)) if pattern[at].text == ")"),
                len(pattern) - 1,
            )
            named = [
                token.text for token in pattern[position + 1 : position + 2] if token.kind == "name"
            ]
            node = named[0] if named else f"({position}"
            if arrows and not has_length:
                ends = (node, source) if arrows.startswith("<") else (source, node)
                steps.append(_Step(types, *ends, "<" in arrows or ">" in arrows))
            arrows, types, has_length = "", frozenset(), False
            position = end
        elif text == ",":
            arrows = ""
        elif text in ("-", "<", ">") and not is_open:
            source = source if arrows else node
            arrows += text
        elif text in ("[", "]"):
            is_open = text == "["
        elif is_open and text == "*":
            has_length = True
        elif is_open and pattern[position - 1].text in (":", "|"):
            types |= {text}
        position += 1
    return steps


def _check_steps(steps: Sequence[_Step]) -> None:
    for first, second in combinations(steps, 2):
        if first.types and second.types and not first.types & second.types:
            continue
        follows = first.target == second.source or second.target == first.source
        if not (follows and first.has_direction and second.has_direction):
            shared = next(iter(first.types & second.types), "relationship")
            raise QueryRefused(
                f"the embedded engine may follow one {shared} twice in a MATCH: say that its ends"
                " differ, such as WHERE a.key <> b.key, or write a second MATCH"
            )
