"""A program whose forward pass is recomputed in parts, in the order that a compiler makes for it.

A checkpoint outside of loops saves what the order of the recomputed instructions allows: on a CPU,
which drops the barriers, all layers may be recomputed before the first one is needed. So the
instructions that the backward pass needs again are added to the module, and the scheduler's rule
orders them with all others. A GPU takes the best of three orders.

Without barriers, an instruction of a part that reads nothing recomputed is merged with the one that
it repeats, unless XLA fuses it otherwise with others. With barriers, a part is recomputed when the
gradient of its result is known: `jax.checkpoint` puts one barrier around what it keeps and that
gradient. An instruction that makes values of several parts, such as all masks, is not repeated.

The parts are those that need the fewest bytes (`recomputed_values`) in the order of that rule.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.kept_results import kept
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.live_orders import live_orders
from xlagraph.planner.edits.loop_stacks import loop_stacks
from xlagraph.planner.edits.passes import forward_instructions
from xlagraph.planner.edits.recomputed_values import Parts, parts_of_forward_pass
from xlagraph.planner.memory_plan import plan_memory
from xlagraph.planner.orders.choice_of_three import choice_of_three
from xlagraph.planner.orders.elided_copies import with_copies
from xlagraph.planner.orders.order_ranges import Ranges
from xlagraph.planner.orders.ordered_program import Reordering
from xlagraph.planner.orders.rules import order_of, post_order
from xlagraph.planner.orders.schedulable import SchedulableProgram, SchedulableValue
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue

_FEWEST: Final = 3
"""Fewest parts: two are no layers, and fused otherwise if recomputed."""
_ALONE: Final = ("wrapped_", "ynn_fusion", "onednn_fusion")
"""Beginnings of the names of fusions of one instruction, and of those that a library computes."""
_NOT_READING: Final = PASSING_ON - {"call"}
"""Opcodes of instructions that compute nothing of a stack; a called function may."""


@kept
def saved_in_parts(
    stored: StoredCompilation, memory_space: int = 0, *, again: bool = False
) -> int | None:
    """Return the bytes that recomputing the forward pass in parts saves in the order for memory.

    With ``again``, what checkpoints recompute already belongs to the forward pass. None if there is
    no forward pass outside of loops. Raises QueryError if that order cannot be planned.
    """
    orders, compilation = live_orders(stored, memory_space), plannable_compilation(stored)
    if again:
        compilation = compilation.without_checkpoints
    longer = recomputed_in_parts(orders.reordering, compilation, orders.ordered.program)
    if longer is None:
        return None
    if compilation.is_gpu:
        chosen, by_rule = choice_of_three(longer)
        order = by_rule[chosen]
    else:
        order = order_of(longer.schedulable, orders.chosen.rule)
    plan = plan_memory(longer.program(longer.flat(order)), compilation.replays)
    return compilation.plan.reserved_bytes(memory_space) - plan.reserved_bytes(memory_space)


def recomputed_in_parts(
    found: Reordering, compilation: PlannableCompilation, ordered: PlannedProgram
) -> Reordering | None:
    """Return the program that recomputes its forward pass in parts, in an order to be chosen.

    ``ordered`` is the program as it is, in the order whose parts are recomputed. None if there is
    no forward pass outside of loops, or none with layers.
    """
    forward = forward_instructions(found.schedulable, compilation)
    parts = parts_of_forward_pass(compilation, ordered)
    if parts.part_count < _FEWEST:
        return None
    added = _Added.of(found, forward, parts, ordered, has_barriers=compilation.keeps_barriers)
    return added.reordering(compilation) if added.clones else None


def _is_of_no_layer(program: SchedulableProgram, step: int) -> bool:
    """Return True for a loop, and for the copy of a parameter."""
    each = program.instructions[step]
    is_given = all(program.instructions[it].opcode == "parameter" for it in each.operands)
    return each.opcode == "while" or (each.opcode == "copy" and is_given)


@dataclass(frozen=True, slots=True)
class _Added:
    """Instructions that are added to a program to recompute what the backward pass reads."""

    found: Reordering
    forward: frozenset[int]
    clones: dict[int, int]
    """Added instruction, by the one that it repeats."""
    part_of: Mapping[int, int] | None
    """The part of each repeated instruction, if barriers order it; else None."""

    @classmethod
    def of(
        cls,
        found: Reordering,
        forward: frozenset[int],
        parts: Parts,
        ordered: PlannedProgram,
        *,
        has_barriers: bool,
    ) -> "_Added":
        program = found.schedulable
        by_id = found.planned.by_id
        kept_sets = {ordered.by_id[each].buffer_set for each in parts.kept}
        kept = {
            program.step_in_entry(value.defined_at)
            for value in program.values
            if (planned := by_id.get(value.value_id)) is not None
            and (planned.is_stored or planned.lives_out or planned.buffer_set in kept_sets)
        }
        own_parts: defaultdict[int | None, set[int]] = defaultdict(set)
        for value in program.values:
            if (planned := ordered.by_id.get(value.value_id)) is not None:
                begin = parts.made_early.get(value.value_id, planned.live_from)
                own = bisect_right(parts.begins, begin)
                own_parts[program.step_in_entry(value.defined_at)].add(own)
        if has_barriers:  # belongs to no part, or to several, such as masks of all layers
            kept |= {step for step in forward if _is_of_no_layer(program, step)}
            kept |= {step for step in forward if len(own_parts[step]) > 1}
        steps = program.computations[program.entry].instructions
        read = {
            operand
            for step in steps
            if step not in forward
            for operand in program.instructions[step].operands
        }

        def needed_by(step: int) -> Collection[int]:
            return () if step in kept else forward.intersection(program.instructions[step].operands)

        needed = set(reached(read & forward, needed_by))
        numbers = count(len(program.instructions))
        clones: dict[int, int] = {}
        for step in post_order(program, program.entry):
            each = program.instructions[step]
            if step in needed and step not in kept and each.opcode not in ("parameter", "constant"):
                is_fused = each.opcode == "call" or (
                    each.opcode == "fusion" and not each.name.startswith(_ALONE)
                )
                is_made_again = each.defined_bytes if has_barriers else is_fused
                if is_made_again or not clones.keys().isdisjoint(each.operands):
                    clones[step] = next(numbers)
        if not has_barriers:
            return cls(found, forward, clones, None)
        part_of: dict[int, int] = {}
        for step in clones:  # operands first; what is not kept belongs to one part
            each = program.instructions[step]
            own = min(own_parts[step], default=0)
            part_of[step] = max((part_of[it] for it in each.operands if it in part_of), default=own)
        return cls(found, forward, clones, part_of)

    def reordering(self, compilation: PlannableCompilation) -> Reordering:
        """Return the program with the added instructions, whose order can be chosen."""
        found, program = self.found, self.found.schedulable
        entry = program.computations[program.entry]
        instructions = list(program.instructions)
        for step in entry.instructions:
            if step not in self.forward:
                each = instructions[step]
                instructions[step] = each._replace(operands=self._cloned(each.operands))
        gradients = self._gradients_of_parts()
        for step in self.clones:
            each = program.instructions[step]
            instructions.append(
                each._replace(
                    name=f"{each.name}.remat",
                    operands=self._cloned(each.operands),
                    control_predecessors=gradients.get(step, ()),
                    callees=(),
                )
            )
        values = [self._without_moved_uses(value) for value in program.values]
        unused = self._unread_stacks(compilation, values)
        planned, made = self._values()
        with_clones = replace(
            program,
            instructions=tuple(instructions),
            computations={
                **program.computations,
                program.entry: replace(
                    entry, instructions=(*entry.instructions, *self.clones.values())
                ),
            },
            values=(*values, *made.values()),
        )
        overwrites = dict(found.planned.overwrites)
        for value_id, clone in made.items():
            overwrites[clone.value_id] = tuple(
                each._replace(value_id=made[each.value_id].value_id)
                if each.value_id in made
                else each
                for each in overwrites.get(value_id, ())
            )
        return replace(
            found,
            planned=replace(
                found.planned,
                values=(*(_empty_in(unused, each) for each in found.planned.values), *planned),
                overwrites=overwrites,
            ),
            schedulable=with_copies(with_clones) if compilation.is_gpu else with_clones,
            ranges=Ranges(with_clones, found.ranges.rules),
        )

    def _gradients_of_parts(self) -> dict[int, tuple[int, ...]]:
        """Return what each repeated instruction waits for: the gradient of its part's result.

        The backward pass reads the gradient next to values of the part, and has it before it first
        reads any of the part or of an earlier one.
        """
        if self.part_of is None:
            return {}
        program = self.found.schedulable
        steps: defaultdict[int, list[int]] = defaultdict(list)
        parts = dict(self.part_of)
        for step in reversed(self.clones):  # what several parts read is computed for the last one
            steps[parts[step]].append(step)
            for operand in program.instructions[step].operands:
                if operand in parts:
                    parts[operand] = max(parts[operand], parts[step])
        waiting: dict[int, tuple[int, ...]] = {}
        first = len(program.instructions)
        for part in sorted(steps):
            users = {user for step in steps[part] for user in program.users[step]} - self.forward
            first = min((first, *users))
            read = {operand for user in users for operand in program.instructions[user].operands}
            gradients = sorted(each for each in read - self.forward if each < first)
            waiting |= dict.fromkeys(steps[part], tuple(gradients))
        return waiting

    def _cloned(self, steps: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([self.clones.get(step, step) for step in steps])

    def _without_moved_uses(self, value: SchedulableValue) -> SchedulableValue:
        """Return a value with the reads of added instructions, less those that read a clone."""
        added = [self.clones[it] for it in map(self._in_entry, value.uses) if it in self.clones]
        if self._clone_of(value) is None:
            return value._replace(uses=(*value.uses, *added)) if added else value
        left = [it for it in value.uses if self._is_left(it)]
        # what a call passes to its computation is visible there
        seen = [it for it in value.positions if it == self._in_entry(it) or self._is_left(it)]
        return value._replace(uses=tuple(left), positions=tuple(seen))

    def _is_left(self, step: int) -> bool:
        """Return True unless an instruction reads what is recomputed."""
        found = self._in_entry(step)
        return found is None or found in self.forward

    def _in_entry(self, step: int) -> int | None:
        return self.found.schedulable.step_in_entry(step)

    def _clone_of(self, value: SchedulableValue) -> int | None:
        """Return the added instruction that makes a value again, if any does."""
        step = self._in_entry(value.defined_at)
        return None if step is None else self.clones.get(step)

    def _values(self) -> tuple[list[PlannedValue], dict[int, SchedulableValue]]:
        """Return the values of the added instructions; the second by the id that they repeat."""
        by_id = self.found.planned.by_id
        numbers = count(max(by_id, default=0) + 1)
        sets: dict[int, int] = {}
        planned: list[PlannedValue] = []
        made: dict[int, SchedulableValue] = {}
        for value in self.found.schedulable.values:
            if (clone := self._clone_of(value)) is None:
                continue
            value_id = next(numbers)
            number = sets.setdefault(value.buffer_set, value_id)
            made[value.value_id] = value._replace(
                value_id=value_id,
                defined_at=clone,
                positions=tuple(
                    [self.clones[each] for each in value.positions if each in self.clones]
                ),
                uses=tuple(self._uses_of_clone(value)),
                buffer_set=number,
            )
            if value.value_id in by_id:
                planned.append(
                    by_id[value.value_id]._replace(
                        value_id=value_id,
                        buffer_set=number,
                        lives_out=False,
                        operands=(),
                        reads=(),
                    )
                )
        return planned, made

    def _uses_of_clone(self, value: SchedulableValue) -> Iterator[int]:
        for use in value.uses:
            step = self._in_entry(use)
            if step in self.clones:
                yield self.clones[step]
            elif not self._is_left(use):
                yield use

    def _unread_stacks(
        self, compilation: PlannableCompilation, values: Collection[SchedulableValue]
    ) -> frozenset[int]:
        """Return the buffer sets that loops stacked for what now reads a clone."""
        program, by_id = self.found.schedulable, self.found.planned.by_id
        stacked = loop_stacks(compilation, self.found.planned, by_id)
        sets = {by_id[each].buffer_set for stacks in stacked for each in stacks.value_ids}
        read = {
            value.buffer_set
            for value in values
            for step in value.uses
            if step >= len(program.instructions)
            or (
                program.owners[step] == program.entry
                and program.instructions[step].opcode not in _NOT_READING
            )
        }
        return frozenset(sets - read)


def _empty_in(sets: Collection[int], value: PlannedValue) -> PlannedValue:
    return value._replace(size_bytes=0) if value.buffer_set in sets else value
