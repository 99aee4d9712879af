"""A second implementation of the rule that attributes a value to an op.

A result is an instruction and a tuple index, both as in the module text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.queries.plain.plan import PlainDump
    from tests.queries.plain.value import PlainValue

Result = tuple[str, tuple[int, ...]]

MOVES = {
    *("copy", "copy-start", "copy-done", "bitcast", "bitcast-convert", "convert", "transpose"),
    *("reshape", "broadcast", "pad", "slice", "dynamic-slice", "concatenate", "reverse"),
    *("get-tuple-element", "tuple", "opt-barrier", "optimization-barrier"),
    *("slice-start", "slice-done", "dynamic-slice-start", "dynamic-slice-done"),
    *("async-update", "async-done"),
}
RUNS = ("fusion", "call", "async-start", "custom-call")


@dataclass(frozen=True)
class Attribution:
    """The op and source line of a value."""

    rule: str | None = None
    op_name: str | None = None
    source: tuple[str | None, int | None] = (None, None)
    user: tuple[str | None, int | None, str | None] = (None, None, None)
    frame: int = 0


def attribute(dump: "PlainDump", value: "PlainValue") -> Attribution:
    """Apply the rules in order."""
    index = tuple(int(number) for number in re.findall(r"\d+", value.shape_index or ""))
    here = (value.name, index)
    if here in dump.stacks and (found := of_stack(dump, here)):
        return _of(dump, "stack", found)
    if named(dump, value.name):
        return _of(dump, "own", value.name)
    if found := inside(dump, here):
        return _of(dump, "inside", found)
    seen: set[Result] = set()
    at: Result | None = here
    while at and at not in seen:
        seen.add(at)
        at = moved(dump, at)
        if at and (found := own_or_inside(dump, at)):
            return _of(dump, "operand", found)
    steps = dump.steps
    for reader in sorted((name for name in value.users if name in steps), key=lambda n: steps[n]):
        if found := own_or_inside(dump, (reader, ())):
            return _of(dump, "reader", found)
    return Attribution()


def of_stack(dump: "PlainDump", result: Result) -> str | None:
    """Return the attribution of the part that one turn of a loop writes."""
    seen: set[Result] = {result}
    at: Result | None = dump.stacks[result]
    while at and at not in seen:
        seen.add(at)
        if at in dump.stacks and dump.stacks[at] not in seen:
            at = dump.stacks[at]
            continue
        found = at[0] if named(dump, at[0]) else inside(dump, at)
        if found:
            return found
        at = moved(dump, at)
    return None


def named(dump: "PlainDump", name: str) -> bool:
    """Return True if an instruction has an op name."""
    return bool(dump.text(name).op_name)


def own_or_inside(dump: "PlainDump", result: Result) -> str | None:
    """Apply rules 0 to 2."""
    if result in dump.stacks and (found := of_stack(dump, result)):
        return found
    return result[0] if named(dump, result[0]) else inside(dump, result)


def inside(dump: "PlainDump", result: Result) -> str | None:
    """Search breadth first in the computations of a fusion, call, async or custom call."""
    queue = list(roots(dump, result))
    for name, element in queue:  # grows in the loop
        if named(dump, name):
            return name
        queue += [one for one in roots(dump, (name, element)) if one not in queue]
        operands = dump.operands(name)
        if dump.opcode(name) == "get-tuple-element":
            operands = [(each, part + dump.index(name) + element) for each, part in operands[:1]]
        queue += [one for each in operands if (one := through_tuples(dump, each)) not in queue]
    return None


def roots(dump: "PlainDump", result: Result) -> Iterator[Result]:
    """Name the roots of the computations that an instruction runs."""
    name, element = result
    if dump.opcode(name) not in RUNS:
        return
    if dump.opcode(name) == "async-start" and element:
        if element[0] != 1:  # operands and context
            return
        element = element[1:]
    for computation in dump.called(name):
        if computation in dump.module.roots:
            yield through_tuples(dump, (dump.module.roots[computation], element))


def through_tuples(dump: "PlainDump", result: Result) -> Result:
    """Follow an element of a tuple to that operand of the tuple."""
    name, element = result
    if dump.opcode(name) != "tuple" or not element or element[0] >= len(dump.operands(name)):
        return result
    operand, part = dump.operands(name)[element[0]]
    return through_tuples(dump, (operand, part + element[1:]))


def moved(dump: "PlainDump", result: Result) -> Result | None:
    """Return the result that this one is a moved form of: the first operand, or the input."""
    name, element = result
    opcode = dump.opcode(name)
    operands = dump.operands(name)
    if opcode == "parameter":
        return passed_in(dump, result)
    if not operands:
        return None
    first, part = operands[0]
    if opcode == "get-tuple-element":
        return through_tuples(dump, (first, part + dump.index(name) + element))
    if opcode == "tuple" and element:
        operand = through_tuples(dump, result)
        return None if operand == result else operand
    if opcode in ("while", "copy", "opt-barrier", "optimization-barrier"):
        return through_tuples(dump, (first, part + element))
    if opcode in MOVES or opcode == "call" or only_moves(dump, name):
        return through_tuples(dump, (first, part))
    return None


def passed_in(dump: "PlainDump", result: Result) -> Result | None:
    """Return the argument for a parameter of a loop, branch or call."""
    name, element = result
    computation = dump.module.computations.get(name)
    for caller in dump.named:
        if dump.opcode(caller) not in ("while", "call", "conditional", "async-start"):
            continue
        called = dump.called(caller)
        if computation in called:
            number = int(re.findall(r"parameter\((\d+)\)", dump.line(name))[0])
            if dump.opcode(caller) == "conditional":
                number = called.index(computation) + 1
            if number < len(dump.operands(caller)):
                operand, part = dump.operands(caller)[number]
                return through_tuples(dump, (operand, part + element))
            return None
    return None


def only_moves(dump: "PlainDump", name: str) -> bool:
    """Return True if a fusion or an async computation only moves data."""
    called = dump.called(name)
    if dump.opcode(name) not in ("fusion", "async-start") or not called:
        return False
    return all(
        dump.opcode(each) in MOVES | {"parameter", "constant"} or only_moves(dump, each)
        for each, computation in dump.module.computations.items()
        if computation in called
    ) and set(called) <= set(dump.module.computations.values())


def _of(dump: "PlainDump", rule: str, name: str) -> Attribution:
    made = dump.text(name)
    frame = made.frame if made.frame in dump.module.stacks else 0
    user: tuple[str | None, int | None, str | None] = (None, None, None)
    if frame:
        at: int | None = frame
        while at is not None:
            file, line, function, at = dump.module.stacks[at]
            if not is_installed(file):
                user = (file, line, function)
                break
    elif made.source[0] and not is_installed(made.source[0]):
        user = (*made.source, None)
    return Attribution(rule, made.op_name, made.source, user, frame)


def is_installed(file: str) -> bool:
    """Return True if a file belongs to an installed package."""
    parts = ("site-packages/", "dist-packages/", "lib/python3.")
    return file.startswith("<frozen") or any(part in file for part in parts)
