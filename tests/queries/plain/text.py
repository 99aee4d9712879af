"""A second reader of instruction and module text, simple on purpose.

It shares no code with the ingest, and searches the text for one fact at a time.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

BITS = {
    **dict.fromkeys(("pred", "s8", "u8"), 8),
    **dict.fromkeys(("s16", "u16", "f16", "bf16"), 16),
    **dict.fromkeys(("s32", "u32", "f32"), 32),
    **dict.fromkeys(("s64", "u64", "f64", "c64"), 64),
    **dict.fromkeys(("s4", "u4", "f4e2m1fn"), 4),
    **dict.fromkeys(("s2", "u2"), 2),
    **dict.fromkeys(("s1", "u1"), 1),
    "c128": 128,
}


@dataclass(frozen=True)
class PlainText:
    """The facts in the text of one instruction."""

    opcode: str | None = None
    op_name: str | None = None
    source: tuple[str | None, int | None] = (None, None)
    frame: int = 0
    target: str | None = None
    calls: str | None = None


@dataclass
class PlainModule:
    """The instructions of a module text, and the source location of each stack frame."""

    instructions: dict[str, PlainText] = field(default_factory=dict)
    root_opcodes: dict[str, str] = field(default_factory=dict)
    """Instructions by computation."""
    frames: dict[int, tuple[str, int]] = field(default_factory=dict)
    partitions: int = 1
    """Devices over which the program is split."""
    donated: set[tuple[int, str]] = field(default_factory=set)
    """Number and index of the donated parameters in the header."""
    lines: dict[str, str] = field(default_factory=dict)
    """Text after `name = `, by instruction."""
    computations: dict[str, str] = field(default_factory=dict)
    """Computation by instruction."""
    roots: dict[str, str] = field(default_factory=dict)
    """Root instruction by computation."""
    stacks: dict[int, tuple[str, int, str, int | None]] = field(default_factory=dict)
    """File, line, function and calling frame, by frame."""
    columns: dict[int, int] = field(default_factory=dict)
    """Of frames."""

    def stack(self, frame: int) -> list[tuple[str, int, str, int]]:
        """Return the locations up to a frame, the outermost first."""
        places = []
        at: int | None = frame
        while at is not None:
            file, line, function, caller = self.stacks[at]
            places.append((file, line, function, self.columns[at]))
            at = caller
        return places[::-1]


@cache
def read_instruction(text: str) -> PlainText:
    """Read the text after `name = `."""
    metadata = re.search(r'metadata=\{((?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*)\}', text)
    attributes = metadata[1] if metadata else ""
    source_file = _quoted("source_file", attributes)
    line = re.search(r"source_line=(\d+)", attributes)
    frame = re.search(r"stack_frame_id=(\d+)", attributes)
    calls = re.search(r", calls=%?([\w.-]+)", text)
    return PlainText(
        _opcode(text),
        _quoted("op_name", attributes),
        (source_file, int(line[1]) if line else None),
        int(frame[1]) if frame else 0,
        _quoted("custom_call_target", text),
        calls[1] if calls else None,
    )


def read_module(text: str) -> PlainModule:
    """Read the text of a whole module."""
    module = PlainModule()
    computation = table = ""
    tables: dict[str, dict[int, str]] = {}
    header = text.partition("\n")[0].partition(", entry_computation_layout")[0]
    if found := re.search(r", num_partitions=(\d+)", text.partition("\n")[0]):
        module.partitions = int(found[1])
    for number, index in re.findall(r"\((\d+), (\{[\d, ]*\})", header):
        module.donated.add((int(number), index.replace(" ", "")))
    for line in text.splitlines():
        if found := re.match(r"(\d+) (.*)", line):
            tables.setdefault(table, {})[int(found[1])] = found[2]
        elif found := re.match(r"(?:ENTRY )?%?([\w.-]+) (?:\(.*)?\{$", line):
            computation = found[1]
        elif found := re.match(r"  (ROOT )?%?([\w.-]+) = (.*)", line):
            parsed = read_instruction(found[3])
            module.instructions[found[2]] = parsed
            module.lines[found[2]] = found[3]
            module.computations[found[2]] = computation
            if found[1]:
                module.roots[computation] = found[2]
            if found[1] and parsed.opcode:
                module.root_opcodes[computation] = parsed.opcode
        elif line.strip():
            table = line.strip()
    for number, frame in tables.get("StackFrames", {}).items():
        location = tables["FileLocations"][_number("file_location_id", frame)]
        name = tables["FileNames"][_number("file_name_id", location)]
        module.frames[number] = (ast.literal_eval(name), _number("line", location))
        function = tables["FunctionNames"][_number("function_name_id", location)]
        caller = _number("parent_frame_id", frame) - 1
        module.columns[number] = _number("column", location)
        module.stacks[number] = (
            *module.frames[number],
            ast.literal_eval(function),
            caller or None,
        )
    return module


def read_operands(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Read the operands, each with its tuple index."""
    opcode = _opcode(text)
    if opcode in (None, "parameter", "constant", "iota"):
        return []
    start = text.index(f" {opcode}(") + len(f" {opcode}(")
    depth, end = 1, start
    while depth and end < len(text):
        depth += (text[end] in "({[") - (text[end] in ")}]")
        end += 1
    inner = re.sub(r"/\*.*?\*/", "", text[start : end - 1])
    names, depth = [""], 0
    for character in inner:
        depth += (character in "({[") - (character in ")}]")
        if character == "," and depth == 0:
            names.append("")
        else:
            names[-1] += character
    found = []
    for name in names:
        if name.strip():
            operand, *parts = name.split()[-1].removeprefix("%").split("#")
            found.append((operand, tuple(map(int, parts))))
    return found


def read_called(text: str) -> list[str]:
    """Read the computations that an instruction runs or applies."""
    keys = (
        "calls|to_apply|body|condition|branch_computations|true_computation|false_computation"
        "|called_computations"
    )
    text = text.partition(", metadata=")[0]
    found = re.findall(rf", (?:{keys})=(\{{.*?\}}|[^,]*)", text)
    return [name for group in found for name in re.findall(r"[^{}%, ]+", group)]


def dense_bytes(shape: str) -> int | None:
    """Count the bytes of the elements without padding, from a shape with its layout."""
    found = re.match(r"([a-z][a-z0-9]*)\[([^\]]*)\]", shape)
    if found is None or "?" in found[2]:
        return None
    packed = re.search(r"E\((\d+)\)", shape)
    bits = int(packed[1]) if packed else BITS.get(found[1])
    if bits is None and found[1].startswith("f8"):
        bits = 8
    if bits is None:
        return None
    for size in found[2].split(",") if found[2] else ():
        bits *= int(size.removeprefix("<="))
    return -(-bits // 8)


def filled(first: PlainText, second: PlainText, frames: Mapping[int, tuple[str, int]]) -> PlainText:
    """Fill the missing facts of the first from the second."""
    frame = first.frame or second.frame
    source = first.source
    if source[0] is None:
        source = second.source
    if source[0] is None:
        source = frames.get(frame, (None, None))
    return PlainText(
        first.opcode or second.opcode,
        first.op_name or second.op_name,
        source,
        frame,
        first.target or second.target,
        first.calls or second.calls,
    )


def _opcode(text: str) -> str | None:
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "({[") - (character in ")}]")
        if character == " " and depth == 0:
            return text[place + 1 :].partition("(")[0]
    return None


def _quoted(key: str, text: str) -> str | None:
    found = re.search(rf'\b{key}=("(?:[^"\\]|\\.)*")', text)
    if found is None:
        return None
    inner = re.sub(r"\\'", "'", found[1])
    raw = ast.literal_eval("b" + inner) if inner.isascii() else inner[1:-1].encode()
    return raw.decode() or None


def _number(key: str, text: str) -> int:
    found = re.search(rf"\b{key}=(\d+)", text)
    assert found is not None
    return int(found[1])
