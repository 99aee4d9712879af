"""A compilation's values at its peak, with their readers and read steps."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Final

from xlagraph.advice.causes.reduction_steps import readers_without_steps
from xlagraph.hlo.descriptor_sets import ProtobufMissing
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.metadata import makes_every_op
from xlagraph.hlo.op_names import primitive
from xlagraph.hlo.opcodes import COPYING, FORWARDING
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.records import StoredInstruction, StoredUse, StoredValue
from xlagraph.planner.compilation.schedulable_compilation import schedulable_program
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.dimensions.inlined_calls import without_calls
from xlagraph.planner.dimensions.module_operations import ModuleOperations, Operation
from xlagraph.planner.edits.live_orders import LiveOrders, live_orders
from xlagraph.planner.edits.loop_stacks import MOVED_ELEMENTS, SAME_ELEMENTS, loop_stacks
from xlagraph.planner.edits.reordering_edit import Reorder
from xlagraph.planner.edits.schedules import Schedule, recomputes_early
from xlagraph.planner.orders.schedulable import SchedulableProgram
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue
from xlagraph.queries.errors import QueryError

JOINED_PARTS: Final = "ConcatBitcast"
"""Target of the custom call for an array that a TPU has fetched in parts."""
_MOVING: Final = ("copy-start", "copy-done", "slice-start", "slice", "async-done")
"""Opcodes with which a TPU takes values, or parts of them, to another memory space."""
_HANDED_ON: Final = FORWARDING | COPYING
"""Opcodes of instructions that read a value without computing anything."""
_NO_MODULE_TEXT: Final = "without module text nothing is replanned: this is a sum of sizes"
_NOT_EXACT: Final = "replanning does not reproduce XLA's plan: this is a sum of sizes"
_TOLERANCE: Final = 0.01
"""Part of the reserved bytes by which replanning may differ, for example because the parts of a
TPU's block are combined in another order. No finding is as small."""


class PeakProgram:
    """A compilation in one memory space, prepared for the search for causes."""

    def __init__(self, stored: StoredCompilation, memory_space: int) -> None:
        self.stored = stored
        self.memory_space = memory_space

    @cached_property
    def compilation(self) -> PlannableCompilation:
        """The compilation, read for planning."""
        return plannable_compilation(self.stored)

    @property
    def program(self) -> PlannedProgram:
        """The values with a live range, as XLA plans them."""
        return self.compilation.program

    @property
    def values(self) -> Mapping[int, StoredValue]:
        """All values, by id."""
        return self.compilation.values

    @cached_property
    def obstacle(self) -> str | None:
        """Why the compilation cannot be replanned; None if it can."""
        compilation = self.compilation
        if not compilation.has_buffer_sets or not compilation.has_ranges:
            return _NO_MODULE_TEXT
        own = compilation.reserved_bytes.get(self.memory_space, 0)
        before = compilation.plan.reserved_bytes(self.memory_space)
        return None if abs(before - own) <= _TOLERANCE * own else _NOT_EXACT

    @cached_property
    def recomputes_early(self) -> bool:
        """True if values are recomputed long before they are read: nothing orders them."""
        return not self.compilation.orders_recomputation and recomputes_early(self.schedulable)

    @cached_property
    def schedulable(self) -> SchedulableProgram | None:
        """The scheduled instructions and their dependences; None if these are not stored."""
        return schedulable_program(self.stored)

    @cached_property
    def memory_order(self) -> Reorder | None:
        """The edit to the memory-optimized order; None if that order cannot be planned."""
        orders = self.live_orders
        if orders is None:
            return None
        return Reorder(Schedule.MEMORY, orders.chosen, orders.ordered, orders.reordering)

    @cached_property
    def live_orders(self) -> LiveOrders | None:
        """Live bytes in both orders; None if the memory-optimized one cannot be planned."""
        try:
            return live_orders(self.stored, self.memory_space)
        except QueryError:
            return None

    @property
    def framework(self) -> str | None:
        """The framework that compiled the program; None if unknown."""
        return self.compilation.framework

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Row of each scheduled instruction in `schedulable`, by name."""
        found = () if self.schedulable is None else self.schedulable.instructions
        return {each.name: row for row, each in enumerate(found)}

    @cached_property
    def by_label(self) -> dict[str, StoredValue]:
        """All values, by label."""
        return {value.label: value for value in self.values.values()}

    @cached_property
    def instructions(self) -> dict[str, StoredInstruction]:
        """All instructions, by name."""
        return {each.name: each for each in self.stored.instructions}

    @cached_property
    def operations(self) -> Mapping[str, Operation]:
        """All operations of the module, by name; none if the module is not stored or read."""
        return {} if self.module is None else self.module.by_name

    @cached_property
    def module(self) -> ModuleOperations | None:
        """The operations of the module; None if it is not stored or read."""
        with suppress(ProtobufMissing):
            return self.stored.operations and without_calls(self.stored.operations)
        return None

    def fused_operations(self, fusion: Operation) -> Sequence[Operation]:
        """Return the operations of a fusion, operands first."""
        called = fusion.callees.get("calls", ())
        return () if self.module is None or not called else self.module.computations[called[0]]

    @cached_property
    def peak_step(self) -> int | None:
        """Step of the physical peak of the memory space; None without live ranges."""
        space = self.memory_space
        spaces = (each for each in self.stored.spaces if each.color == space)
        return next((each.physical_peak_step for each in spaces), None)

    @cached_property
    def temporaries(self) -> tuple[StoredValue, ...]:
        """Arrays that are neither inputs nor results, one for each buffer set, largest first."""
        return tuple(
            sorted(self._temporaries(), key=lambda value: (-value.size_bytes, value.value_id))
        )

    @cached_property
    def own_results(self) -> tuple[StoredValue, ...]:
        """Array results that take no input's bytes, largest first."""
        found = [
            value
            for each in dict.fromkeys(self.compilation.results)
            if (value := self.values.get(each)) is not None
            and (planned := self.planned(value)) is not None
            and not planned.is_table
            and planned.memory_space == self.memory_space
            and not any(member.is_stored for member in self.members_of(value))
        ]
        return tuple(sorted(found, key=lambda value: (-value.size_bytes, value.value_id)))

    @cached_property
    def at_peak(self) -> tuple[StoredValue, ...]:
        """Temporaries whose buffer set has a live member at the peak, largest first."""
        step = self.peak_step
        live = {
            value.buffer_set
            for value in self.program.values
            if step is not None and value.live_from <= step <= value.live_until
        }
        return tuple(value for value in self.temporaries if self.set_of(value) in live)

    @cached_property
    def temp_bytes_at_peak(self) -> int:
        """Total size of the temporaries at the peak."""
        return sum(value.size_bytes for value in self.at_peak)

    @cached_property
    def elsewhere(self) -> tuple[StoredValue, ...]:
        """Temporaries of the other memory spaces, as in a TPU's VMEM."""
        return tuple(self._temporaries(is_elsewhere=True))

    def _temporaries(self, *, is_elsewhere: bool = False) -> Iterator[StoredValue]:
        for members in self.program.sets.values():
            first = members[0]
            if (first.memory_space != self.memory_space) != is_elsewhere or first.is_table:
                continue
            if not any(member.is_stored or member.lives_out for member in members):
                yield self.values[first.value_id]

    def set_of(self, value: StoredValue | None) -> int | None:
        """Return the buffer set of a value; None without one, or without a live range."""
        planned = None if value is None else self.program.by_id.get(value.value_id)
        return planned.buffer_set if planned is not None else None

    def members_of(self, value: StoredValue) -> Sequence[PlannedValue]:
        """Return a value and all that must share its address; none without a live range."""
        number = self.set_of(value)
        return () if number is None else self.program.sets[number]

    def planned(self, value: StoredValue) -> PlannedValue | None:
        """Return the planned form of a value; None if it has no live range."""
        return self.program.by_id.get(value.value_id)

    def stack_of(self, value: StoredValue) -> StoredValue | None:
        """Return a value that must share its address, itself first, and that a loop stacks."""
        return value if value.stack_loop is not None else self._stacks.get(self.set_of(value))

    @cached_property
    def _stacks(self) -> dict[int | None, StoredValue]:
        """First value of each buffer set that a loop stacks."""
        found: dict[int | None, StoredValue] = {}
        for planned in self.program.values:
            value = self.values[planned.value_id]
            if value.stack_loop is not None:
                found.setdefault(planned.buffer_set, value)
        return found

    def is_alone(self, value: StoredValue) -> bool:
        """Return True if no other value must share a value's address."""
        return len(self.members_of(value)) == 1

    def is_copy_of_input(self, label: str) -> bool:
        """Return True for a copy of an input, which recomputing does not free."""
        value = self.by_label[label]
        planned, maker = self.planned(value), self.instructions.get(value.name)
        # a GPU changes the layout in a fusion, which has the op name of the loop that reads it
        moves = maker is not None and maker.computes_only(SAME_ELEMENTS)
        is_for_loop = moves and primitive(value.op_name) == "while"
        if planned is not None and planned.operands and (planned.is_copy or is_for_loop):
            return self.program.by_id[planned.operands[0]].is_stored
        is_moved = value.attributed_op_name in self._names_of_inputs
        return is_moved and self.stack_of(value) is None

    @cached_property
    def _names_of_inputs(self) -> frozenset[str]:
        return frozenset(each.op_name or "" for each in self.compilation.array_parameters)

    @cached_property
    def backward_stacks(self) -> frozenset[int]:
        """Stacks, with their copies, that only another loop reads, in the backward pass."""
        found = loop_stacks(self.compilation, self.program, self.program.by_id)
        return frozenset[int]().union(*(stacks.value_ids for stacks in found))

    def origin_of(self, value_id: int) -> int:
        """Return the first of a chain of copies."""
        planned = self.program.by_id.get(value_id)
        while planned is not None and planned.is_copy and planned.operands:
            value_id = planned.operands[0]
            planned = self.program.by_id.get(value_id)
        return value_id

    def sources_of(self, value: StoredValue) -> frozenset[int]:
        """Return a value and those of whose elements it only changes order, type or space."""
        found, waiting = frozenset((value.value_id,)), [value.value_id]
        while waiting:
            maker = self.instructions.get(self.values[waiting.pop()].name)
            if maker is not None and maker.computes_only(MOVED_ELEMENTS):
                waiting += (near := set(self.read_by.get(maker.name, ())) - found)
                found |= near
        return found

    @cached_property
    def read_steps(self) -> dict[int, list[int]]:
        """Steps at which an instruction computes with a value, in order; by value id."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for value_id, name, _, _ in self.stored.reads:
            reader = self.instructions.get(name)
            if reader is not None and reader.step is not None and reader.opcode not in _HANDED_ON:
                found[value_id].append(reader.step)
        return {value_id: sorted(steps) for value_id, steps in found.items()}

    @cached_property
    def read_by(self) -> dict[str, list[int]]:
        """Ids of the values that an instruction reads, by its name."""
        return grouped((use.instruction, use.value_id) for use in self.stored.reads)

    @cached_property
    def uses_by(self) -> dict[str, list[StoredUse]]:
        """Values that an instruction reads, with their operands, by its name."""
        return grouped((use.instruction, use) for use in self.stored.reads)

    def wholes_read_by(self, instruction: str) -> set[int]:
        """Return the values that an instruction reads; of parts that it joins, the wholes too."""
        read = {*self.read_by.get(instruction, ())}
        known = self.instructions.get(instruction)
        if known is not None and known.target == JOINED_PARTS:
            parts = [self.values[each].name for each in read]
            read.update(each for part in parts for each in self.read_by.get(part, ()))
        return read

    def moves(self, instruction: str) -> bool:
        """Return True for what only takes a value, or its parts, to another memory space."""
        known = self.instructions[instruction]
        if known.opcode not in _MOVING:
            return known.target == JOINED_PARTS
        made = (each for each in self.made_by.get(instruction, ()) if each.dtype != "tuple")
        return all(each.memory_space != self.memory_space for each in made)

    @cached_property
    def readers_of(self) -> dict[int, list[str]]:
        """Names of the instructions that read a value, by its id."""
        return grouped(readers_without_steps(self.stored.reads, self.values, self.instructions))

    def place_of(self, instruction: str) -> tuple[str | None, int | None]:
        """Return the user's file and line of an instruction, else those of the instruction."""
        for value in self.made_by.get(instruction, ()):
            if value.user_file is not None:
                return value.user_file, value.user_line
        known = self.instructions.get(instruction)
        if known is None or known.source_file is None or makes_every_op(known.source_file):
            return None, None
        return known.source_file, known.source_line

    @cached_property
    def products(self) -> frozenset[str]:
        """Names of the instructions that multiply matrices, or may: any custom call counts."""
        return frozenset(name for name, each in self.instructions.items() if each.may_multiply)

    def computes_with(self, instruction: str, opcode: str) -> bool:
        """Return True if an instruction has an opcode, or fuses one that has it."""
        known = self.instructions.get(instruction)
        return known is not None and known.computes_with(opcode)

    def is_backward(self, instruction: str) -> bool:
        """Return True if the backward pass runs an instruction."""
        return any(value.is_backward for value in self.made_by.get(instruction, ()))

    @cached_property
    def made_by(self) -> dict[str, list[StoredValue]]:
        """Values that an instruction makes, by its name."""
        return grouped((value.name, value) for value in self.values.values())
