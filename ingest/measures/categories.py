"""Categories: the part that each value has in a program, in the words of its user.

The rules are in docs/measures.md, under "Categories", in the order of their application. Each uses
only what the dump states; a value that no rule finds is `other`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.op_names import is_recomputed
from xlagraph.ingest.measures.attribution import Attribution
from xlagraph.ingest.measures.input_categories import (
    Category,
    category_of_input_name,
    category_of_leaf_name,
    category_of_patterns,
)
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.measures.memory_spaces import HOST
from xlagraph.ingest.measures.op_search import SearchRule
from xlagraph.ingest.measures.phases import Phase, Phases
from xlagraph.ingest.plan import Plan, Value

__all__ = ["Categorized", "categories"]


class Categorized(NamedTuple):
    """A category and the evidence for it."""

    category: str
    """A `Category`, or a name that the user gives."""
    reason: str | None
    """None if no rule applies."""


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
    frozenset((Phase.FORWARD,)): Categorized(Category.FORWARD, "read only in the forward pass"),
    frozenset((Phase.BACKWARD,)): Categorized(Category.BACKWARD, "read only in the backward pass"),
    frozenset((Phase.UPDATE,)): Categorized(Category.UPDATE, "read only after the backward pass"),
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
    patterns: tuple[tuple[str, str], ...] = (),
) -> tuple[Categorized, ...]:
    """Return the category of each of the plan's values, with its evidence.

    ``patterns`` are the user's: pairs of a category and a part of a name.
    """
    found = tuple(_Rules(plan, spans, owners, instructions, root_opcode, patterns).apply())
    if not patterns:
        return found
    names = [owner.op_name if owner is not None else "" for owner in owners]
    return tuple(map(partial(_by_patterns, patterns), found, names))


def _by_patterns(
    patterns: tuple[tuple[str, str], ...], found: Categorized, name: str
) -> Categorized:
    category = category_of_patterns(name, patterns)
    return found if category is None else Categorized(category, "a pattern of the user")


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
        patterns: tuple[tuple[str, str], ...],
    ) -> None:
        self._plan = plan
        self._spans = spans
        self._owners = owners
        self._instructions = instructions
        self._root_opcode = root_opcode
        self._patterns = patterns
        self._allocations = {each.number: each for each in plan.allocations}
        self._end = None if plan.live_ranges is None else plan.live_ranges.max_step
        self._op_names = {
            value.name: owner.op_name
            for value, owner in zip(plan.values, owners, strict=True)
            if owner is not None
        }
        self._phases = Phases(plan, spans, self._op_names, instructions)
        self._recomputed = frozenset(filter(is_recomputed, set(self._op_names.values())))
        self._inputs = self._categories_of_inputs()
        self._input_by_name = {
            op_name: self._inputs[value.allocation]
            for value in plan.values
            if value.allocation in self._inputs
            and instructions[value.name].opcode == "parameter"
            and (op_name := self._op_names.get(value.name)) is not None
        }
        found = {each.category for each in self._inputs.values()}
        if not self._phases.has_backward:
            self._phases.of_all = _phase_of_program(found)
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
            instruction.opcode in ("parameter", None) or self._is_last(span)
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
            and self._is_last(span)
        )

    def _is_last(self, span: Span | None) -> bool:
        return span is not None and span.last == self._end

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
            and not self._phases.readers.get(value.value_id)
        ):
            return Categorized(Category.SCRATCH, "bytes from a library call that nothing reads")
        return None

    def _of_phase(self, value: Value, owner: Attribution | None) -> Categorized:
        if value.shape.is_tuple or owner is None:
            return _OTHER
        if owner.op_name in self._recomputed and owner.rule is not SearchRule.READER:
            return _RECOMPUTED
        phase = self._phases.of(value.name)
        if phase is Phase.UPDATE or (phase is None and not self._phases.has_backward):
            return _MADE_AFTER if phase is not None else _OTHER
        if phase is Phase.BACKWARD and _array(value.shape.bare) not in self._weights:
            return _BACKWARD
        readers = set(map(self._phases.of, self._phases.readers.get(value.value_id, ())))
        if phase is None:
            return _OF_READERS.get(frozenset(readers)) or self._of_copy(owner)
        if phase is Phase.FORWARD:
            return _ACTIVATION if Phase.BACKWARD in readers else _FORWARD
        return _GRADIENT if Phase.UPDATE in readers else _BACKWARD

    def _of_copy(self, owner: Attribution) -> Categorized:
        """Return the category of the input that a value is copied or converted from."""
        found = self._input_by_name.get(owner.op_name)
        if found is None or owner.rule is not SearchRule.OPERAND:
            return _OTHER
        return Categorized(found.category, "a copy of an input")

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
            if name is None:
                continue
            if (named := category_of_patterns(name, self._patterns)) is not None:
                found[number] = Categorized(named, "a pattern of the user")
            elif (category := category_of_input_name(name)) is not None:
                found[number] = Categorized(category, "the name of the input")
        unnamed = {number: value for number, value in values.items() if number not in found}
        if self._phases.has_backward:
            returned = self._returned(values)
            read = {number: self._phases.of_readers(value) for number, value in unnamed.items()}
            shapes = {
                _array(values[number].shape.bare)
                for number, each in found.items()
                if each.category is Category.WEIGHT
            }
            for number, value in unnamed.items():
                if not returned[number]:
                    continue
                if (value.shape.dtype or "").startswith(("s", "u", "pred")):
                    found[number] = Categorized(Category.STATE, "returned, of integers")
                elif read[number] & {Phase.FORWARD, Phase.BACKWARD}:
                    if self._is_trained(number, value):
                        found[number] = Categorized(
                            Category.WEIGHT, "returned, and read in the forward or backward pass"
                        )
                        shapes.add(_array(value.shape.bare))
                    else:
                        found[number] = Categorized(
                            Category.STATE, "returned, and no gradient changes it"
                        )
            for number, value in unnamed.items():
                if number in found:
                    continue
                if returned[number] is False:
                    found[number] = Categorized(Category.BATCH, "an input that is not returned")
                elif returned[number] and read[number] == {Phase.UPDATE}:
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
        for number in unnamed.keys() - found.keys():
            name = self._instructions[values[number].name].attributes.op_name
            leaf = category_of_leaf_name(name) if name is not None else None
            found[number] = _OTHER if leaf is None else Categorized(leaf, "the name of the input")
        return found

    def _is_trained(self, number: int, value: Value) -> bool:
        """Return False if the new content of an input is made before any gradient.

        A result in the input's bytes is its new content. For an input that shares no bytes
        with a result, results of its shape decide if they agree, else what reads the input.
        """
        own = self._allocations[number].maybe_live_out
        made = {
            self._phases.follows_gradient(other.name)
            for other, span in zip(self._plan.values, self._spans, strict=True)
            if (
                other.allocation == number and other is not value and self._is_last(span)
                if own
                else self._is_result(other, span) and other.shape.bare == value.shape.bare
            )
        }
        return made == {True} if len(made) == 1 else self._phases.reach_backward(value)

    def _returned(self, inputs: Mapping[int, Value]) -> dict[int, bool | None]:
        """Return whether a result takes the place of each input; None if that is unknown.

        An input that shares no bytes with a result is returned if as many results as such inputs
        have its shape, and not returned if none has. Results of the backward pass are gradients.
        """
        results: Counter[str] = Counter()
        gradients: set[str] = set()
        for value, span in zip(self._plan.values, self._spans, strict=True):
            if not self._is_result(value, span):
                continue
            if self._phases.of(value.name) is Phase.BACKWARD:
                gradients.add(value.shape.bare)
            else:
                results[value.shape.bare] += 1
        separate: dict[str, list[int]] = defaultdict(list)
        returned: dict[int, bool | None] = {}
        for number, value in inputs.items():
            if self._allocations[number].maybe_live_out:
                returned[number] = True
            else:
                separate[value.shape.bare].append(number)
        for shape, numbers in separate.items():
            count = results[shape]
            is_unknown = count or shape in gradients or self._end is None
            state = True if count >= len(numbers) else None if is_unknown else False
            returned |= dict.fromkeys(numbers, state)
        return returned


def _phase_of_program(inputs: set[str]) -> int | None:
    """Return the one phase of a program without a backward pass, by its inputs."""
    if inputs & {Category.OPTIMIZER_STATE, Category.GRADIENT}:
        return Phase.UPDATE
    return Phase.FORWARD if Category.WEIGHT in inputs else None
