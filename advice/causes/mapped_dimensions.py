"""Find the dimensions that only mapped functions have, and what a loop over their parts keeps."""

import re
from collections.abc import Collection, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Final

from xlagraph.advice.causes.axes import Axes
from xlagraph.advice.causes.cause import PARTS
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.directions import OF_DIRECTIONS, are_directions
from xlagraph.advice.causes.names import knows_passes
from xlagraph.advice.causes.old_values import is_ordered_before
from xlagraph.advice.causes.sliced_reads import share_of_reads
from xlagraph.hlo.op_names import is_backward, is_per_example, of_first_computation
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.batch import kept_bytes
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_MOST_READ: Final = Fraction(1, 2)
_OF_DATA: Final = ("dot", "convolution", "gather", "dynamic-slice")
"""Opcodes outside of a mapped function that tell of a batch: rows of data, or layers of them."""
_IN_LOOP: Final = re.compile(r"while/body/.*vmap\(")
"""Op names of a function that is mapped in the body of a loop."""
_AROUND_LOOP: Final = re.compile(r"vmap\(.*while/body/(?!.*vmap\()")
"""Op names of a loop in a function that is mapped, and maps nothing itself."""
_OF_MAPPED: Final = re.compile(r"/transpose\(jvp\(vmap\(")
"""Op names of the gradient of a mapped function."""
_JOINING: Final = ("concatenate", "pad")
_WRITING: Final = (*_JOINING, "scatter", "dynamic-update-slice")
_MOST_BYTES: Final = 64
"""Most bytes of the condition of a loop."""
_REPEATING: Final = SAME_ELEMENTS | {"broadcast"}


class MappedAxes(Axes):
    """The dimensions of values, and which of them only mapped functions have."""

    def mapped(self, length: int) -> frozenset[int]:
        """Return the dimensions of this length that only a mapped function has.

        A result may have one number of each element, such as the fitness of each member.
        """
        program = self.program
        found = {
            axis
            for value in program.at_peak
            if is_per_example(value.known_op_name)
            for axis in self.of(value)
            if self.length(axis) == length
        }
        if length not in self._repeated:
            found -= self.given & self._differentiated
        found -= {
            axis
            for each in program.program.values
            if each.lives_out and not self._is_number_of_each(program.values[each.value_id])
            for axis in self._of_id(each.value_id)
        }
        # a mapped op that reduces a dimension has another one; a layer or data have a batch
        found = {axis for axis in found if not self._is_reduced_inside(axis)}
        found -= {
            axis for values in self._of_data.values() for each in values for axis in self.of(each)
        }
        lengths = self.followed.lengths
        found = {axis for axis in found - self._joined if not lengths.is_stacked(axis)}
        found = {axis for axis in found - self._stacked_by_loops if not lengths.is_group(axis)}
        return frozenset(found & self.alone - self._read_one_by_one(found))

    def directions(self, length: int) -> frozenset[int]:
        """Return the dimensions of this length that count directions of derivatives.

        Inputs and results may have them: the caller takes the derivatives in these directions.
        A number that is repeated has a dimension of its own, which alone counts nothing.
        """
        found = {
            axis
            for value in self.program.at_peak
            if length >= PARTS and OF_DIRECTIONS.search(value.known_op_name or "")
            for axis in self.of(value)
            if self.length(axis) == length
        }
        lengths = self.followed.lengths
        counted = frozenset(
            axis
            for axis in found
            # a loop that stacks computes one at a time already
            if not (lengths.is_group(axis) or lengths.is_stacked(axis))
            and are_directions(self, frozenset((axis,)))
            and not self._is_of_data(axis)
        )
        return frozenset() if all(map(lengths.is_free, counted)) else counted

    @cached_property
    def _of_data(self) -> dict[str, list[StoredValue]]:
        """Values that the forward pass computes from data outside of mapped functions, by maker."""
        program = self.program
        return {
            name: values
            for name, values in program.made_by.items()
            if any(program.computes_with(name, opcode) for opcode in _OF_DATA)
            and not program.is_backward(name)
            and self._is_outside(name)
            and program.instructions[name].op_name is not None  # else the name is its reader's
            and any(len(value.dimensions) > 1 for value in values)  # not one number of each
        }

    def _is_of_data(self, axis: int) -> bool:
        """Return True if derivatives with a dimension depend on data that have it."""
        program, schedulable = self.program, self.program.schedulable
        data, derivatives = (
            [program.rows[name] for name in names if name in program.rows]
            for names in (
                [name for name, made in self._of_data.items() if self._have(axis, made)],
                [
                    name
                    for name, made in program.made_by.items()
                    if self._have(axis, made) and OF_DIRECTIONS.search(made[0].known_op_name or "")
                ],
            )
        )
        return any(
            schedulable is None or is_ordered_before(schedulable, earlier, later)
            for earlier in data
            for later in derivatives
        )

    def _is_derivative(self, name: str) -> bool:
        """Return True if the function that is mapped takes a derivative there.

        The derivative of a function that is mapped, such as the inner loop of MAML, is none.
        """
        names = [each.known_op_name or "" for each in self.program.made_by[name]]
        return any(map(OF_DIRECTIONS.search, names)) and not any(map(_OF_MAPPED.search, names))

    def _have(self, axis: int, values: Collection[StoredValue]) -> bool:
        return any(axis in self.of(each) for each in values)

    def _is_number_of_each(self, value: StoredValue) -> bool:
        """Return True for a small array of one dimension that a mapped function makes."""
        is_mapped = is_per_example(value.known_op_name)
        return is_mapped and len(self.of(value)) == 1 and value.size_bytes < self._least

    @cached_property
    def _least(self) -> float:
        """Bytes of a value that is not small next to the largest one at the peak."""
        return max((value.size_bytes for value in self.program.at_peak), default=0) / PARTS

    def _read_one_by_one(self, axes: Collection[int]) -> set[int]:
        """Return the dimensions of which slices take more than a half: each element is needed.

        A loop can keep what is small, such as a loss of each element.
        """
        program = self.program
        slicing = {name for name in self._reducing(axes) if program.computes_with(name, "slice")}
        found: set[int] = set()
        for value in program.temporaries if slicing else ():
            readers = slicing.intersection(program.readers_of.get(value.value_id, ()))
            if value.size_bytes >= self._least and readers and not self.of(value).isdisjoint(axes):
                share = share_of_reads(program, {value.value_id}, readers, ("slice",))
                found |= self.of(value) if share > _MOST_READ else set()
        return found

    def _is_reduced_inside(self, axis: int) -> bool:
        """Return True if the mapped function reduces a dimension, which it then has itself.

        The condition of a mapped loop is a reduction over all, perhaps in two steps. The gradient
        of a mapped function may reduce its dimension, a mapped gradient does not.
        """
        return any(
            not self._is_outside(name)
            and (not self._is_differentiated(name) or self._is_derivative(name))
            and not self._is_number(name)
            and not self._is_step_of_number(name)
            for name in self._reducing({axis})
        )

    def _is_differentiated(self, name: str) -> bool:
        """Return True for an instruction of the backward pass that no checkpoint recomputes."""
        made = self.program.made_by.get(name, ())
        return any(is_backward(of_first_computation(each.known_op_name)) for each in made)

    def _is_number(self, name: str) -> bool:
        """Return True for an instruction that makes a few bytes, such as a loop's condition."""
        return all(value.size_bytes <= _MOST_BYTES for value in self.program.made_by.get(name, ()))

    def _is_step_of_number(self, name: str) -> bool:
        """Return True for partial results of which the next instructions make a few bytes."""
        made, readers_of = self.program.made_by[name], self.program.readers_of
        readers = [each for value in made for each in readers_of.get(value.value_id, ())]
        return bool(readers) and all(map(self._is_number, readers))

    @cached_property
    def _differentiated(self) -> frozenset[int]:
        """Dimensions that a backward pass has, or all where op names do not tell of passes.

        A gradient of a batch needs the activations of all examples, unless it is accumulated.
        """
        if not knows_passes(self.program):
            return self.given
        backward = (each for each in self.program.values.values() if each.is_backward)
        return frozenset(axis for value in backward for axis in self.of(value))

    @cached_property
    def _joined(self) -> frozenset[int]:
        """Dimensions that mapped functions put together of parts that have none of them."""
        program = self.program
        found: set[int] = set()
        for name, values in program.made_by.items():
            opcodes = _WRITING if any(map(self._is_state, values)) else _JOINING
            if self._is_outside(name) or not any(
                program.computes_with(name, opcode) for opcode in opcodes
            ):
                continue
            shapes = {value.dimensions for value in values}
            read = [program.values[each] for each in program.read_by.get(name, ())]
            parts = [each for each in read if each.dimensions and each.dimensions not in shapes]
            if parts:
                kept = frozenset[int]().union(*map(self.of, parts))
                found.update(axis for value in values for axis in self.of(value) - kept)
        return frozenset(found)

    def _is_state(self, value: StoredValue) -> bool:
        members = self.program.members_of(value)
        return any(self.program.values[each.value_id].is_phi for each in members)

    @cached_property
    def _stacked_by_loops(self) -> frozenset[int]:
        """Dimensions of the results that a loop over groups stacks: few at a time already.

        What is mapped around a loop has its dimension in stacks that the body does not map, too.
        """
        program = self.program
        inside, around = set[int](), set[int]()
        for value in program.temporaries:
            stack = program.stack_of(value)
            name = "" if stack is None else stack.known_op_name or ""
            if stack is not None and _AROUND_LOOP.search(name):
                around |= self.of(stack)
            elif stack is not None and stack.value_id not in program.backward_stacks:
                inside |= self.of(stack) if _IN_LOOP.search(name) else set()
        return frozenset(inside - around)

    @cached_property
    def _repeated(self) -> frozenset[int]:
        """Lengths by which mapped functions repeat matrices, as the state of each task.

        A batch of data has no matrix for each example.
        """
        program = self.program
        found = set()
        for value in program.values.values():
            if not is_per_example(value.known_op_name) or len(value.dimensions) < 3:
                continue
            only_repeats = program.instructions[value.name].computes_only(_REPEATING)
            for each in program.read_by.get(value.name, ()):
                if not (only_repeats or self._is_factor(each)):
                    continue
                given = input_of(program, program.values[each])
                is_constant = given is None or given.opcode == "constant"
                if is_constant and not program.values[each].is_phi:
                    continue  # as the directions of a Hessian
                source = self._of_id(each)
                left = [self.length(axis) for axis in self.of(value) - source]
                if len(source) > 1 and source <= self.of(value) and len(left) == 1:
                    found.add(left[0])
        return frozenset(found)

    def _is_factor(self, value_id: int) -> bool:
        """Return True if a product reads a value: what is made of it elsewhere is a new weight."""
        return not self.program.products.isdisjoint(self.program.readers_of.get(value_id, ()))

    def _of_id(self, value_id: int) -> frozenset[int]:
        return self.of(self.program.values[value_id])

    def reader(self, axes: Collection[int]) -> str | None:
        """Return the first instruction after the mapped function that reduces a dimension.

        Without one, as of a loss that only its gradient needs, the first of the backward pass.
        """
        rows, is_backward = self.program.rows, self.program.is_backward
        found = [
            name for name in self._reducing(axes) if self._is_outside(name) or is_backward(name)
        ]
        return min(found, key=lambda name: (is_backward(name), rows.get(name, 0)), default=None)

    def _reducing(self, axes: Collection[int]) -> Iterator[str]:
        """Yield the instructions that read one of the dimensions and make no value with one."""
        program = self.program
        for name, read in program.read_by.items():
            made = program.made_by.get(name, ())
            if not made or program.instructions[name].opcode in PASSING_ON:
                continue
            if all(self.of(value).isdisjoint(axes) for value in made) and not all(
                self._of_id(each).isdisjoint(axes) for each in read
            ):
                yield name

    def kept(self, axes: Collection[int], part: Fraction) -> dict[int, Fraction]:
        """Return the part of its bytes that each value keeps in a loop over parts of the axes.

        What is read next to the loop, and not reduced there, is kept as a whole: if its readers
        make little of it, as kernels that combine several ops do, they can run in the loop.
        """
        program, lengths = self.program, self.followed.lengths
        new = {axis: part * self.length(axis) for axis in axes}
        scaled = lengths.scaled(new, self.given.difference(axes))
        kept = kept_bytes(program.compilation, self.followed, scaled)
        reducing = set(self._reducing(axes))
        inside = {value.value_id for value in program.temporaries}
        return {
            value_id: each
            for value_id, each in kept.items()
            if each < 1 and value_id in inside and self._is_inside(value_id, reducing)
        }

    def _is_inside(self, value_id: int, reducing: Collection[str]) -> bool:
        program, size = self.program, self.program.values[value_id].size_bytes
        members = program.members_of(program.values[value_id])
        readers = {name for each in members for name in program.readers_of.get(each.value_id, ())}
        return any(
            not self._is_outside(program.values[each.value_id].name) for each in members
        ) and all(
            name in reducing
            or program.instructions[name].opcode in PASSING_ON
            or not self._is_outside(name)
            or program.is_backward(name)
            or PARTS * sum(each.size_bytes for each in program.made_by[name]) <= size
            for name in readers
        )

    def _is_outside(self, name: str) -> bool:
        """Return True for an instruction that no mapped function has.

        What the compiler made for itself, without an op name, belongs to what is around it.
        """
        names = [each.known_op_name for each in self.program.made_by.get(name, ())]
        return any(names) and not any(map(is_per_example, names))
