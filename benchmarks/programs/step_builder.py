"""Emits a program instruction by instruction and collects the text of its dump."""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.programs.hlo_text import Fusion, array_bytes, separated
from benchmarks.programs.program import Program, Value


class Ref(NamedTuple):
    """An operand: a value, and its instruction."""

    value: Value
    name: str


class StepBuilder:
    """A builder that emits instructions in schedule order and collects their texts."""

    def __init__(self, module_name: str) -> None:
        self.program = Program(module_name)
        self.fusions: list[Fusion] = []
        self.reducers: list[str] = []
        self.entry: list[str] = []
        self.parameters: list[Value] = []
        self.donated: dict[Value, Value] = {}
        self.reducer_values: list[Value] = []
        self.constants: list[Value] = []
        self._names: dict[str, int] = {}

    def name(self, base: str) -> str:
        """Return an unused name: ``base``, then ``base.1``, ``base.2``."""
        count = self._names.get(base, -1) + 1
        self._names[base] = count
        return f"{base}.{count}" if count else base

    def parameter(self, base: str, shape: str, label: str) -> Ref:
        """Declare an entry parameter; call this before anything else is emitted."""
        text = f'{shape} parameter({len(self.parameters)}), metadata={{op_name="{label}"}}'
        ref = self._emit(self.name(base), shape, text)
        ref.value.first = 0
        self.parameters.append(ref.value)
        return ref

    def constant(self, shape: str, literal: str) -> Ref:
        """Emit a constant of the entry computation."""
        text = f"{shape} constant({literal})"
        ref = self._emit(self.name("constant"), shape, text)
        self.constants.append(ref.value)
        return ref

    def operation(
        self,
        opcode: str,
        shape: str,
        operands: Sequence[Ref],
        op: str,
        frame: int,
        attributes: str = "",
        base: str | None = None,
    ) -> Ref:
        """Emit one instruction with an array as its result."""
        name = self.name(base or opcode)
        text = _text(shape, opcode, operands, f"{attributes}, {_metadata(op, frame)}")
        ref = self._emit(name, shape, text, operands)
        self.program.temporaries.append(ref.value)
        return ref

    def fuse(
        self,
        base: str,
        shape: str,
        operands: Sequence[Ref],
        op: str,
        frame: int,
        overwrites: Ref | None = None,
        reducer: str | None = None,
    ) -> Ref:
        """Emit a fusion; ``reducer`` is the opcode that a reduction in it applies."""
        region = self._reduction(reducer, op, frame) if reducer else None
        number = len(self.fusions)
        shapes = tuple([ref.value.shape for ref in operands])
        self.fusions.append(Fusion(number, shapes, shape, region))
        attributes = f", kind=kLoop, calls=%fused_computation.{number}"
        ref = self.operation("fusion", shape, operands, op, frame, attributes, base)
        ref.value.overwrites = overwrites.value if overwrites else None
        return ref

    def library_call(
        self, shape: str, scratch_bytes: int, operands: Sequence[Ref], op: str, frame: int
    ) -> Ref:
        """Emit a custom call that returns a result and scratch in a tuple; return the result."""
        name = self.name("custom-call")
        whole = f"({shape}, s8[{scratch_bytes}]{{0}})"
        attributes = f', custom_call_target="__matmul", {_metadata(op, frame)}'
        text = _text(whole, "custom-call", operands, attributes)
        table = self._emit(name, whole, text, operands, "{}")
        step = table.value.first
        result = self._value(name, "{0}", shape, text, step)
        scratch = self._value(name, "{1}", f"s8[{scratch_bytes}]{{0}}", text, step)
        element = self.name("get-tuple-element")
        table.value.uses.append(f"{element}, operand 0 {{}}")
        table.value.last = result.last = len(self.program.schedule)
        self.program.schedule.append(element)
        result.positions.append(element)
        self.entry.append(f"  %{element} = {shape} get-tuple-element(%{name}), index=0\n")
        self.program.temporaries += [table.value, result, scratch]
        return Ref(result, element)

    def bitcast(self, operand: Ref, shape: str) -> Ref:
        """Emit a bitcast: another name for the same value."""
        name = self.name("bitcast")
        step = len(self.program.schedule)
        self.program.schedule.append(name)
        operand.value.uses.append(f"{name}, operand 0")
        operand.value.positions.append(name)
        operand.value.last = max(operand.value.last, step)
        self.entry.append(f"  %{name} = {shape} bitcast(%{operand.name})\n")
        return Ref(operand.value, name)

    def donate(self, parameter: Ref, update: Ref) -> None:
        """Record that ``update`` overwrites ``parameter``."""
        self.donated[parameter.value] = update.value

    def result(self, results: Sequence[Ref]) -> Value:
        """Emit the result tuple of the program; return its table."""
        shape = f"({separated([ref.value.shape for ref in results])})"
        text = _text(shape, "tuple", results, "")
        table = self._emit(self.name("tuple"), shape, text, results, "{}").value
        self.entry[-1] = self.entry[-1].replace("  %", "  ROOT %", 1)
        table.last = len(self.program.schedule)
        for index, ref in enumerate(results):
            ref.value.positions.append(f"{table.name} {{{index}}}")
            ref.value.last = table.last
        return table

    def _emit(
        self,
        name: str,
        shape: str,
        text: str,
        operands: Sequence[Ref] = (),
        index: str = "",
    ) -> Ref:
        step = len(self.program.schedule)
        self.program.schedule.append(name)
        for number, ref in enumerate(operands):
            ref.value.uses.append(f"{name}, operand {number}")
            ref.value.last = max(ref.value.last, step)
        self.entry.append(f"  %{name} = {text}\n")
        return Ref(self._value(name, index, shape, text, step), name)

    def _value(self, name: str, index: str, shape: str, text: str, step: int) -> Value:
        value = Value(
            len(self.program.values), name, index, shape, array_bytes(shape), text,
            first=step, last=step,
        )  # fmt: skip
        self.program.values.append(value)
        return value

    def _reduction(self, opcode: str, op: str, frame: int) -> str:
        region = f"region_{len(self.reducers)}.{len(self.reducers) + 1}"
        left, right, root = (self.name(f"reduce_{opcode}") for _ in range(3))
        texts = (
            'f32[] parameter(0), metadata={op_name="reduce"}',
            'f32[] parameter(1), metadata={op_name="reduce"}',
            f"f32[] {opcode}(%{left}, %{right}), {_metadata(op, frame)}",
        )
        values = [
            self._value(name, "", "f32[]", text, -1)
            for name, text in zip((left, right, root), texts, strict=True)
        ]
        values[0].uses.append(f"{root}, operand 0")
        values[1].uses.append(f"{root}, operand 1")
        self.reducer_values += values
        self.reducers.append(
            f"%{region} ({left}: f32[], {right}: f32[]) -> f32[] {{\n"
            f"  %{left} = {texts[0]}\n  %{right} = {texts[1]}\n  ROOT %{root} = {texts[2]}\n}}\n\n"
        )
        return region


def _text(shape: str, opcode: str, operands: Sequence[Ref], attributes: str) -> str:
    """Return the text of an instruction after its name."""
    return f"{shape} {opcode}({separated([f'%{ref.name}' for ref in operands])}){attributes}"


def _metadata(op: str, frame: int) -> str:
    return f'metadata={{op_name="{op}" stack_frame_id={frame}}}'
