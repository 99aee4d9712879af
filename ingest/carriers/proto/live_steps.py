"""Derive the flat schedule, and the steps in which each value is live.

`HloLiveRange` (xla/hlo/utils/hlo_live_range.cc):

1. The schedule is flattened from the entry: a computation precedes the instruction that runs it.
2. A value begins at the step of its instruction, a parameter at the start of its computation.
3. A value ends at its last position or use; a value in the root of its computation ends one step
   after the computation. A loop reads at the step of its body's parameter, a call at the reads
   inside it. An entry parameter that is not donated is live to the end.
4. A value inside an asynchronous computation ends no earlier than the operation that waits for
   the computation.
5. If values must share bytes, each one ends at the step where the next one begins.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.shapes import index_text
from xlagraph.hlo.walks import reached
from xlagraph.ingest.carriers.proto.dataflow import Definition, Flow
from xlagraph.ingest.carriers.proto.module import Module, ProtoComputation
from xlagraph.ingest.plan import UsedValue


class Variant(NamedTuple):
    """A rule that differs in some releases."""

    name: str
    is_cut_early: bool = False
    """Rule of TensorFlow 2.8: if values share bytes, each one ends before the next begins."""
    reads_at_call: bool = False
    """Rule up to jaxlib 0.4.13: a call reads its operands at the step of the call."""
    is_sliced: bool = False
    """Rule of jaxlib 0.12 for GPUs and of libtpu 0.0.50: the result of an asynchronous computation
    begins at its start."""


class ModuleSchedule(NamedTuple):
    """The flat schedule."""

    steps: Mapping[str, int]
    """Step of each instruction, by name; in the order of the steps."""
    spans: Mapping[str, tuple[int, int]]
    """First step of each computation, and the step after its last one."""
    waits: Mapping[str, tuple[int, int]]
    """Steps of the start and end of each asynchronous computation, including nested ones."""


_CHAIN: Final = ("async-update", "async-done")
_FREE: Final = 1
_PLANNED_BY_OTHER_RULES: Final = 1
"""Color of VMEM, which TPUs do not plan in order of time."""


def flat_schedule(module: Module) -> ModuleSchedule:
    """Return the schedule of the entry computation with each computation once."""
    steps: dict[str, int] = {}
    spans: dict[str, tuple[int, int]] = {}

    def run(computation: ProtoComputation) -> None:
        first = len(steps)
        spans[computation.name] = first, first
        for instruction in computation.instructions:
            for inner in module.inner(instruction):
                if inner.is_scheduled and inner.is_on_main_thread and inner.name not in spans:
                    run(inner)
            steps[instruction.name] = len(steps)
        spans[computation.name] = first, len(steps)

    run(module.entry)
    return ModuleSchedule(steps, spans, dict(_waits(module, steps, spans)))


def _waits(
    module: Module, steps: Mapping[str, int], spans: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield every asynchronous computation with the steps of its start and its end."""

    def nested(name: str) -> Iterator[str]:
        for each in module.computations[name].instructions if name in spans else ():
            yield from (inner.name for inner in module.inner(each))

    for name in list(steps):
        start = module.instructions[name]
        if not start.is_async_start:
            continue
        computation = module.computations[start.computation or ""]
        waited = steps[name], steps[_end_of_chain(start, computation).name]
        for inner in reached((each.name for each in module.inner(start)), nested):
            if inner in spans:
                yield inner, waited


def _end_of_chain(start: Instruction, computation: ProtoComputation) -> Instruction:
    at = start
    while True:
        following = [each for each in computation.readers(at.name) if each.opcode in _CHAIN]
        if not following or following[0] is at:
            return at
        at = following[0]


def live_steps(
    module: Module,
    schedule: ModuleSchedule,
    flow: Flow,
    definitions: Mapping[int, Definition],
    buffer_sets: Mapping[int, int],
    variant: Variant,
) -> dict[int, tuple[int, int]]:
    """Return the first and last step of each scheduled value, by value id."""
    ranges = _StepRanges(module, schedule, variant)
    found = {
        used.value_id: ranges.of_value(used, definitions[used.value_id])
        for used in flow.used_values
        if definitions[used.value_id].instruction in schedule.steps
    }
    _cut(found, buffer_sets, overlap=0 if variant.is_cut_early else 1)
    return found


class _StepRanges:
    """Live ranges of values by rules 2 to 4."""

    def __init__(self, module: Module, schedule: ModuleSchedule, variant: Variant) -> None:
        self._module = module
        self._schedule = schedule
        self._variant = variant
        self._entry = module.entry.name
        self._donated = {
            (each.parameter_number, index_text(each.parameter_shape_index))
            for each in module.message.input_output_alias.entries
        }
        self._roots = {
            computation.root.name: spans[1]
            for name, spans in schedule.spans.items()
            if (computation := module.computations[name]).find_root() is not None
        }
        self._use_steps: dict[str, int] = {}

    def of_value(self, used: UsedValue, definition: Definition) -> tuple[int, int]:
        """Return the first and last step of a value, before rule 5."""
        name, index = definition
        instruction = self._module.instructions[name]
        computation = instruction.computation or ""
        first = self._schedule.steps[name]
        if instruction.opcode == "parameter":
            first = self._schedule.spans[computation][0]
        last = max(first, self._end_of_position(name))
        if computation in self._schedule.waits:
            begun, ended = self._schedule.waits[computation]
            last = max(last, ended)
            if self._variant.is_sliced and name in self._roots:
                first = begun
        for position, _ in used.positions[1:]:
            last = max(last, self._end_of_position(position))
        if instruction.opcode == "parameter" and computation == self._entry:
            stored = instruction.parameter_number, index_text(index)
            if stored not in self._donated:
                return first, len(self._schedule.steps)
        for user, _, _ in used.uses:
            last = max(last, self._step_of_use(user))
        return first, last

    def _end_of_position(self, name: str) -> int:
        found = self._roots.get(name)
        return self._schedule.steps.get(name, 0) if found is None else found

    def _step_of_use(self, name: str) -> int:
        found = self._use_steps.get(name)
        if found is None:
            found = self._use_steps[name] = self._new_step_of_use(name)
        return found

    def _new_step_of_use(self, name: str) -> int:
        instruction = self._module.instructions[name]
        steps = self._schedule.steps
        if instruction.opcode == "while":
            body = self._module.computations[instruction.callee("body") or ""]
            return max((steps.get(each.name, 0) for each in body.parameters.values()), default=0)
        if (
            instruction.opcode == "call"
            and not self._variant.reads_at_call
            and any(called in self._schedule.spans for called in instruction.called)
        ):
            return 0
        return steps.get(name, 0)


def _cut(ranges: dict[int, tuple[int, int]], buffer_sets: Mapping[int, int], overlap: int) -> None:
    """Apply rule 5; `overlap` is the number of steps that neighbours share."""
    members = grouped((buffer_sets.get(value_id, value_id), value_id) for value_id in ranges)
    for together in members.values():
        together.sort(key=lambda value_id: (*ranges[value_id], value_id))
        for one, other in pairwise(together):
            first, last = ranges[one]
            begun, ended = ranges[other]
            ranges[other] = begun, max(last, ended)
            ranges[one] = first, min(last, begun - 1 + overlap)


def trace_agrees(
    assignment: Message, ranges: Mapping[int, tuple[int, int]], colors: Mapping[int, int]
) -> bool | None:
    """Return whether XLA's heap traces agree with the ranges; None if no trace mentions them.

    A trace lists in order of time when a value is allocated, when it shares the bytes of another
    one, and when it is freed: first and last steps of the values must never decrease.
    """
    is_asked = False
    for trace in assignment.heap_simulator_traces:
        before = 0
        for event in trace.events:
            value_id = event.buffer_id
            if value_id not in ranges or colors.get(value_id) == _PLANNED_BY_OTHER_RULES:
                continue
            is_asked = True
            step = ranges[value_id][event.kind == _FREE]
            if step < before:
                return False
            before = step
    return True if is_asked else None
