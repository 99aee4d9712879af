"""Categories: the part that each value has in a program, in the words of its user.

The rules are in docs/measures.md, under "Categories", in the order of their application. Each uses
only what the dump states; a value that no rule finds is `other`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.op_names import OF_PYTORCH, is_recomputed
from xlagraph.ingest.measures.attribution import Attribution
from xlagraph.ingest.measures.categories_of_inputs import InputRules
from xlagraph.ingest.measures.categories_of_loops import categories_in_loops
from xlagraph.ingest.measures.input_categories import (
    Categorized,
    Category,
    category_of_patterns,
    sorted_array,
)
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.measures.memory_spaces import HOST
from xlagraph.ingest.measures.op_search import SearchRule
from xlagraph.ingest.measures.phases import Phase, Phases
from xlagraph.ingest.plan import Plan, Value

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
_LONGEST_WAY: Final = 16
"""Most copies and conversions of an input that follow each other."""
_GATHERING: Final = frozenset(("all-gather", "all-gather-start", "all-gather-done"))
_COLLECTIVE: Final = ("all-reduce", "all-to-all", "collective-", "ragged-all", "reduce-scatter")


def categories(
    plan: Plan,
    spans: Sequence[Span | None],
    owners: Sequence[Attribution | None],
    instructions: Mapping[str, Instruction],
    root_opcode: Callable[[Instruction], str | None],
    sets: Sequence[int] | None,
    patterns: tuple[tuple[str, str], ...] = (),
) -> tuple[Categorized, ...]:
    """Return the category of each of the plan's values, with its evidence.

    ``sets`` has the buffer set of each value, if it is known. ``patterns`` are the user's: pairs
    of a category and a part of a name.
    """
    rules = _Rules(plan, spans, owners, instructions, root_opcode, sets, patterns)
    found = rules.apply()
    if not patterns:
        return found
    names = [owner.op_name if owner is not None else "" for owner in owners]
    return tuple(map(partial(_by_patterns, patterns), found, names))


def _by_patterns(
    patterns: tuple[tuple[str, str], ...], found: Categorized, name: str
) -> Categorized:
    category = category_of_patterns(name, patterns)
    return found if category is None else Categorized(category, "a pattern of the user")


@dataclass(eq=False)
class _Rules:
    _plan: Plan
    _spans: Sequence[Span | None]
    _owners: Sequence[Attribution | None]
    _instructions: Mapping[str, Instruction]
    _root_opcode: Callable[[Instruction], str | None]
    _sets: Sequence[int] | None
    _patterns: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        plan, spans, instructions = self._plan, self._spans, self._instructions
        self._allocations = {each.number: each for each in plan.allocations}
        self._op_names = {
            value.name: owner.op_name
            for value, owner in zip(plan.values, self._owners, strict=True)
            if owner is not None
        }
        self._phases = Phases(
            plan, spans, self._op_names, instructions, self._sets, self._of_autograd()
        )
        self._recomputed = frozenset(filter(is_recomputed, set(self._op_names.values())))
        self._input_rules = InputRules(plan, spans, instructions, self._phases, self._patterns)
        self._inputs = self._input_rules.categories()
        self._input_by_instruction = {
            value.name: self._inputs[value.allocation]
            for value in plan.values
            if value.allocation in self._inputs and instructions[value.name].opcode == "parameter"
        }
        found = {each.category for each in self._inputs.values()}
        if not self._phases.has_backward:
            self._phases.of_all = _phase_of_program(found)
        self._weights = {
            sorted_array(value.shape.bare)
            for value in plan.values
            if value.allocation in self._inputs
            and self._inputs[value.allocation].category is Category.WEIGHT
        }

    def _of_autograd(self) -> frozenset[str]:
        """Return the instructions of PyTorch that have no line, where others have one.

        Autograd runs outside of Python.
        """
        of_pytorch = {
            value.name: owner.source_file is not None
            for value, owner in zip(self._plan.values, self._owners, strict=True)
            if owner is not None and owner.op_name.startswith(OF_PYTORCH)
        }
        if not any(of_pytorch.values()):
            return frozenset()
        return frozenset(name for name, has_line in of_pytorch.items() if not has_line)

    def apply(self) -> tuple[Categorized, ...]:
        """Return the category of each value; the state of a loop has that of the loop's result."""
        found = tuple(map(self._category, self._plan.values, self._spans, self._owners))
        if self._sets is None:
            return found
        return categories_in_loops(
            *(self._plan, found, self._sets, self._instructions, self._phases),
            weights=self._weights,
            inputs=self._inputs,
        )

    def _category(self, value: Value, span: Span | None, owner: Attribution | None) -> Categorized:
        allocation = self._allocations[value.allocation]
        if allocation.is_thread_local:
            return _OTHER
        instruction = self._instructions[value.name]
        if allocation.number in self._inputs and (
            instruction.opcode in ("parameter", None) or self._input_rules.is_last(span)
        ):
            return self._inputs[allocation.number]
        if allocation.is_constant or instruction.opcode == "constant":
            return _CONSTANT
        if value.memory_space == HOST:
            return _OFFLOADED
        if self._input_rules.is_result(value, span):
            return _OUTPUT
        return (
            self._of_collective(instruction)
            or self._of_scratch(value, instruction)
            or self._of_phase(value, owner)
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
        if phase is Phase.BACKWARD and sorted_array(value.shape.bare) not in self._weights:
            return _BACKWARD
        readers = set(map(self._phases.of, self._phases.readers.get(value.value_id, ())))
        if phase is None:
            return _OF_READERS.get(frozenset(readers)) or self._of_copy(value, owner)
        if phase is Phase.FORWARD:
            return _ACTIVATION if Phase.BACKWARD in readers else _FORWARD
        return _GRADIENT if Phase.UPDATE in readers else _BACKWARD

    def _of_copy(self, value: Value, owner: Attribution) -> Categorized:
        """Return the category of the input that a value is copied or converted from."""
        name = value.name
        for _ in range(_LONGEST_WAY if owner.rule is SearchRule.OPERAND else 0):
            if (found := self._input_by_instruction.get(name)) is not None:
                return Categorized(found.category, "a copy of an input")
            known = self._instructions.get(name)
            if known is None or len(known.operand_names) != 1:
                break
            name = known.operand_names[0]
        return _OTHER


def _phase_of_program(inputs: set[str]) -> int | None:
    """Return the one phase of a program without a backward pass, by its inputs."""
    if inputs & {Category.OPTIMIZER_STATE, Category.GRADIENT}:
        return Phase.UPDATE
    return Phase.FORWARD if Category.WEIGHT in inputs else None
