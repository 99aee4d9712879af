"""Categories: the part that each value has in a program, in the words of its user.

The rules are in docs/measures.md, under "Categories", in the order of their application. Each uses
only what the dump states; a value that no rule finds is `other`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.op_names import is_backward, is_recomputed
from xlagraph.ingest.measures.attribution import Attribution
from xlagraph.ingest.measures.input_categories import Category, category_of_input_name
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.measures.memory_spaces import HOST
from xlagraph.ingest.measures.op_search import Rule
from xlagraph.ingest.plan import Plan, Value

__all__ = ["Categorized", "categories"]


class Categorized(NamedTuple):
    """A category and the evidence for it."""

    category: Category
    reason: str | None
    """None if no rule applies."""


class _Phase:
    """Phases of a training step: numbers, because enums take long to hash."""

    FORWARD: Final = 1
    BACKWARD: Final = 2
    UPDATE: Final = 3


_OTHER: Final = Categorized(Category.OTHER, None)
_CONSTANT: Final = Categorized(Category.CONSTANT, "a constant")
_OFFLOADED: Final = Categorized(Category.OFFLOADED, "in the memory of the host")
_OUTPUT: Final = Categorized(Category.OUTPUT, "a result, in bytes of no input")
_ACTIVATION: Final = Categorized(
    Category.ACTIVATION, "made in the forward pass, read in the backward pass"
)
_FORWARD: Final = Categorized(Category.FORWARD, "made in the forward pass")
_RECOMPUTED: Final = Categorized(Category.RECOMPUTED, "its op name is of a recomputation")
_GRADIENT: Final = Categorized(
    Category.GRADIENT, "made in the backward pass, read after it, shape of a weight"
)
_BACKWARD: Final = Categorized(Category.BACKWARD, "made in the backward pass")
_MADE_AFTER: Final = Categorized(Category.UPDATE, "made in the update")
_OF_READERS: Final[Mapping[frozenset[int | None], Categorized]] = {
    frozenset((_Phase.FORWARD,)): Categorized(Category.FORWARD, "read only in the forward pass"),
    frozenset((_Phase.BACKWARD,)): Categorized(Category.BACKWARD, "read only in the backward pass"),
    frozenset((_Phase.UPDATE,)): Categorized(Category.UPDATE, "read only after the backward pass"),
}
"""Categories of values whose origin shows no phase, such as copies of inputs."""
_GATHERING: Final = frozenset(("all-gather", "all-gather-start", "all-gather-done"))
_COLLECTIVE: Final = ("all-reduce", "all-to-all", "collective-", "ragged-all", "reduce-scatter")


def categories(
    plan: Plan,
    spans: Sequence[Span | None],
    owners: Sequence[Attribution | None],
    instructions: Mapping[str, Instruction],
    root_opcode: Callable[[Instruction], str | None],
) -> tuple[Categorized, ...]:
    """Return the category of each of the plan's values, with its evidence."""
    return tuple(_Rules(plan, spans, owners, instructions, root_opcode).apply())


@lru_cache(maxsize=1 << 14)
def _marked_phase(op_name: str) -> int | None:
    if is_backward(op_name):
        return _Phase.BACKWARD
    return _Phase.FORWARD if "jvp(" in op_name else None


@lru_cache(maxsize=1 << 14)
def _array(shape: str) -> tuple[str, tuple[str, ...]]:
    """Return the type and the sorted dimensions, which a transposed array shares."""
    dtype, _, dimensions = shape.rstrip("]").partition("[")
    return dtype, tuple(sorted(dimensions.split(",")))


class _Rules:
    def __init__(
        self,
        plan: Plan,
        spans: Sequence[Span | None],
        owners: Sequence[Attribution | None],
        instructions: Mapping[str, Instruction],
        root_opcode: Callable[[Instruction], str | None],
    ) -> None:
        self._plan = plan
        self._spans = spans
        self._owners = owners
        self._instructions = instructions
        self._root_opcode = root_opcode
        self._allocations = {each.number: each for each in plan.allocations}
        self._readers = {
            used.value_id: [use.instruction for use in used.uses] for used in plan.used_values or ()
        }
        self._end = None if plan.live_ranges is None else plan.live_ranges.max_step
        self._made_by: dict[str, list[int]] = defaultdict(list)
        if self._readers:
            for value in plan.values:
                self._made_by[value.name].append(value.value_id)
        self._op_names = {
            value.name: owner.op_name
            for value, owner in zip(plan.values, owners, strict=True)
            if owner is not None
        }
        self._phases: dict[str, int | None] = {}
        names = set(self._op_names.values())
        self._recomputed = frozenset(filter(is_recomputed, names))
        self._has_backward = _Phase.BACKWARD in set(map(_marked_phase, names))
        self._has_forward_marks = any("jvp(" in name for name in names)
        self._after_backward = self._made_after_backward() if self._has_backward else frozenset()
        self._inputs = self._categories_of_inputs()
        found = {each.category for each in self._inputs.values()}
        self._phase_of_all = _phase_of_program(found) if not self._has_backward else None
        self._weights = {
            _array(value.shape.bare)
            for value in plan.values
            if value.allocation in self._inputs
            and self._inputs[value.allocation].category is Category.WEIGHT
        }

    def apply(self) -> Iterable[Categorized]:
        """Return the category of each value."""
        return map(self._category, self._plan.values, self._spans, self._owners)

    def _category(self, value: Value, span: Span | None, owner: Attribution | None) -> Categorized:
        allocation = self._allocations[value.allocation]
        if allocation.is_thread_local:
            return _OTHER
        instruction = self._instructions[value.name]
        if allocation.number in self._inputs and (
            instruction.opcode in ("parameter", None)
            or (span is not None and span.last == self._end)
        ):
            return self._inputs[allocation.number]
        if allocation.is_constant or instruction.opcode == "constant":
            return _CONSTANT
        if value.color == HOST:
            return _OFFLOADED
        if self._is_result(value, span):
            return _OUTPUT
        return (
            self._of_collective(instruction)
            or self._of_scratch(value, instruction)
            or self._of_phase(value, owner)
        )

    def _is_result(self, value: Value, span: Span | None) -> bool:
        """Return True for a result, or a part of one, that shares no bytes with an input."""
        allocation = self._allocations[value.allocation]
        return (
            allocation.parameter is None
            and (allocation.maybe_live_out or allocation.output_shape is not None)
            and span is not None
            and span.last == self._end
        )

    def _of_collective(self, instruction: Instruction) -> Categorized | None:
        opcode = instruction.opcode or ""
        if opcode == "fusion":
            opcode = self._root_opcode(instruction) or ""
        if opcode in _GATHERING:
            return Categorized(Category.GATHERED, "made by an all-gather")
        if opcode.startswith(_COLLECTIVE):
            return Categorized(Category.COLLECTIVE, "made by a collective")
        return None

    def _of_scratch(self, value: Value, instruction: Instruction) -> Categorized | None:
        if (
            instruction.opcode == "custom-call"
            and value.shape_index not in (None, "{}", "{0}")
            and value.shape.dtype in ("s8", "u8")
            and self._plan.used_values is not None
            and not self._readers.get(value.value_id)
        ):
            return Categorized(Category.SCRATCH, "bytes from a library call that nothing reads")
        return None

    def _of_phase(self, value: Value, owner: Attribution | None) -> Categorized:
        if value.shape.is_tuple or owner is None:
            return _OTHER
        if owner.op_name in self._recomputed and owner.rule is not Rule.READER:
            return _RECOMPUTED
        phase = self._phase(value.name)
        if phase is _Phase.UPDATE or (phase is None and not self._has_backward):
            return _MADE_AFTER if phase is not None else _OTHER
        if phase is _Phase.BACKWARD and _array(value.shape.bare) not in self._weights:
            return _BACKWARD
        readers = set(map(self._phase, self._readers.get(value.value_id, ())))
        if phase is None:
            return _OF_READERS.get(frozenset(readers), _OTHER)
        if phase is _Phase.FORWARD:
            return _ACTIVATION if _Phase.BACKWARD in readers else _FORWARD
        return _GRADIENT if _Phase.UPDATE in readers else _BACKWARD

    def _phase(self, instruction: str) -> int | None:
        """Return the phase in which an instruction runs; None if nothing shows it."""
        if instruction not in self._phases:
            self._phases[instruction] = self._found_phase(instruction)
        return self._phases[instruction]

    def _found_phase(self, instruction: str) -> int | None:
        op_name = self._op_names.get(instruction)
        if op_name is None and instruction in self._instructions:
            op_name = self._instructions[instruction].attributes.op_name
        if op_name is None:
            return None
        if (marked := _marked_phase(op_name)) is not None:
            return marked
        if instruction in self._after_backward:
            return _Phase.UPDATE
        if self._has_backward:
            return None if self._has_forward_marks else _Phase.FORWARD
        return self._phase_of_all

    def _made_after_backward(self) -> frozenset[str]:
        """Return the instructions that read a value of the backward pass, also through others.

        Values are followed in the order of the schedule, so not into the next turn of a loop.
        """
        order = sorted(
            (span.first, value.value_id, value.name)
            for value, span in zip(self._plan.values, self._spans, strict=True)
            if span is not None
        )
        backward = {
            name
            for name, op_name in self._op_names.items()
            if _marked_phase(op_name) is _Phase.BACKWARD
        }
        found: set[str] = set()
        for _, value_id, name in order:
            if name in found or name in backward:
                found.update(self._readers.get(value_id, ()))
        return frozenset(found)

    def _categories_of_inputs(self) -> dict[int, Categorized]:
        """Return the category of each entry parameter, by the number of its allocation."""
        values = {
            value.allocation: value
            for value in reversed(self._plan.values)
            if self._allocations[value.allocation].parameter is not None
            and self._instructions[value.name].opcode in ("parameter", None)
            and not value.shape.is_tuple
        }
        found: dict[int, Categorized] = {}
        for number, value in values.items():
            name = self._instructions[value.name].attributes.op_name
            category = category_of_input_name(name) if name is not None else None
            if category is not None:
                found[number] = Categorized(category, "the name of the input")
        unnamed = {number: value for number, value in values.items() if number not in found}
        if self._has_backward:
            returned = self._returned(values)
            read = {number: self._phases_of_readers(value) for number, value in unnamed.items()}
            shapes = {
                _array(values[number].shape.bare)
                for number, each in found.items()
                if each.category is Category.WEIGHT
            }
            for number, value in unnamed.items():
                if returned[number] and read[number] & {_Phase.FORWARD, _Phase.BACKWARD}:
                    found[number] = Categorized(
                        Category.WEIGHT, "returned, and read in the forward or backward pass"
                    )
                    shapes.add(_array(value.shape.bare))
            for number, value in unnamed.items():
                if number in found:
                    continue
                if returned[number] is False:
                    found[number] = Categorized(Category.BATCH, "an input that is not returned")
                elif returned[number] and read[number] == {_Phase.UPDATE}:
                    found[number] = (
                        Categorized(
                            Category.OPTIMIZER_STATE,
                            "returned, read only after the backward pass, shape of a weight",
                        )
                        if _array(value.shape.bare) in shapes
                        else Categorized(Category.STATE, "returned, read after the backward pass")
                    )
                elif returned[number] and None not in read[number]:
                    found[number] = Categorized(Category.STATE, "an input that is returned")
        elif any(each.category is Category.WEIGHT for each in found.values()):
            returned = self._returned(values)
            for number in unnamed:
                if returned[number] is False:
                    found[number] = Categorized(Category.BATCH, "an input that is not returned")
                elif returned[number]:
                    found[number] = Categorized(Category.STATE, "an input that is returned")
        return found | dict.fromkeys(unnamed.keys() - found.keys(), _OTHER)

    def _phases_of_readers(self, value: Value) -> set[int | None]:
        """Return the phases that read an input, also through copies and slices with its name."""
        name = self._op_names.get(value.name)
        phases: set[int | None] = set()
        seen: set[str] = set()
        readers = list(self._readers.get(value.value_id, ()))
        while readers:
            reader = readers.pop()
            if reader in seen:
                continue
            seen.add(reader)
            if name is not None and self._op_names.get(reader) == name:
                for made in self._made_by[reader]:
                    readers += self._readers.get(made, ())
            else:
                phases.add(self._phase(reader))
        return phases

    def _returned(self, inputs: Mapping[int, Value]) -> dict[int, bool | None]:
        """Return whether a result takes the place of each input; None if that is unknown.

        An input that shares no bytes with a result is returned if as many results as such inputs
        have its shape, and not returned if none has.
        """
        results = Counter(
            value.shape.bare
            for value, span in zip(self._plan.values, self._spans, strict=True)
            if self._is_result(value, span)
        )
        separate: dict[str, list[int]] = defaultdict(list)
        returned: dict[int, bool | None] = {}
        for number, value in inputs.items():
            if self._allocations[number].maybe_live_out:
                returned[number] = True
            else:
                separate[value.shape.bare].append(number)
        for shape, numbers in separate.items():
            count = results[shape]
            state = True if count >= len(numbers) else None if count or self._end is None else False
            returned |= dict.fromkeys(numbers, state)
        return returned


def _phase_of_program(inputs: set[Category]) -> int | None:
    """Return the one phase of a program without a backward pass, by its inputs."""
    if inputs & {Category.OPTIMIZER_STATE, Category.GRADIENT}:
        return _Phase.UPDATE
    return _Phase.FORWARD if Category.WEIGHT in inputs else None
