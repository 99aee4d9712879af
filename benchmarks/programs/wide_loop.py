"""A loop whose state is a wide tuple: its text grows with the square of the leaves."""

from collections.abc import Iterator, Sequence
from itertools import count, pairwise

from benchmarks.programs.hlo_text import (
    Fusion,
    array,
    array_bytes,
    bare,
    fused_computation,
    separated,
    stack_tables,
)
from benchmarks.programs.program import Allocation, Program, Value

WIDTHS = (256, 320, 384, 448, 512, 576, 640)
OP = "jit(scan)/while"


def wide_loop(leaves: int) -> Program:
    """Plan a ``while`` over ``leaves`` arrays; about 75 bytes of text for each pair of leaves."""
    return _WideLoop(leaves).build()


class _WideLoop:
    """Schedule: entry up to the loop, condition, body, the loop itself, its results."""

    def __init__(self, leaves: int) -> None:
        self.program = Program("jit_scan")
        self.step: dict[str, int] = {}
        self.shapes = [array("f32", 1024, WIDTHS[leaf % len(WIDTHS)]) for leaf in range(leaves)]
        self.state = f"({separated(['s32[]', *self.shapes])})"

    def build(self) -> Program:
        kernels = [
            self._array(f"kernel__.{leaf}", shape, f"{shape} parameter({leaf})")
            for leaf, shape in enumerate(self.shapes)
        ]
        zero = self._array("constant.1", "s32[]", "s32[] constant(0)")
        counter = self._array("copy.1", "s32[]", f"s32[] copy(%constant.1), {_metadata('', 3)}")
        start = self._tuple("tuple.2", self.state, [counter, *kernels])
        condition = self._loop_state("arg_tuple.3", f"{self.state} parameter(0)")
        limit = self._array("constant.2", "s32[]", "s32[] constant(100)")
        self._elements(condition[:2], 0)
        compare = self._array(
            "wrapped_compare", "pred[]",
            "pred[] fusion(%get-tuple-element.0, %constant.2), kind=kLoop, "
            f"calls=%wrapped_compare_computation, {_metadata('/cond/lt', 4)}",
        )  # fmt: skip
        body = self._loop_state("arg_tuple.1", f"{self.state} parameter(0)")
        self._elements(body, 1)
        steps = [self._update(leaf, value) for leaf, value in enumerate(body[1:])]
        end = self._tuple("tuple.6", self.state, steps)
        loop = self._loop_state(
            "while.1",
            f"{self.state} while(%tuple.2), condition=%region_1.3, body=%region_0.2, "
            f'{_metadata("", 3)}, backend_config={{"known_trip_count":{{"n":"100"}}}}',
        )
        self._elements([loop[0], *loop[2:]], len(body) + 1)
        shape = f"({separated(self.shapes)})"
        result = self._tuple("tuple.7", shape, loop[2:])

        self._use(zero, "copy.1", 0)
        self._use(limit, "wrapped_compare", 1)
        self._use(condition[1], "wrapped_compare", 0)
        for leaf, value in enumerate(body[1:]):
            self._use(value, steps[leaf].name, 0)
        for index, value in zip(_indices(), (start, counter, *kernels), strict=False):
            value.uses.append(f"while.1, operand 0 {index}")
        compare.last = body[0].first
        for value in kernels:
            value.first = 0
        states = [[start, counter, *kernels], condition, body, [end, *steps], loop]
        _join(states)
        for value in (*loop[2:], result):
            value.last = len(self.program.schedule)
        self._allocate(states, compare, result, [zero, limit])
        self.program.module_header = self._module_header(shape)
        self.program.computations = self._computations(states, result)
        self.program.plan()
        return self.program

    def _array(self, name: str, shape: str, text: str) -> Value:
        self._schedule(name)
        return self._value(name, "", shape, text)

    def _value(self, name: str, index: str, shape: str, text: str, is_phi: bool = False) -> Value:
        step = len(self.program.schedule) - 1
        value = Value(
            len(self.program.values), name, index, shape, array_bytes(shape), text, is_phi,
            first=step, last=step,
        )  # fmt: skip
        self.program.values.append(value)
        return value

    def _loop_state(self, name: str, text: str) -> list[Value]:
        """Add the table of a loop state and its leaves."""
        self._schedule(name)
        shapes = (self.state, "s32[]", *self.shapes)
        return [
            self._value(name, index, shape, text, is_phi=True)
            for index, shape in zip(_indices(), shapes, strict=False)
        ]

    def _tuple(self, name: str, shape: str, elements: Sequence[Value]) -> Value:
        names = separated([f"%{value.positions[-1].partition(' ')[0]}" for value in elements])
        self._schedule(name)
        for index, value in enumerate(elements):
            value.positions.append(f"{name} {{{index}}}")
            self._use(value, name, index)
        return self._value(name, "{}", shape, f"{shape} tuple({names})")

    def _elements(self, state: Sequence[Value], number: int) -> None:
        """Read each leaf of a state, which begins with its table, by get-tuple-element."""
        table, *leaves = state
        for suffix, value in enumerate(leaves, number):
            name = f"get-tuple-element.{suffix}"
            self._schedule(name)
            table.uses.append(f"{name}, operand 0 {{}}")
            value.positions.append(name)
            table.last = value.last = len(self.program.schedule) - 1

    def _update(self, index: int, value: Value) -> Value:
        operand = value.positions[-1]
        name = f"multiply_subtract_fusion.{index}" if index else "wrapped_add"
        return self._array(
            name, value.shape,
            f"{value.shape} fusion(%{operand}), kind=kLoop, calls=%fused_computation.{index}, "
            f'{_metadata("/body/sub", 5)}, backend_config={{"outer_dimension_partitions":["2"]}}',
        )  # fmt: skip

    def _use(self, value: Value, name: str, operand: int) -> None:
        value.uses.append(f"{name}, operand {operand}")
        value.last = max(value.last, self.step[name])

    def _schedule(self, name: str) -> None:
        self.step[name] = len(self.program.schedule)
        self.program.schedule.append(name)

    def _allocate(
        self, states: Sequence[Sequence[Value]], compare: Value, result: Value, rest: list[Value]
    ) -> None:
        program = self.program
        tables, counters, *leaves = zip(*states, strict=True)
        program.temporaries = [*tables, *counters, compare]
        for number, (shape, values) in enumerate(zip(self.shapes, leaves, strict=True)):
            kind = f", parameter {number}, shape |{bare(shape)}| at ShapeIndex {{}}, maybe-live-out"
            program.allocations.append(Allocation(kind, list(values)))
        output = f", output shape is |{bare(result.shape)}|, maybe-live-out"
        program.allocations.append(Allocation(output, [result]))
        program.allocations += [Allocation(", constant", [value]) for value in rest]

    def _module_header(self, result: str) -> str:
        count = len(self.shapes)
        aliases = ", ".join([f"{{{index}}}: ({index}, {{}}, may-alias)" for index in range(count)])
        return (
            f"HloModule {self.program.module_name}, is_scheduled=true, input_output_alias="
            f"{{ {aliases} }}, entry_computation_layout="
            f"{{({separated(self.shapes)})->{result}}}\n\n{stack_tables()}"
        )

    def _computations(self, states: Sequence[Sequence[Value]], result: Value) -> Iterator[str]:
        values = {value.name: value for value in self.program.values}
        condition, body, loop = (
            self.step[name] for name in ("arg_tuple.3", "arg_tuple.1", "while.1")
        )
        sources = {
            position: (state[0].name, index, value.shape)
            for state in states
            for index, value in enumerate(state[1:])
            for position in value.positions
            if position.startswith("get-tuple-element")
        }
        argument = f"(argument: {bare(self.state)})"

        def lines(start: int, end: int) -> Iterator[str]:
            for name in self.program.schedule[start:end]:
                if name in sources:
                    source, index, shape = sources[name]
                    text = f"{shape} get-tuple-element(%{source}), index={index}"
                else:
                    text = values[name].text
                is_root = name in {"tuple.6", "tuple.7", "wrapped_compare"}
                yield f"  {'ROOT ' if is_root else ''}%{name} = {text}\n"

        for number, shape in enumerate(("s32[]", *self.shapes)):
            yield fused_computation(Fusion(number, (shape,), shape, None))
        yield f"%region_0.2 {argument} -> {bare(self.state)} {{\n"
        yield from lines(body, loop)
        yield f"}}\n\n%region_1.3 {argument} -> pred[] {{\n"
        yield from lines(condition, body)
        names = [f"kernel__.{leaf}: {bare(shape)}" for leaf, shape in enumerate(self.shapes)]
        yield f"}}\n\nENTRY %main.1 ({', '.join(names)}) -> {bare(result.shape)} {{\n"
        yield from lines(0, condition)
        yield from lines(loop, len(self.program.schedule))
        yield "}\n\n"


def _indices() -> Iterator[str]:
    yield "{}"
    yield from (f"{{{index}}}" for index in count())


def _metadata(part: str, frame: int) -> str:
    return f'metadata={{op_name="{OP}{part}" stack_frame_id={frame}}}'


def _join(states: Sequence[Sequence[Value]]) -> None:
    """End each value when its successor begins, in the same place.

    The table of the body is read once and freed before the next one is made.
    """
    for earlier, later in pairwise(states):
        for before, after in zip(earlier, later, strict=True):
            after.overwrites = before
            if before.name != "arg_tuple.1" or before.index != "{}":
                before.last = after.first
