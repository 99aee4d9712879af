"""Read the operations of a module from its text."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from xlagraph.hlo.shapes import parse_shape
from xlagraph.planner.dimensions.module_operations import (
    ModuleOperations,
    OperandName,
    Operation,
    shape_tree,
)

__all__ = ["DIMENSIONS_OF_PRODUCT", "convolution_places", "operations_of_text"]

# ENTRY %main.5 (x: f32[2]) -> f32[2] {   region_0 {
_OPENING: Final = re.compile(r"(ENTRY )?%?([^\s(]+) .*\{\s*$")
_LINE: Final = re.compile(
    r"  (?P<root>ROOT )?%?(?P<name>[^\s=]+) = (?P<shape>\(.*?\)|\S+) (?P<opcode>[a-z][\w-]*)"
    r"\((?P<operands>.*?)\)(?:, (?P<attributes>[a-z][\w-]*=.*))?$"
)
_OPERAND: Final = re.compile(r"%([^\s,()#]+)((?:#\d+)*)")
_BRACKETS: Final = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)|/\*[^*]*\*/")
# dimensions={0,1}   slice={[0:2], [0:8:2]}   padding=0_0x1_2_1   dim_labels=b0f_0io->b0f
_ATTRIBUTE: Final = re.compile(r"(?:^|[, ])([a-z][\w-]*)=(\{[^{}]*\}|[^\s,{}\"]+)")
_NUMBER: Final = re.compile(r"-?\d+")
_NAMES: Final = re.compile(r"[^\s,{}%]+")
_LABELS: Final = re.compile(r"(\w+)_(\w+)->(\w+)")
_CALLING: Final = {
    "calls": "calls",
    "to_apply": "to_apply",
    "condition": "condition",
    "body": "body",
    "branch_computations": "branches",
    "true_computation": "branches",
    "false_computation": "branches",
}
_WITHOUT_OPERANDS: Final = ("constant", "iota", "parameter")
DIMENSIONS_OF_PRODUCT: Final = tuple(
    (f"{side}_{kind}_dims", re.compile(rf'\\?"{side}_{kind}_dimensions\\?":\[([^\]]*)\]'))
    for side in ("lhs", "rhs")
    for kind in ("batch", "contracting")
)
"""Attributes of a matrix product, by their pattern in the backend config of a custom call."""


def operations_of_text(text: str) -> ModuleOperations:
    """Return the operations; lines that have another form are skipped."""
    computations: dict[str, list[Operation]] = {}
    roots: dict[str, str] = {}
    entry = computation = ""
    for line in text.splitlines():
        if not line.startswith("  "):
            if opening := _OPENING.match(line):
                computation = opening[2]
                computations[computation] = []
                entry = computation if opening[1] else entry
        elif computation in computations and (found := _LINE.match(line)):
            computations[computation].append(_operation(found))
            if found["root"]:
                roots[computation] = found["name"]
    return ModuleOperations(entry, computations, roots)


def _operation(line: re.Match[str]) -> Operation:
    opcode, attributes = line["opcode"], line["attributes"] or ""
    # the metadata and what follows say nothing about dimensions, except for custom calls
    own = attributes.partition("metadata=")[0].partition("backend_config=")[0]
    numbers: dict[str, Sequence[int]] = {}
    callees: dict[str, list[str]] = {}
    for key, value in _ATTRIBUTE.findall(own):
        if key in _CALLING:
            callees.setdefault(_CALLING[key], []).extend(_NAMES.findall(value))
        elif key == "slice":
            numbers[key] = [number for part in value.split("]")[:-1] for number in _bounds(part)]
        elif key == "padding":
            numbers[key] = [number for part in value.split("x") for number in _padding(part)]
        elif key == "dim_labels":
            numbers |= _places(value)
        else:
            numbers[key] = list(map(int, _NUMBER.findall(value)))
    if opcode == "custom-call":
        for key, pattern in DIMENSIONS_OF_PRODUCT:
            if given := pattern.search(attributes):
                numbers[key] = list(map(int, _NUMBER.findall(given[1])))
    if opcode == "parameter":
        numbers["number"] = list(map(int, _NUMBER.findall(line["operands"])))
    return Operation(
        line["name"],
        opcode,
        shape_tree(parse_shape(line["shape"])),
        () if opcode in _WITHOUT_OPERANDS else tuple(_operands(line["operands"])),
        callees,
        numbers,
    )


def _operands(text: str) -> Iterator[OperandName]:
    if "%" in text:
        for name, element in _OPERAND.findall(text):
            yield OperandName(name, tuple(map(int, element[1:].split("#"))) if element else ())
        return
    before = None
    while text != before:
        before, text = text, _BRACKETS.sub("", text)
    for part in text.split(","):
        if words := part.split():
            yield OperandName(words[-1])


def _bounds(part: str) -> tuple[int, int, int]:
    start, limit, *stride = map(int, _NUMBER.findall(part))
    return start, limit, stride[0] if stride else 1


def _padding(part: str) -> tuple[int, int, int]:
    low, high, *interior = map(int, part.split("_"))
    return low, high, interior[0] if interior else 0


def _places(labels: str) -> dict[str, Sequence[int]]:
    found = _LABELS.fullmatch(labels)
    return {} if found is None else convolution_places(*found.groups())


def convolution_places(lhs: str, rhs: str, out: str) -> dict[str, Sequence[int]]:
    """Return the places of a convolution's dimensions, by letters such as `b01f`."""
    spatial = sorted(set(lhs) - {"b", "f"})
    return {
        "lhs": [lhs.index(each) for each in ("b", "f", *spatial)],
        "rhs": [rhs.index(each) for each in ("i", "o", *spatial)],
        "out": [out.index(each) for each in ("b", "f", *spatial)],
    }
