"""Read the operations of a module that a graph stores."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from xlagraph.hlo.instruction import Purpose
from xlagraph.hlo.instruction_text import PrintedInstruction
from xlagraph.hlo.module_text import parse_module_text
from xlagraph.hlo.program import PackedModule
from xlagraph.hlo.shapes import Shape, index_numbers
from xlagraph.planner.dimensions.module_operations import (
    DIMENSIONS_OF_PRODUCT,
    NUMBER,
    OVERWRITTEN_BY_SOLVER,
    ROLES_OF_CONVOLUTION,
    ModuleOperations,
    OperandName,
    Operation,
    ReadOnAccess,
    shape_tree,
)
from xlagraph.planner.dimensions.proto_records import operations_of_proto

# dimensions={0,1}   slice={[0:2], [0:8:2]}   padding=0_0x1_2_1   dim_labels=b0f_0io->b0f
_ATTRIBUTE: Final = re.compile(r"(?:^|[, ])([a-z][\w-]*)=(\{[^{}]*\}|[^\s,{}\"]+)")
_LABELS: Final = re.compile(r"(\w+)_(\w+)->(\w+)")
_OF_WINDOW: Final = ("size", "stride", "lhs_dilate", "rhs_dilate")
_CALLING: Final[dict[Purpose, str]] = {
    "calls": "calls",
    "to_apply": "to_apply",
    "condition": "condition",
    "body": "body",
    "branch": "branches",
}
_CALLS: Final = re.compile("calls=|to_apply=|condition=|computation")


def module_operations(packed: PackedModule) -> ModuleOperations:
    """Return the operations; raises ProtobufMissing for a message without the extra `proto`."""
    contents = packed.contents()
    if packed.form == "proto":
        return operations_of_proto(contents)
    return operations_of_text(contents.decode(errors="replace"))


def operations_of_text(text: str) -> ModuleOperations:
    """Return the operations, read on access; lines that have another form are skipped."""
    program = parse_module_text(text)

    def operations(name: str) -> Sequence[Operation]:
        return [
            _operation(each, each.shape)
            for each in program.computations[name].instructions
            if isinstance(each, PrintedInstruction) and each.shape is not None
        ]

    def root(name: str) -> str:
        found = program.computations[name].find_root()
        return "" if found is None else found.name

    names = program.computations
    return ModuleOperations(
        program.entry_name or "",
        ReadOnAccess(names, operations),
        ReadOnAccess(names, root),
        program,
    )


def _operation(instruction: PrintedInstruction, shape: Shape) -> Operation:
    # the metadata and what follows say nothing about dimensions, except for custom calls
    text = instruction.attribute_text.partition("metadata=")[0].partition("backend_config=")[0]
    callees: dict[str, list[str]] = {}
    if _CALLS.search(text):
        for purpose, computation in instruction.attributes.callees:
            if purpose in _CALLING:
                callees.setdefault(_CALLING[purpose], []).append(computation)
    numbers = dict(_numbers(text)) if "=" in text else {}
    if instruction.opcode == "parameter" and instruction.parameter_number is not None:
        numbers["number"] = [instruction.parameter_number]
    elif instruction.opcode == "custom-call":
        for key, pattern in DIMENSIONS_OF_PRODUCT:
            if given := pattern.search(instruction.attribute_text):
                numbers[key] = list(map(int, NUMBER.findall(given[1])))
        target = instruction.attributes.target or ""
        if roles := ROLES_OF_CONVOLUTION.get(target):
            numbers["roles"] = roles
        if solved := OVERWRITTEN_BY_SOLVER.get(target):
            numbers["overwritten"] = solved
        for shared in instruction.attributes.aliasing[:1]:
            place = index_numbers(shared.output_index)[:1] or (0,)
            numbers["overwritten"] = [*place, shared.operand]
    return Operation(
        instruction.name,
        instruction.opcode or "",
        shape_tree(shape),
        _operands(instruction),
        callees,
        numbers,
        instruction.attributes.op_name if instruction.opcode == "compare" else None,
    )


def _operands(instruction: PrintedInstruction) -> Sequence[OperandName]:
    if "#" not in instruction.operand_text:
        return list(map(OperandName, instruction.operand_names))
    return [OperandName(name, index_numbers(element)) for name, element in instruction.operands]


def _numbers(text: str) -> Iterator[tuple[str, Sequence[int]]]:
    for key, value in _ATTRIBUTE.findall(text):
        if key == "slice":
            yield key, [number for part in value.split("]")[:-1] for number in _bounds(part)]
        elif key == "padding":
            yield key, [number for part in value.split("x") for number in _padding(part)]
        elif key == "window":
            yield key, list(_window(value))
        elif key == "direction":
            yield key, [int(value == "EQ")]
        elif key == "dim_labels":
            yield from _places(value)
        else:
            yield key, list(map(int, NUMBER.findall(value)))


def _bounds(part: str) -> tuple[int, int, int]:
    start, limit, *stride = map(int, NUMBER.findall(part))
    return start, limit, stride[0] if stride else 1


def _padding(part: str) -> tuple[int, int, int]:
    low, high, *interior = map(int, part.split("_"))
    return low, high, interior[0] if interior else 0


def _window(text: str) -> Iterator[int]:
    """Yield size, stride and dilation of operand and window; 1 if not given."""
    parts = dict(part.split("=") for part in text[1:-1].split() if "=" in part)
    by_part = [parts.get(key, "").split("x") for key in _OF_WINDOW]
    for number in range(len(by_part[0])):
        for found in by_part:
            yield int(found[number]) if found[0] else 1


def _places(labels: str) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the places of a convolution's dimensions, by letters such as `b01f`."""
    if found := _LABELS.fullmatch(labels):
        lhs, rhs, out = found.groups()
        spatial = sorted(set(lhs) - {"b", "f"})
        yield "lhs", [lhs.index(each) for each in ("b", "f", *spatial)]
        yield "rhs", [rhs.index(each) for each in ("i", "o", *spatial)]
        yield "out", [out.index(each) for each in ("b", "f", *spatial)]
