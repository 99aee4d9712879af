"""Large values that are computed from each other, with the small values around them."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from xlagraph.advice.causes.loop_inputs import MIXING, has_window
from xlagraph.advice.causes.loop_readers import takes_parts
from xlagraph.advice.causes.peak_values import JOINED_PARTS, PeakProgram
from xlagraph.advice.causes.random_bits import makes_random_bits
from xlagraph.hlo.opcodes import COPYING, PASSING_ON
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import Operation

_SUMMING: Final = ("reduce", "dot")
_GROWTH: Final = 4
"""Least bytes of these values for each byte of a value that they are computed from, or that is
computed from them."""
_OUTER: Final = 64
"""Least bytes of the result for each byte of a factor of a product that computes no activations."""
_ROW_BY_ROW: Final = "TopK"
"""Target of the custom call that takes the largest elements of each row."""
_MIXING: Final = MIXING - {"reduce", "reduce-window", "convolution"}
_TAKING: Final = ("slice", "pad", "concatenate")
"""Opcodes with which a scan (jnp.cumprod) takes halves of its rows, and joins them again."""


@dataclass
class Region:
    """Temporaries that are computed from each other, with the small values around them."""

    program: PeakProgram
    first: StoredValue
    sets: set[int | None] = field(default_factory=set)
    values: list[StoredValue] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """Instructions that make these values."""
    ends: set[str] = field(default_factory=set)
    """Instructions that read these values, and make only small ones."""
    pieces: set[int] = field(default_factory=set)
    """Small values that are taken from these without a sum, as halves of halves of a scan are."""
    given: set[int] = field(default_factory=set)
    made: set[int] = field(default_factory=set)

    @property
    def labels(self) -> set[str]:
        """The labels of all values, also of those that share bytes with large ones."""
        return {each.label for each in self.values}

    @property
    def boundary_bytes(self) -> int:
        """The bytes of the small values that these are computed from, and that they become."""
        return self.bytes_of(self.given) + self.bytes_of(self.made)

    def bytes_of(self, value_ids: Collection[int]) -> int:
        """Return the bytes of values."""
        return sum(self.program.values[each].size_bytes for each in value_ids)

    def grow(self) -> bool:
        """Add all large values around; return False if one of them cannot be made in parts."""
        program = self.program
        self.sets.add(program.set_of(self.first))
        waiting = list(self.sets)
        while waiting:
            number = waiting.pop()
            members = () if number is None else program.program.sets[number]
            values = [program.values[each.value_id] for each in members]
            self.values += values
            for value in values:
                if value.is_phi and not makes_random_bits(program, value.name):
                    return False
                for name in (value.name, *program.readers_of.get(value.value_id, ())):
                    found = self._around(name)
                    if found is None:
                        return False
                    waiting += found - self.sets
                    self.sets |= found
        for around in (self.given, self.made):
            around -= self.pieces  # small until a piece turned out to be taken from the values
        # a loop over rows computes a few already
        computed = [program.instructions[each] for each in self.names]
        if any(_loop_of_rows(program, each.name) is not None for each in self.values):
            taken = [program.instructions[program.values[each].name] for each in self.given]
            if any(each.computes_with("dynamic-slice") for each in (*computed, *taken)):
                return False
        return bool(self.ends)

    @property
    def has_activations(self) -> bool:
        """True if products make values for a backward pass, which sums over a batch."""
        return any(value.is_backward for value in self.values) and any(
            name in self.program.products and not self._is_outer(name) for name in self.names
        )

    def _is_outer(self, name: str) -> bool:
        """Return True for a product of small values whose result is far larger than both.

        The gradient of a weighted sum is one, such as that of the colours along a ray.
        """
        program = self.program
        read = [program.values[each] for each in program.read_by.get(name, ())]
        largest = max((each.size_bytes for each in read), default=0)
        made = max(each.size_bytes for each in program.made_by[name])
        return made >= _OUTER * largest

    def _around(self, name: str) -> set[int | None] | None:
        """Return the sets of the large values that an instruction reads and makes."""
        program = self.program
        known = program.instructions[name]
        makes_bits = makes_random_bits(program, name)
        if known.opcode in ("call", "conditional"):
            return None
        is_small = self._is_small
        read = [program.values[each] for each in program.read_by.get(name, ())]
        if known.opcode in PASSING_ON and not makes_bits:
            is_of_input = not self._temporaries.issuperset(map(program.set_of, read))
            if known.opcode == "copy" and is_of_input:  # as large as the input
                return None
            if known.opcode not in COPYING or is_of_input:  # the state of a loop shares its bytes
                return set()
        made = [
            each
            for each in program.made_by.get(name, ())
            if each.dtype != "tuple"
            and not (known.opcode == "custom-call" and self._is_unread(each))  # a library's scratch
        ]
        if known.opcode not in COPYING and program.moves(name):
            return self._joined(name, made)
        if makes_bits:  # counters and keys are no results
            made = [each for each in made if not is_small(each)]
        if not made:  # the table of what a loop of random bits returns
            return set()
        if all(map(is_small, made)):
            if takes_parts(program, self.first, name):  # which the loop could compute
                return None
            is_sum = (
                any(map(known.computes_with, _SUMMING))
                or (known.computes_with("convolution") and not has_window(program, name))
                or known.target == _ROW_BY_ROW
                or self._adds_rows(name)
            )
            if is_sum:
                self.ends.add(name)
            elif self._mixes(name):
                return None
            elif any(map(known.computes_with, _TAKING)) or any(
                each.value_id in self.pieces for each in read
            ):
                self.pieces |= {each.value_id for each in made}
                self.names.add(name)
            else:
                return None
        else:
            if self._mixes(name):
                return None
            self.names.add(name)
        self.made |= {each.value_id for each in made if is_small(each)}
        self.given |= {each.value_id for each in read if is_small(each)} - self.made
        found = {program.set_of(each) for each in (*made, *read) if not is_small(each)}
        return found if found <= self._temporaries else None

    def _joined(self, name: str, made: Collection[StoredValue]) -> set[int | None] | None:
        """Return the sets of an array that a TPU joins in VMEM, and of that whose parts these are.

        None if it is a copy of an input. For one part, they are those of the array of this part.
        """
        program = self.program
        if program.instructions[name].target != JOINED_PARTS:
            ids = [each.value_id for each in made]
            readers = {reader for each in ids for reader in program.readers_of.get(each, ())}
            joined = (self._around(each) for each in readers if program.moves(each))
            return set().union(*filter(None, joined))
        wholes = program.wholes_read_by(name).difference(program.read_by.get(name, ()))
        sets = {program.set_of(each) for each in (*made, *(map(program.values.get, wholes)))}
        return sets if sets <= self._temporaries else None

    def _is_unread(self, value: StoredValue) -> bool:
        planned = self.program.planned(value)
        is_result = planned is not None and planned.lives_out
        return not (is_result or self.program.readers_of.get(value.value_id))

    def _mixes(self, name: str) -> bool:
        """Return True if parts of the operands are not enough for a part of the result.

        This does not count sums: they need all of the dimension that is summed.
        """
        known = self.program.instructions[name]
        return not _MIXING.isdisjoint(known.opcodes) or has_window(self.program, name)

    def _adds_rows(self, name: str) -> bool:
        """Return True for a scatter that adds, as the gradient of gathered rows does."""
        operation = self.program.operations.get(name)
        if operation is None or not self.program.computes_with(name, "scatter"):
            return False
        module = self.program.module
        scatters = (
            each
            for each in (operation, *self.program.fused_operations(operation))
            if each.opcode == "scatter"
        )
        return module is not None and all(
            any(inner.opcode == "add" for inner in module.computations.get(adding, ()))
            for each in scatters
            for adding in each.callees.get("to_apply", ("",))
        )

    def _is_small(self, value: StoredValue) -> bool:
        return (
            value.value_id not in self.pieces and value.size_bytes * _GROWTH < self.first.size_bytes
        )

    @cached_property
    def _temporaries(self) -> frozenset[int | None]:
        program = self.program  # a TPU makes some of them in VMEM
        return frozenset(map(program.set_of, (*program.temporaries, *program.elsewhere)))


def is_product(operation: Operation) -> bool:
    """Return True for a product of matrices, also of a library, and for a convolution."""
    return operation.opcode in ("dot", "convolution") or "lhs_contracting_dims" in operation.numbers


def is_sum(operation: Operation) -> bool:
    """Return True if an operation sums over a dimension, as the product that a TPU convolves."""
    return operation.opcode == "reduce" or (is_product(operation) and not operation.has_window)


def _loop_of_rows(program: PeakProgram, name: str) -> str | None:
    """Return the innermost loop around an instruction that does more than make random bits."""
    loop = program.instructions[name].loop
    while loop is not None and makes_random_bits(program, loop):
        loop = program.instructions[loop].loop
    return loop
