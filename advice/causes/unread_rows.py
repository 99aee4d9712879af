"""Find values that are computed whole, although the program reads a part of them.

A language model that is asked for its next token needs the logits of the last one. The compiler
does not move the slice before the product: the program has to take the rows first.
"""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Final

from xlagraph.advice.causes.axes import Axes
from xlagraph.advice.causes.cause import Cause, Remedies, of_smaller
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.loop_inputs import MIXING
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.needed_only import readers_of_set
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.sliced_reads import parts_of_reads, share_of_reads
from xlagraph.hlo.shapes import index_numbers
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.dimension_trees import Tree, arrays
from xlagraph.planner.dimensions.module_operations import Operation
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_LEAST_SHARE: Final = 0.02
"""Smallest share of the reserved bytes of a value, or of one that it is computed from."""
MOST_READ: Final = Fraction(1, 2)
"""Largest share of a value that is called a part of it."""
_TAKING: Final = ("slice", "dynamic-slice", "gather")
_PADDING: Final = ("pad", "scatter")
_MOVING: Final = SAME_ELEMENTS | {"concatenate", "pad", "slice", "dynamic-slice"}
"""Opcodes of instructions that only put together what exists."""
_MIXING: Final = MIXING - {"reduce"}
_AT_ONCE: Final = _MIXING - {"reduce-window", "convolution"}

_UNREAD_ROWS: Final[Remedies] = {
    "jax": "Take the part before it is computed with: hidden[:, -1] @ w instead of"
    " (hidden @ w)[:, -1], x @ w[:, :k] instead of (x @ w)[:, :k], jnp.take_along_axis(hidden, ...)"
    " instead of that of the result; of a loop, compute with its last carry instead of the stack.",
    "tensorflow": "Take the part before it is computed with: layer(hidden[:, -1]) instead of"
    " layer(hidden)[:, -1], and return_sequences=False.",
    "pytorch": "Take the part before it is computed with: layer(hidden[:, -1]) instead of"
    " layer(hidden)[:, -1].",
}


def unread_rows(program: PeakProgram, named: Collection[str]) -> Iterator[Cause]:
    """Yield values of the forward pass of which only a part is read, with those made for them.

    Values that other causes have named are left out.
    """
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    found: dict[str, tuple[StoredValue, str, Fraction]] = {}
    axes: _RowAxes | None = None
    large = {value.value_id for value in program.temporaries if value.size_bytes >= least}
    for value in program.temporaries:
        read = program.read_by.get(value.name, ())
        if value.value_id not in large and large.isdisjoint(read):
            continue
        readers = readers_of_set(program, value)
        if not any(_takes(program, name) for name in readers):
            continue
        share = share_read(program, value, readers)
        if share > MOST_READ or value.label in named or program.module is None:
            continue
        axes = axes or _RowAxes(program, program.module)
        reader = min(readers, key=lambda name: (program.rows.get(name, 0), name))
        place = place_name(program, reader)
        reason = f"{place} reads at most {share} of it"
        gradients = [each for each in program.temporaries if _is_padded(program, each, value)]
        made_for = axes.made_for(value, readers, gradients)
        if all(each.size_bytes < least for each in made_for):
            continue
        for each in made_for:
            text = reason if each is value else f"computed only for {value.label}: {reason}"
            found.setdefault(each.label, (each, text, share))
    if found:
        yield of_smaller(
            program.compilation,
            "Values are computed whole, of which only a part is read",
            list(found.values()),
            _UNREAD_ROWS,
            likelihood=0.9,
        )


def share_read(program: PeakProgram, value: StoredValue, readers: Collection[str]) -> Fraction:
    """Return the most of a value that its readers take; 1 if it cannot be computed by rows."""
    members = [program.values[each.value_id] for each in program.members_of(value)]
    maker = program.instructions[value.name]
    if (
        value.is_backward
        or any(each.is_phi for each in members)
        or maker.computes_only(_MOVING)
        or _makes_others(program, value)
        or _is_moved(program, value)
        or any(_makes_all_at_once(program, each) for each in members)
    ):
        return Fraction(1)
    made = sum(
        each.size_bytes
        for name in readers
        for each in program.made_by.get(name, ())
        if not _is_padded(program, each, value)
    )
    if made > MOST_READ * value.size_bytes or not all(
        program.instructions[name].loop == maker.loop and _takes(program, name) for name in readers
    ):
        return Fraction(1)
    ids = {each.value_id for each in members}
    return share_of_reads(program, ids, readers, _TAKING)


def _takes(program: PeakProgram, instruction: str) -> bool:
    return any(program.computes_with(instruction, opcode) for opcode in _TAKING)


def _makes_others(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if a fusion makes another array too, such as sums, which may need the whole."""
    return any(
        made is not value and made.dimensions and program.readers_of.get(made.value_id)
        for made in program.made_by[value.name]
    )


def _is_padded(program: PeakProgram, value: StoredValue, whole: StoredValue) -> bool:
    """Return True for the gradient of a part, with zeros for all else of a value.

    A part that is gathered adds its gradient to an array of zeros.
    """
    if not value.is_backward or prod(value.dimensions) != prod(whole.dimensions):
        return False
    members = [program.values[each.value_id] for each in program.members_of(value)]
    makers = {each.name for each in members}
    padding = [
        name for name in makers if any(map(program.instructions[name].computes_with, _PADDING))
    ]
    read = (program.values[each] for name in makers for each in program.read_by.get(name, ()))
    return bool(padding) and all(
        each in (whole, *members) or each.size_bytes <= MOST_READ * whole.size_bytes
        for each in read
    )


def _is_moved(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if a fusion makes a value of parts of other arrays, or in another order.

    What is written into an array is a part of it, even if the compiler converts the whole array.
    """
    operation = program.operations.get(value.name)
    inside = {each.name: each for each in program.fused_operations(operation)} if operation else {}
    made = list(inside.values())[-1:]
    if made and made[0].opcode == "tuple" and (index := index_numbers(value.shape_index or "")):
        made = [inside[made[0].operands[index[0]].name]]
    while made and made[0].opcode in SAME_ELEMENTS:
        made = [inside[made[0].operands[0].name]]
    return any(each.opcode in (*_MOVING, "dynamic-update-slice", "parameter") for each in made)


def _makes_all_at_once(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if a part of a value cannot be computed by itself."""
    operation = program.operations.get(value.name)
    if operation is None:
        return True
    inside = program.fused_operations(operation) or (operation,)
    return any(
        each.opcode in _AT_ONCE and not _is_product(each) and not _is_batched(each)
        for each in inside
    )


class _RowAxes(Axes):
    """The dimensions of values, and what is computed row by row along one of them."""

    def made_for(
        self,
        value: StoredValue,
        readers: Collection[str],
        gradients: Sequence[StoredValue],
    ) -> list[StoredValue]:
        """Return a value with those that are made for it alone, row by row.

        Products with its gradients read no more rows than it has itself. None at all if each row
        reads another part of weights, or if it is not known which.
        """
        program = self.program
        read = {
            each
            for name in readers
            for made in program.made_by[name]
            if made not in gradients
            for each in self.of(made)
        }
        unread = list(self.of(value) - read)
        ids = {each.value_id for each in program.members_of(value)}
        parts = parts_of_reads(program, ids, readers, _TAKING)
        by_length = [each for each in unread if self.length(each) == parts]
        chosen = by_length if len(by_length) == 1 else unread
        is_kept = bool(chosen) and self._keeps(chosen, value.name)
        if program.computes_with(value.name, "fft") and not is_kept:
            return []
        is_gathered = any(program.computes_with(name, "gather") for name in readers)
        if is_gathered and (not chosen or self._is_of_weights(chosen, value)):
            return []
        if not is_kept:
            return [value, *gradients]
        found, makers, waiting = [value], {value.name}, [value.name]
        others = {name for each in gradients for name in program.readers_of.get(each.value_id, ())}
        while waiting:
            for value_id in program.read_by.get(waiting.pop(), ()):
                each = program.values[value_id]
                if each in found or not self._has_rows(each, chosen):
                    continue
                if readers_of_set(program, each) <= makers | others:
                    found.append(each)
                    if program.stack_of(each) is None and self._keeps(chosen, each.name):
                        makers.add(each.name)
                        waiting.append(each.name)
        return [*found, *self._computed_from(gradients, chosen)]

    def _computed_from(
        self, gradients: Sequence[StoredValue], axes: Collection[int]
    ) -> list[StoredValue]:
        """Return gradients with what is computed from their rows alone."""
        program = self.program
        found = list(gradients)
        for each in found:
            for name in program.readers_of.get(each.value_id, ()):
                read = [program.values[other] for other in program.read_by[name]]
                if all(other in found or self.of(other).isdisjoint(axes) for other in read):
                    found += [
                        made
                        for made in program.made_by.get(name, ())
                        if made not in found and self.of(made).issuperset(axes) and not made.is_phi
                    ]
        return found

    def _has_rows(self, value: StoredValue, axes: Collection[int]) -> bool:
        """Return True for a temporary of which a part can be computed, or stacked.

        A repeated number has any dimension of the length.
        """
        program = self.program
        is_repeated = all(self.length(each) in value.dimensions for each in axes) and not any(
            program.values[each].dimensions for each in program.read_by.get(value.name, ())
        )
        if program.set_of(value) not in self._temporaries or not (
            is_repeated or self.of(value).issuperset(axes)
        ):
            return False
        members = (program.values[each.value_id] for each in program.members_of(value))
        if any(each.is_phi for each in members):
            return program.stack_of(value) is not None
        is_transformed = program.computes_with(value.name, "fft")
        is_mixed = is_transformed and not self._keeps(axes, value.name)
        return not is_mixed and not _makes_all_at_once(program, value)

    def _is_of_weights(self, axes: Collection[int], product: StoredValue) -> bool:
        """Return True if a product has a dimension of an input, of which each row reads another.

        Gathered first, the input would have a part for each row.
        """
        program = self.program
        read = [program.values[each] for each in program.read_by.get(product.name, ())]
        return program.computes_with(product.name, "dot") and any(
            not self.of(each).isdisjoint(axes) and input_of(program, each) is not None
            for each in read
        )

    @cached_property
    def _temporaries(self) -> frozenset[int | None]:
        return frozenset(map(self.program.set_of, self.program.temporaries))

    def _keeps(self, axes: Collection[int], name: str) -> bool:
        """Return True if a row of an instruction's result needs that row of its operands alone."""
        operation = self.program.operations.get(name)
        return operation is not None and all(self._keeps_axis(each, operation) for each in axes)

    def _keeps_axis(self, axis: int, operation: Operation) -> bool:
        results = self.followed.results
        for each in self.program.fused_operations(operation) or (operation,):
            made = self._times(axis, results.get(each.name))
            read = [self._times(axis, results.get(given.name)) for given in each.operands]
            if max((made, *read)) and (made != 1 or max((0, *read)) > 1 or self._mixes(each, axis)):
                return False
        return True

    def _times(self, axis: int, tree: Tree | None) -> int:
        return max((self.parts(array).count(axis) for array in arrays(tree or ())), default=0)

    def _mixes(self, operation: Operation, axis: int) -> bool:
        """Return True if a row of a result may need other rows of an operand."""
        if operation.opcode == "convolution":
            return len(operation.numbers.get("out", ())) != len(("batch", "feature"))
        if _is_batched(operation):
            count = len(operation.numbers["fft_length"])
            made = arrays(self.followed.results.get(operation.name) or ())
            return any(axis in self.parts(array[-count:]) for array in made)
        return operation.opcode in _MIXING and not _is_product(operation)


def _is_batched(operation: Operation) -> bool:
    """Return True for Fourier transforms of several arrays, the first dimension of an operand."""
    transformed = operation.numbers.get("fft_length", ())
    lengths = operation.lengths
    return 0 < len(transformed) < len(lengths)


def _is_product(operation: Operation) -> bool:
    return "lhs_contracting_dims" in operation.numbers
