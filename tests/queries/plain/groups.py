"""By what values are grouped at a peak, and between two runs."""

from collections.abc import Callable
from dataclasses import dataclass

from plain.answer import Row
from plain.plan import PlainValue


def scope(op_name: str | None, depth: int) -> str | None:
    """Cut an op name behind so many parts; a slash within brackets parts nothing."""
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
    """What the values of one group have in common."""

    columns: str
    of: Callable[[PlainValue], Row]


OP = Group("opName", lambda item: (item.made.op_name,))
LINE = Group("sourceFile sourceLine", lambda item: item.made.source)
OPCODE = Group("opcode", lambda item: (item.made.opcode,))
SCOPE = Group("scope", lambda item: (scope(item.made.op_name, 3),))
DTYPE = Group("dtype", lambda item: (item.dtype,))
SHAPE = Group("shape", lambda item: (item.shape,))
