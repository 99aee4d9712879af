"""Categories of a program's inputs: by their names, else by who reads them and what is returned.

The rules are in docs/measures.md, under "Categories".
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import mul
from typing import Final

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.op_names import primitive
from xlagraph.ingest.measures.input_categories import (
    Categorized,
    Category,
    category_of_input_name,
    category_of_leaf_name,
    category_of_patterns,
    sorted_array,
)
from xlagraph.ingest.measures.live_ranges import Span
from xlagraph.ingest.measures.phases import Phase, Phases
from xlagraph.ingest.plan import Plan, Value

_OTHER: Final = Categorized(Category.OTHER, None)
_BATCH: Final = Categorized(Category.BATCH, "an input that is not returned")
_STATE: Final = Categorized(Category.STATE, "an input that is returned")
_GRADIENT_RETURNED: Final = Categorized(Category.WEIGHT, "a gradient of its shape is returned")
_FROZEN: Final = Categorized(
    Category.WEIGHT, "not returned, read by a matrix product, without the dimension of a batch"
)
_FROZEN_LEAF: Final = Categorized(Category.WEIGHT, "in the same argument as such a weight")
_INTEGERS: Final = ("s", "u", "pred")
_PRODUCTS: Final = frozenset(("dot_general", "conv_general_dilated"))
_MOVING: Final = frozenset((
    "broadcast_in_dim", "convert_element_type", "copy", "dynamic_slice", "reshape", "slice",
    "squeeze", "transpose",
))  # fmt: skip
"""Primitives that hand on the elements of an input."""
_LEAF: Final = re.compile(r"(.*?)(?:\['[^']*'\]|\.\w+)$")
"""A leaf of an argument by its key or attribute: `base['w']`, `model.w`."""


@dataclass(eq=False)
class InputRules:
    """The inputs of a program, by the number of their allocation."""

    _plan: Plan
    _spans: Sequence[Span | None]
    _instructions: Mapping[str, Instruction]
    _phases: Phases
    _patterns: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        plan = self._plan
        self._allocations = {each.number: each for each in plan.allocations}
        self._end = None if plan.live_ranges is None else plan.live_ranges.max_step
        self._values = {
            value.allocation: value
            for value in reversed(plan.values)
            if self._allocations[value.allocation].parameter is not None
            and self._instructions[value.name].opcode in ("parameter", None)
            and not value.shape.is_tuple
        }
        self._found: dict[int, Categorized] = {}

    def categories(self) -> dict[int, Categorized]:
        """Return the category of each entry parameter, by the number of its allocation."""
        found = self._found
        for number, value in self._values.items():
            name = self._name(value)
            if name is None:
                continue
            if (named := category_of_patterns(name, self._patterns)) is not None:
                found[number] = Categorized(named, "a pattern of the user")
            elif (category := category_of_input_name(name)) is not None:
                found[number] = Categorized(category, "the name of the input")
        if len(found) < len(self._values):
            if self._phases.has_backward:
                self._of_training()
            else:
                self._without_backward({each.category for each in found.values()})
        for number in self._unnamed():
            name = self._name(self._values[number])
            leaf = category_of_leaf_name(name) if name is not None else None
            found[number] = _OTHER if leaf is None else Categorized(leaf, "the name of the input")
        return found

    def is_last(self, span: Span | None) -> bool:
        """Return True for a live range that ends with the program."""
        return span is not None and span.last == self._end

    def is_result(self, value: Value, span: Span | None) -> bool:
        """Return True for a result, or a part of one, that shares no bytes with an input."""
        if not self.is_last(span):
            return False
        allocation = self._allocations[value.allocation]
        return allocation.parameter is None and (
            allocation.maybe_live_out or allocation.output_shape is not None
        )

    def _name(self, value: Value) -> str | None:
        return self._instructions[value.name].attributes.op_name

    def _unnamed(self) -> list[int]:
        return [number for number in self._values if number not in self._found]

    def _shapes(self, category: Category) -> set[tuple[str, tuple[str, ...]]]:
        """Return the shapes of the inputs that have a category by now."""
        return {
            sorted_array(self._values[number].shape.bare)
            for number, each in self._found.items()
            if each.category is category
        }

    def _of_training(self) -> None:
        """Find categories of unnamed inputs in a program with a backward pass."""
        found, returned = self._found, self._returned
        unnamed = {number: self._values[number] for number in self._unnamed()}
        read = {number: self._phases.of_readers(value) for number, value in unnamed.items()}
        for number, value in unnamed.items():
            if not returned[number]:
                continue
            if (value.shape.dtype or "").startswith(_INTEGERS):
                found[number] = Categorized(Category.STATE, "returned, of integers")
            elif read[number] & {Phase.FORWARD, Phase.BACKWARD}:
                found[number] = (
                    Categorized(
                        Category.WEIGHT, "returned, and read in the forward or backward pass"
                    )
                    if self._is_trained(number, value)
                    else Categorized(Category.STATE, "returned, and no gradient changes it")
                )
        shapes = self._shapes(Category.WEIGHT)
        new_weights = self._new_weights()
        for number, value in unnamed.items():
            if number in found:
                continue
            if returned[number] is False:
                found[number] = _FROZEN if self._is_frozen(value) else _BATCH
            elif returned[number] and read[number] == {Phase.UPDATE}:
                found[number] = (
                    Categorized(
                        Category.OPTIMIZER_STATE,
                        "returned, read only after the backward pass, shape of a weight",
                    )
                    if sorted_array(value.shape.bare) in shapes
                    and (
                        new_weights is None
                        or any(each in new_weights for each in self._phases.values_made_of(value))
                    )
                    else Categorized(Category.STATE, "returned, and no weight is made of it")
                )
            elif returned[number] and None not in read[number]:
                found[number] = _STATE
            elif number in self._with_gradient:
                found[number] = _GRADIENT_RETURNED
        self._add_leaves_of_frozen(unnamed)

    def _without_backward(self, named: set[str]) -> None:
        """Find categories of unnamed inputs in a program without a backward pass."""
        found = self._found
        if Category.OPTIMIZER_STATE in named:
            shapes = self._shapes(Category.OPTIMIZER_STATE)
            for number in self._unnamed():
                if sorted_array(self._values[number].shape.bare) not in shapes:
                    continue
                if self._returned[number]:
                    found[number] = Categorized(
                        Category.WEIGHT, "returned, shape of the optimizer's state"
                    )
                elif self._returned[number] is False:
                    found[number] = Categorized(
                        Category.GRADIENT, "not returned, shape of the optimizer's state"
                    )
        if Category.WEIGHT in named:
            some_are_donated = any(map(self._is_donated, self._values))
            for number in self._unnamed():
                if self._returned[number] is False:
                    found[number] = _BATCH
                elif self._is_donated(number) or (self._returned[number] and not some_are_donated):
                    found[number] = _STATE
        elif not named & {Category.OPTIMIZER_STATE, Category.GRADIENT}:
            self._find_carried()

    def _find_carried(self) -> None:
        """Find state that the caller carries from call to call: a cache, a simulation.

        An input of the same shape that is not donated could be a gradient, and both an update.
        """
        read_only = {
            sorted_array(value.shape.bare)
            for number, value in self._values.items()
            if not self._is_donated(number)
        }
        for number in self._unnamed():
            array = sorted_array(self._values[number].shape.bare)
            if self._is_donated(number) and array not in read_only:
                self._found[number] = Categorized(Category.STATE, "a result takes its bytes")

    def _is_donated(self, number: int) -> bool:
        return self._allocations[number].maybe_live_out

    def _is_trained(self, number: int, value: Value) -> bool:
        """Return False if the new content of an input is made before any gradient.

        A result in the input's bytes is its new content. For an input that shares no bytes
        with a result, results of its shape decide if they agree, else what reads the input.
        """
        found = self._last_values.get(number if self._is_donated(number) else value.shape.bare, ())
        made = {self._phases.follows_gradient(each.name) for each in found if each is not value}
        return made == {True} if len(made) == 1 else self._phases.reach_backward(value)

    @cached_property
    def _last_values(self) -> Mapping[int | str, list[Value]]:
        """Values that live to the end, by allocation; results in bytes of no input, by shape."""
        found: defaultdict[int | str, list[Value]] = defaultdict(list)
        for value, span in zip(self._plan.values, self._spans, strict=True):
            if self.is_last(span):
                found[value.allocation].append(value)
                if self.is_result(value, span):
                    found[value.shape.bare].append(value)
        return found

    def _new_weights(self) -> set[int] | None:
        """Return the ids of the values that overwrite weights; None if a weight is not overwritten.

        A value from which none of them is computed is not optimizer state: an average of weights.
        """
        weights = [
            number for number, each in self._found.items() if each.category is Category.WEIGHT
        ]
        if not all(map(self._is_donated, weights)):
            return None
        return {each.value_id for number in weights for each in self._last_values.get(number, ())}

    def _is_frozen(self, value: Value) -> bool:
        """Return True for a matrix that a product reads and that has no dimension of a batch.

        The first dimension of a value in the forward pass is that of a batch, or several of them.
        """
        sizes = [each.size or 0 for each in value.shape.sizes[:-1]]
        if not sizes or not self._batch_sizes or (value.shape.dtype or "").startswith(_INTEGERS):
            return False
        leading = (*sizes, *accumulate(sizes, mul))
        return self._batch_sizes.isdisjoint(leading) and self._is_multiplied(value)

    @cached_property
    def _batch_sizes(self) -> set[int]:
        """First dimensions of what the forward pass computes."""
        return {
            value.shape.sizes[0].size or 0
            for value in self._plan.values
            if len(value.shape.sizes) > 1
            and self._phases.of(value.name) is Phase.FORWARD
            and primitive(self._phases.op_name(value.name)) not in _MOVING
        }

    def _is_multiplied(self, value: Value) -> bool:
        """Return True if a matrix product reads an input, also through copies and slices."""
        own = self._phases.op_name(value.name)
        readers = list(self._phases.readers.get(value.value_id, ()))
        seen: set[str] = set()
        while readers:
            reader = readers.pop()
            if reader in seen:
                continue
            seen.add(reader)
            name = self._phases.op_name(reader)
            done = primitive(name)
            if done in _PRODUCTS:
                return True
            if name in (None, own) or done in _MOVING:
                readers += self._phases.readers_of_results(reader)
        return False

    def _add_leaves_of_frozen(self, unnamed: Iterable[int]) -> None:
        """Let the other leaves of an argument with frozen weights be weights too."""
        leaves: defaultdict[str, list[int]] = defaultdict(list)
        for number in unnamed:
            name = self._name(self._values[number])
            leaf = _LEAF.match(name) if name is not None else None
            if leaf is not None and self._found.get(number) in (_FROZEN, _BATCH):
                leaves[leaf[1]].append(number)
        for numbers in leaves.values():
            if any(self._found[number] is _FROZEN for number in numbers):
                for number in numbers:
                    dtype = self._values[number].shape.dtype or ""
                    if self._found[number] is _BATCH and not dtype.startswith(_INTEGERS):
                        self._found[number] = _FROZEN_LEAF

    @cached_property
    def _by_shape(self) -> Mapping[str, list[int]]:
        """Inputs that share no bytes with a result, by shape."""
        separate: defaultdict[str, list[int]] = defaultdict(list)
        for number, value in self._values.items():
            if not self._is_donated(number):
                separate[value.shape.bare].append(number)
        return separate

    @cached_property
    def _results(self) -> tuple[Counter[str], Counter[str]]:
        """Numbers of results in bytes of their own, and of gradients among them, by shape."""
        results: Counter[str] = Counter()
        gradients: Counter[str] = Counter()
        for value, span in zip(self._plan.values, self._spans, strict=True):
            if self.is_result(value, span):
                is_gradient = self._phases.of(value.name) is Phase.BACKWARD
                (gradients if is_gradient else results)[value.shape.bare] += 1
        return results, gradients

    @cached_property
    def _returned(self) -> dict[int, bool | None]:
        """Whether a result takes the place of each input; None if that is unknown.

        An input that shares no bytes with a result is returned if as many results as such inputs
        have its shape, and not returned if none has. Results of the backward pass are gradients.
        """
        results, gradients = self._results
        returned: dict[int, bool | None] = dict.fromkeys(self._values, True)
        for shape, numbers in self._by_shape.items():
            count = results[shape]
            is_unknown = count or shape in gradients or self._end is None
            state = True if count >= len(numbers) else None if is_unknown else False
            returned |= dict.fromkeys(numbers, state)
        return returned

    @cached_property
    def _with_gradient(self) -> frozenset[int]:
        """Inputs of shapes of which as many gradients are returned, and nothing else."""
        results, gradients = self._results
        return frozenset(
            number
            for shape, numbers in self._by_shape.items()
            if not results[shape] and gradients[shape] == len(numbers)
            for number in numbers
        )
