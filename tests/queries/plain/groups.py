"""Groupings of values at a peak, and between two runs."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.queries.plain.answer import Row
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import PlainValue


def scope(op_name: str | None, depth: int) -> str | None:
    """Keep the first parts of an op name; a slash within brackets does not separate parts."""
    if op_name is None:
        return None
    parts, nesting = [""], 0
    for character in op_name:
        nesting += character in "([{"
        nesting -= nesting > 0 and character in ")]}"
        if character == "/" and nesting == 0:
            parts.append("")
        else:
            parts[-1] += character
    return "/".join(parts[:depth])


@dataclass(frozen=True)
class Group:
    """Key of the values in one group."""

    columns: str
    of: Callable[[PlainDump, PlainValue], Row]


OP = Group("opName", lambda dump, value: (dump.attribution(value).op_name,))
LINE = Group("sourceFile sourceLine", lambda dump, value: dump.attribution(value).source)
BOTH_LINES = Group(
    "userFile userLine sourceFile sourceLine",
    lambda dump, value: (*dump.attribution(value).user[:2], *dump.attribution(value).source),
)
OPCODE = Group("opcode", lambda _, value: (value.made.opcode,))
SCOPE = Group("scope", lambda dump, value: (scope(dump.attribution(value).op_name, 3),))
DTYPE = Group("dtype", lambda _, value: (value.dtype,))
SHAPE = Group("shape", lambda _, value: (value.shape,))
CALLER = Group("userFile userLine userFunction", lambda dump, value: dump.attribution(value).user)


def _stack(dump: PlainDump, value: PlainValue) -> Row:
    attribution = dump.attribution(value)
    if not attribution.frame:
        return (*attribution.source, None, None, None, None)
    *callers, (file, line, function, _) = dump.module.stack(attribution.frame)
    caller_file, caller_line, caller, _ = callers[-1] if callers else (None,) * 4
    return file, line, function, caller_file, caller_line, caller


STACK = Group("file line function callerFile callerLine caller", _stack)


def over_generations(op_name: str | None) -> str | None:
    """Remove the part that older JAX puts between the function and its ops."""
    return None if op_name is None else op_name.replace("/jit(main)", "")


def over_loops(op_name: str | None) -> str | None:
    """Return an op name as newer JAX writes it, without the calls that it adds in loops."""
    if op_name is None:
        return None
    added = r"/(jit\(main\)|closed_call|eval_jaxpr|jit\(dynamic_(update_)?index_in_dim\))"
    return re.sub(r"\(while(\){1,3})", r"(\1/while", re.sub(added, "", op_name))


def _compared_scope(dump: PlainDump, value: PlainValue) -> Row:
    return (scope(over_generations(dump.attribution(value).op_name), 3),)


COMPARED_SCOPE = Group("scope", _compared_scope)
COMPARED_OP = Group("opName", lambda dump, value: (over_loops(dump.attribution(value).op_name),))
