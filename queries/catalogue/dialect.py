"""Rules that find text that the two engines read differently, each with a fix."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from xlagraph.graph.cypher_tokens import Token
from xlagraph.queries.catalogue.statement import clauses, patterns, projections, split


class Fault(NamedTuple):
    """A fault in a statement, and the fix."""

    line: int
    message: str


MAX_HOPS: Final = 30
"""Longest path that the embedded engine walks."""

_WRITING: Final = (
    "CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "FOREACH", "DROP", "ALTER", "COPY",
    "LOAD", "INSTALL", "ATTACH",
)  # fmt: skip
_FIRST_WORDS: Final = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN")
_REMEDY_BY_FUNCTION: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("tointeger", "tofloat", "tostring", "toboolean"),
        "compare values of one type; ask for a property of the right type",
    ),
    **dict.fromkeys(
        ("labels", "type", "id", "elementid", "keys", "properties"),
        "return the property that you need, or a literal",
    ),
    **dict.fromkeys(
        ("substring", "reverse", "head", "last", "split", "reduce"),
        "the engines count from different ends; return the list and select in Python",
    ),
    **dict.fromkeys(
        ("shortestpath", "allshortestpaths"),
        "use a bounded pattern and min(length(p))",
    ),
}
_RESERVED: Final = (
    "index", "end", "group", "order", "desc", "asc", "column", "table", "default", "all",
    "any", "only", "in", "on", "profile", "shortest", "with", "macro", "dbtype", "headers",
    "primary", "install", "union", "glob", "cast", "ends", "starts", "hint", "join",
    "acyclic", "trail", "wshortest", "when", "then", "else", "case", "where", "exists",
    "not", "and", "or", "xor", "null", "true", "false", "distinct", "create", "optional",
    "unwind", "for",
)  # fmt: skip
_COMPARISONS: Final = ("<", ">", "<=", ">=", "<>", "=")
_BEFORE_A_LIST: Final = (
    "IN", "UNWIND", "THEN", "ELSE", "WHEN", "AND", "OR", "NOT", "WITH", "RETURN", "WHERE", "CASE"
)  # fmt: skip


def dialect_faults(statement: Sequence[Token]) -> Iterator[Fault]:
    """Return the parts of a statement that an engine reads differently or rejects."""
    for rule in _RULES:
        yield from rule(statement)


def _only_reads(statement: Sequence[Token]) -> Iterator[Fault]:
    if not statement[0].is_word(*_FIRST_WORDS):
        yield Fault(
            statement[0].line,
            f"begins with '{statement[0].text}'; begin with one of {', '.join(_FIRST_WORDS)}",
        )
    for before, token, after in _windows(statement):
        if before.text in (".", ":", "|") or before.is_word("AS") or token.kind != "name":
            continue
        if token.word in _WRITING:
            yield Fault(
                token.line,
                f"{token.text} writes or accesses other data; use only clauses that read",
            )
        elif token.is_word("CALL") or (token.is_word("COLLECT") and after.text == "{"):
            yield Fault(token.line, f"{token.text} is not in both engines; use WITH")


def _no_second_statement(statement: Sequence[Token]) -> Iterator[Fault]:
    for token in statement[:-1]:
        if token.text == ";":
            yield Fault(token.line, "a second statement follows ';'; one file is one statement")


def _forbidden_functions(statement: Sequence[Token]) -> Iterator[Fault]:
    for index, (before, token, after) in enumerate(_windows(statement)):
        remedy = _REMEDY_BY_FUNCTION.get(token.text.lower())
        if remedy and token.kind == "name" and after.text == "(" and before.text != ".":
            yield Fault(token.line, f"{token.text}() differs between the engines; {remedy}")
        if token.text == "||":
            yield Fault(token.line, "strings are not put together alike; return the parts")
        opens = token.is_word("EXISTS", "COUNT") and after.text == "{"
        if opens and not _at(statement, index + 2).is_word("MATCH"):
            yield Fault(token.line, f"write MATCH in {token.text} {{ MATCH … }}")


def _list_access(statement: Sequence[Token]) -> Iterator[Fault]:
    for index, (before, token, after) in enumerate(_windows(statement)):
        if token.text != "[" or before.text == "-":
            continue
        is_word = before.kind == "name" and not before.is_word(*_BEFORE_A_LIST)
        if is_word or before.text in (")", "]"):
            yield Fault(
                token.line, "list indices count from 0 or 1 by engine; shape the list in Python"
            )
        if after.kind == "name" and _at(statement, index + 2).is_word("IN"):
            yield Fault(token.line, "no list comprehension; use UNWIND and WHERE")


def _parameters(statement: Sequence[Token]) -> Iterator[Fault]:
    for index, (before, token, after) in enumerate(_windows(statement)):
        if token.kind != "parameter":
            continue
        if token.text[1:].lower() in _RESERVED:
            yield Fault(token.line, f"{token.text} is a reserved word; choose another name")
        if after.is_word("IS"):
            yield Fault(
                token.line,
                f"{token.text} IS NULL fails on the embedded engine;"
                f" give it a default and test for that, as in {token.text} = ''",
            )
        if before.is_word("IN") and _at(statement, index - 2).text == "key":
            yield Fault(token.line, f"keys are looked up by UNWIND {token.text} AS k MATCH …")
        if after.text == "*" and _at(statement, index + 2).kind == "parameter":
            yield Fault(token.line, "a product of parameters can overflow; multiply a property")


def _patterns(statement: Sequence[Token]) -> Iterator[Fault]:
    for clause in clauses(statement):
        if not clause.word.endswith("MATCH"):
            continue
        if len(list(split(clause.tokens, ","))) > 1:
            yield Fault(clause.line, "one pattern for each MATCH; write a second MATCH")
    for index, token in enumerate(statement):
        following = [ahead.text for ahead in statement[index : index + 4]]
        is_label = token.text == ":" and token.kind == "symbol"
        if is_label and len(following) == 4 and following[2] == ":":
            yield Fault(
                token.line,
                f":{following[1]}:{following[3]} means both labels in one engine, and either one"
                " in the other; write one label",
            )
        if token.text == "*" and _in_relationship(statement, index):
            bounds = [_at(statement, after).text for after in range(index + 1, index + 4)]
            is_bounded = bounds[0] == "1" and bounds[1] == ".." and bounds[2].isdigit()
            if not is_bounded or int(bounds[2]) > MAX_HOPS:
                yield Fault(token.line, f"write the hops as *1..k, k at most {MAX_HOPS}")


def _conditions(statement: Sequence[Token]) -> Iterator[Fault]:
    for clause in clauses(statement):
        if clause.word == "WHERE":
            depth = 0
            for token in clause.tokens:
                depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
                if depth == 0 and token.text == ":" and token.kind == "symbol":
                    yield Fault(token.line, "put the label into the MATCH, not into WHERE")
        if clause.word.endswith("MATCH"):
            for token in clause.tokens:
                if token.is_word("WHERE"):
                    yield Fault(token.line, "no WHERE inside a pattern; put it after the pattern")
        else:
            yield from _chained(clause.tokens)


def _chained(sequence: Sequence[Token]) -> Iterator[Fault]:
    compared = [False]
    for before, token, after in _windows(sequence):
        if token.text in ("(", "[", "{"):
            compared.append(False)
        elif token.text in (")", "]", "}") and len(compared) > 1:
            compared.pop()
        elif token.text == "," or token.is_word("AND", "OR", "WHEN", "THEN", "ELSE", "AS", "NOT"):
            compared[-1] = False
        elif token.kind == "symbol" and token.text in _COMPARISONS:
            if (after.text == "-" and token.text == "<") or before.text == "-":
                continue  # an arrow
            if compared[-1]:
                yield Fault(token.line, "write a < x AND x < b, not a < x < b")
            compared[-1] = True


def _bad_aliases(statement: Sequence[Token]) -> Iterator[Fault]:
    variables = {pattern.variable for pattern in patterns(statement)}
    for clause in clauses(statement):
        if not clause.word.startswith(("WITH", "RETURN")):
            continue
        for projection in projections(clause):
            if projection.name.lower() in _RESERVED:
                yield Fault(
                    projection.line, f"'{projection.name}' is a reserved word; choose another name"
                )
            if projection.is_aliased and projection.name in variables:
                yield Fault(
                    projection.line,
                    f"'{projection.name}' is a variable too; rename one of them",
                )
            if not projection.is_aliased and len(projection.expression) > 1:
                yield Fault(projection.line, f"give {projection.name} a name: … AS name")


def _order_without_limit(statement: Sequence[Token]) -> Iterator[Fault]:
    found = clauses(statement)
    for index, clause in enumerate(found):
        if clause.word == "ORDER BY" and found[index - 1].word.startswith("WITH"):
            after = found[index + 1].word if index + 1 < len(found) else ""
            if after not in ("LIMIT", "SKIP"):
                yield Fault(clause.line, "WITH … ORDER BY goes with LIMIT; sort after RETURN")


def _in_relationship(statement: Sequence[Token], index: int) -> bool:
    for start in reversed(range(index)):
        token = statement[start]
        if token.text == "[":
            return _at(statement, start - 1).text == "-"
        if token.text in ("]", "(", ")", "{", "}"):
            return False
    return False


_NOTHING: Final = Token("symbol", "", 0)


def _at(statement: Sequence[Token], index: int) -> Token:
    # a statement may be incomplete
    return statement[index] if 0 <= index < len(statement) else _NOTHING


def _windows(statement: Sequence[Token]) -> Iterator[tuple[Token, Token, Token]]:
    for index, token in enumerate(statement):
        yield _at(statement, index - 1), token, _at(statement, index + 1)


_RULES: Final[Sequence[Callable[[Sequence[Token]], Iterator[Fault]]]] = (
    _only_reads,
    _no_second_statement,
    _forbidden_functions,
    _list_access,
    _parameters,
    _patterns,
    _conditions,
    _bad_aliases,
    _order_without_limit,
)
