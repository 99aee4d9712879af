"""A second implementation of the rule that attributes loop state to the values written into it."""

import re
from typing import TYPE_CHECKING

from tests.queries.plain.attribution import MOVES, Result, is_installed, only_moves, roots
from tests.queries.plain.attribution import through_tuples as through

if TYPE_CHECKING:
    from tests.queries.plain.plan import PlainDump

Way = tuple[Result, tuple[str, ...]]
"""A result, and the fusions and calls around it."""
WRITE = "dynamic-update-slice"
KEEPS = ("copy", "bitcast", "reshape", "convert", "opt-barrier", "optimization-barrier")


def stacks(dump: "PlainDump") -> dict[Result, Result]:
    """Return the values that a turn writes into the stack of a result, by result."""
    found: dict[Result, Result] = {}
    for loop in dump.named:
        body = re.search(r", body=%?([\w.-]+)", dump.line(loop))
        if dump.opcode(loop) == "while" and body and body[1] in dump.module.roots:
            root = dump.module.roots[body[1]]
            if dump.opcode(root) == "tuple":
                for number in range(len(dump.operands(root))):
                    for result, element in _stack(dump, loop, root, number).items():
                        found.setdefault(result, element)
    return found


def _stack(dump: "PlainDump", loop: str, root: str, number: int) -> dict[Result, Result]:
    """Return the values that a turn writes, for all results in the bytes of a state element."""
    way = _back(dump, (through(dump, (root, (number,))), ()))
    (last, index), calls = way[-1]
    writes = [step for step in way if dump.opcode(step[0][0]) == WRITE]
    body = dump.module.computations[root]
    is_state = dump.opcode(last) == "parameter" and dump.module.computations.get(last) == body
    if not (writes and is_state and index == (number,) and not calls):
        return {}
    turns = min(_parts(dump, name) for (name, _), _ in writes)
    runs = re.search(r'known_trip_count\\?":\{\\?"n\\?":\\?"(\d+)', dump.line(loop))
    if turns < 2 or (runs and turns > int(runs[1]) * len(writes)):
        return {}
    element = _element(dump, loop, root, writes[0])
    held = [(loop, (number,)), *(result for result, _ in way)]
    condition = re.search(r", condition=%?([\w.-]+)", dump.line(loop))
    held += [
        (name, (number,))
        for name, computation in dump.module.computations.items()
        if condition and computation == condition[1] and dump.opcode(name) == "parameter"
    ]
    given, part = dump.operands(loop)[0]
    first = _back(dump, (through(dump, (given, (*part, number))), ()))
    is_of_loop = all(_line(dump, name) in (None, _line(dump, loop)) for (name, _), _ in first)
    if is_of_loop and _fills(dump, first[-1][0][0]):
        held += [result for result, _ in first]
    return dict.fromkeys(held, element)


def _back(dump: "PlainDump", start: Way) -> list[Way]:
    way: list[Way] = []
    at: Way | None = start
    while at is not None and at not in way:
        way.append(at)
        (name, index), calls = at
        opcode, operands = dump.opcode(name), dump.operands(name)
        if opcode == "parameter":
            at = _passed(dump, at)
        elif opcode in (WRITE, "get-tuple-element", *KEEPS):
            at = (through(dump, (operands[0][0], operands[0][1] + dump.index(name) + index)), calls)
        elif _fills(dump, name):
            at = None
        else:
            entered = next(roots(dump, (name, index)), None)
            at = entered and (entered, (*calls, name))
    return way


def _passed(dump: "PlainDump", at: Way) -> Way | None:
    (name, index), calls = at
    if not calls:
        return None
    number = int(re.findall(r"parameter\((\d+)\)", dump.line(name))[0])
    given, part = dump.operands(calls[-1])[number]
    return through(dump, (given, part + index)), calls[:-1]


def _element(dump: "PlainDump", loop: str, root: str, write: Way) -> Result:
    home = _line(dump, loop) or _line(dump, write[0][0])
    seen = [write]
    while True:
        (name, index), calls = seen[-1]
        opcode, operands = dump.opcode(name), dump.operands(name)
        if opcode == "parameter" and calls:
            following = _passed(dump, seen[-1])
        elif opcode == "parameter" and index:
            is_state = dump.module.computations.get(name) == dump.module.computations[root]
            following = (through(dump, (root, index[:1])), ()) if is_state else None
        elif _is_of_loop(dump, name, home) and operands:
            given, part = operands[opcode == WRITE]
            following = (through(dump, (given, part + dump.index(name) + index)), calls)
        else:
            following = None
        if following is None:
            return name, index
        if following in seen:  # the body passes it on unchanged
            states = [one for (one, part), entered in seen if part and not entered
                      and dump.opcode(one) == "parameter"]  # fmt: skip
            if not states:
                return name, index
            element = next(part for (one, part), _ in seen[::-1] if one == states[-1])
            given, part = dump.operands(loop)[0]
            return through(dump, (given, part + element))
        seen.append(following)


def _is_of_loop(dump: "PlainDump", name: str, home: object) -> bool:
    moves = dump.opcode(name) in (WRITE, *MOVES) or only_moves(dump, name)
    return moves and (not dump.text(name).op_name or _line(dump, name) in (None, home))


def _fills(dump: "PlainDump", name: str) -> bool:
    if dump.text(name).target == "AllocateBuffer":
        return True
    is_fill = dump.opcode(name) == "broadcast" or only_moves(dump, name)
    return is_fill and all(_sizes(dump, operand) == [] for operand, _ in dump.operands(name))


def _parts(dump: "PlainDump", write: str) -> int:
    part, whole = _sizes(dump, dump.operands(write)[1][0]), _sizes(dump, write)
    shares = [of / size for of, size in zip(whole, part, strict=False) if of != size > 0]
    is_slice = len(whole) == len(part) and len(shares) == 1 and shares[0] == int(shares[0])
    return int(shares[0]) if is_slice else 0


def _sizes(dump: "PlainDump", name: str) -> list[int]:
    found = re.match(r"[a-z][a-z0-9]*\[([\d,<=]*)\]", dump.line(name))
    return [int(size) for size in re.findall(r"\d+", found[1])] if found else [0]


def _line(dump: "PlainDump", name: str) -> tuple[str, int | None] | None:
    file, line = dump.text(name).source
    return None if file is None or is_installed(file) else (file, line)
