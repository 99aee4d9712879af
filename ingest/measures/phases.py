"""Phases of a training step: which instructions run before, in and after its backward pass."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.op_names import NAMES_OF_INPUTS, OF_PYTORCH, is_backward
from xlagraph.hlo.walks import reached
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.measures.origins import MOVING
from xlagraph.ingest.plan import Plan, Value


class Phase:
    """Phases of a training step: numbers, because enums take long to hash."""

    FORWARD: Final = 1
    BACKWARD: Final = 2
    UPDATE: Final = 3


_SUM_OF_GRADIENTS: Final = re.compile(r"(?:^|/)AddN(?:_\d+)?$")
"""Op names of what TensorFlow adds up outside of the scopes of its gradients."""


_GRADIENT_OF_OP: Final = re.compile(rf"{OF_PYTORCH}\w+_backward")
"""Op names of PyTorch's gradients of its own ops; other gradients are named as any op."""


@lru_cache(maxsize=1 << 14)
def _marked_phase(op_name: str) -> int | None:
    if is_backward(op_name):
        return Phase.BACKWARD
    return Phase.FORWARD if "jvp(" in op_name else None


class Phases:
    """The phase of each instruction.

    ``op_names`` has the attributed op name of each, ``sets`` the buffer set of each value, and
    ``of_autograd`` are the instructions that PyTorch's autograd makes.
    """

    def __init__(
        self,
        plan: Plan,
        spans: Sequence[Span | None],
        op_names: Mapping[str, str],
        instructions: Mapping[str, Instruction],
        sets: Sequence[int] | None = None,
        of_autograd: Collection[str] = frozenset(),
    ) -> None:
        self._plan = plan
        self._sets = sets
        self._set_of: dict[int, int] = {}
        self._states: dict[int | None, list[int]] = defaultdict(list)
        if sets is not None and any(each.opcode == "while" for each in instructions.values()):
            for value, buffer_set in zip(plan.values, sets, strict=True):
                self._set_of[value.value_id] = buffer_set
                if instructions[value.name].opcode in ("parameter", "while"):
                    self._states[buffer_set].append(value.value_id)
        self._spans = spans
        self._op_names = op_names
        has_gradient = any(_GRADIENT_OF_OP.search(op_names[name]) for name in of_autograd)
        self._of_autograd = of_autograd if has_gradient else frozenset()
        self._instructions = instructions
        self.readers: Final = {
            used.value_id: [use.instruction for use in used.uses] for used in plan.used_values or ()
        }
        """Names of the instructions that read each value."""
        self._made_by: dict[str, list[int]] = defaultdict(list)
        if self.readers:
            for value in plan.values:
                self._made_by[value.name].append(value.value_id)
        names = set(op_names.values())
        has_marks = Phase.BACKWARD in set(map(_marked_phase, names))
        self.has_backward: Final = has_marks or bool(self._of_autograd)
        self._has_forward_marks = any("jvp(" in name for name in names)
        self._after = self._made_after_backward() if self.has_backward else frozenset()
        self._found: dict[str, int | None] = {}
        self.of_all: int | None = None
        """The one phase of a program without a backward pass, once its inputs show it."""

    def of(self, instruction: str) -> int | None:
        """Return the phase in which an instruction runs; None if nothing shows it."""
        if instruction not in self._found:
            self._found[instruction] = self._found_phase(instruction)
        return self._found[instruction]

    def op_name(self, instruction: str) -> str | None:
        """Return the op name that an instruction is attributed to, else its own."""
        found = self._op_names.get(instruction)
        if found is None and instruction in self._instructions:
            found = self._instructions[instruction].attributes.op_name
        return found

    def _found_phase(self, instruction: str) -> int | None:
        op_name = self.op_name(instruction)
        if op_name is None or op_name in NAMES_OF_INPUTS:
            return None
        if instruction in self._of_autograd:
            return Phase.BACKWARD
        if (marked := _marked_phase(op_name)) is not None:
            return marked
        if instruction in self._after:
            is_of_gradient = (
                _SUM_OF_GRADIENTS.search(op_name) or instruction in self._read_by_autograd
            )
            return Phase.BACKWARD if is_of_gradient else Phase.UPDATE
        if self.has_backward:
            return None if self._has_forward_marks else Phase.FORWARD
        return self.of_all

    @cached_property
    def _read_by_autograd(self) -> frozenset[str]:
        """The instructions from which a value leads to one of PyTorch's autograd.

        Those that follow a gradient are of a checkpoint, which computes them again.
        """
        if not self._of_autograd:
            return frozenset()
        read: defaultdict[str, list[str]] = defaultdict(list)
        for name, made in self._made_by.items():
            for value_id in made:
                for reader in self.readers.get(value_id, ()):
                    read[reader].append(name)
        return frozenset(reached(self._of_autograd, read.get))

    def follows_gradient(self, instruction: str) -> bool:
        """Return True for an instruction of the backward pass, or one that reads its values."""
        return instruction in self._after or self.of(instruction) is Phase.BACKWARD

    def reach_backward(self, value: Value) -> bool:
        """Return True if an instruction of the backward pass reads a value, through any others."""
        return any(
            self.of(reader) is Phase.BACKWARD
            for value_id in self.values_made_of(value)
            for reader in self.readers.get(value_id, ())
        )

    def values_made_of(self, value: Value) -> Iterator[int]:
        """Return the ids of a value and of those computed from it, directly or through others."""

        def made_of(value_id: int) -> Iterator[int]:
            for reader in self.readers.get(value_id, ()):
                yield from self._states_of_loop(value_id, reader) or self._made_by[reader]

        return reached([value.value_id], made_of)

    def readers_of_results(self, instruction: str) -> Iterator[str]:
        """Yield the names of the instructions that read what an instruction makes."""
        for made in self._made_by[instruction]:
            yield from self.readers.get(made, ())

    def of_readers(self, value: Value) -> set[int | None]:
        """Return the phases that read an input, also in loops, and through copies of its name."""
        name = self._op_names.get(value.name)
        phases: set[int | None] = set()
        seen: set[int] = set()
        values = [value.value_id]
        while values:
            value_id = values.pop()
            if value_id in seen:
                continue
            seen.add(value_id)
            for reader in self.readers.get(value_id, ()):
                inside = self._states_of_loop(value_id, reader)
                if inside:
                    values += inside
                elif self._moves_without_name(reader) or (
                    name is not None and self._op_names.get(reader) == name
                ):
                    values += self._made_by[reader]
                else:
                    phases.add(self.of(reader))
        return phases

    def _moves_without_name(self, instruction: str) -> bool:
        """Return True for a copy or slice that belongs to no op.

        The module text of a sugared `slice-start` lacks the computation that slices.
        """
        known = self._instructions.get(instruction)
        return (
            known is not None
            and (known.opcode is None or known.opcode in MOVING)
            and self.op_name(instruction) is None
        )

    def _states_of_loop(self, value_id: int, reader: str) -> Sequence[int]:
        """Return the parameters and results of a loop that begins with a value."""
        known = self._instructions.get(reader)
        if known is None or known.opcode != "while":
            return ()
        return self._states.get(self._set_of.get(value_id), ())

    def _made_after_backward(self) -> frozenset[str]:
        """Return the instructions that read a value of the backward pass, also through others.

        Values are followed in the schedule's order, so not into the next iteration of a loop.
        The result of a loop follows what its body returns: they are one buffer set.
        """
        of_loops: dict[str, set[int]] = defaultdict(set)
        made: dict[str, list[int]] = defaultdict(list)
        """Buffer sets of the values that an instruction makes; `of_loops` those of a loop."""
        if self._states:
            for value, buffer_set in zip(self._plan.values, self._sets or (), strict=True):
                made[value.name].append(buffer_set)
                if self._instructions[value.name].opcode == "while" and not value.shape.is_tuple:
                    of_loops[value.name].add(buffer_set)
        order = sorted(
            [
                (span.first, value.value_id, value.name)
                for value, span in zip(self._plan.values, self._spans, strict=True)
                if span is not None
            ]
        )
        backward = {
            name
            for name, op_name in self._op_names.items()
            if _marked_phase(op_name) is Phase.BACKWARD
        } or {name for name in self._of_autograd if _GRADIENT_OF_OP.search(self._op_names[name])}
        found: set[str] = set()
        reached: set[int] = set().union(*(made.get(name, ()) for name in backward))
        """Sets of which an instruction of the backward pass, or a later one, makes a value."""
        for _, value_id, name in order:
            after = [] if reached.isdisjoint(of_loops.get(name, ())) else [name]
            if after or name in found or name in backward:
                after += self.readers.get(value_id, ())
            for each in after:
                if each not in found:
                    found.add(each)
                    reached.update(made.get(each, ()))
        return frozenset(found)
