"""Find values far larger than what they are computed from, of which only reductions are read.

Kernels between all pairs of points, and likelihoods of all samples of a posterior, exist at once
only because one expression computes them for all rows. A loop over the rows needs those of a few.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Final

from xlagraph.advice.causes.axes import Axes
from xlagraph.advice.causes.cause import PARTS, Cause, Remedies, evidence_row
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.regions import Region, is_product, is_sum
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.hlo.shapes import index_numbers
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.dimension_trees import Tree, arrays
from xlagraph.planner.dimensions.module_operations import (
    NUMBERS_OF_WINDOW,
    Operation,
    maker_of,
)
from xlagraph.planner.edits.resizing import ComputeInParts
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.queries.catalogue.declarations import ChangeKind

_LEAST_SHARE: Final = 0.1
"""Least share of the reserved bytes that such values take at the peak."""
_MOST_PARTS: Final = 16
"""Most values in which they may come, as those of each layer: smaller ones are not looked at."""

_PRODUCTS: Final = ("dot", "convolution")

_EXPANDED: Final[Remedies] = {
    "jax": "Compute a few rows at a time, and reduce them immediately: jax.lax.map(f, rows,"
    " batch_size=k), where f computes what is read of one row (of one query, test point or"
    " sample), instead of one expression or jax.vmap(f) for all rows; sums over the rows belong"
    " in the carry of jax.lax.scan. Wrap f in jax.checkpoint if a gradient goes through it. Many"
    " libraries have an argument for it (batch_size, chunk_size).",
    "tensorflow": "Compute a few rows at a time in tf.map_fn or a tf.while_loop, and reduce them"
    " immediately.",
    "pytorch": "Compute a few rows at a time and reduce them immediately; torch.func.vmap has a"
    " chunk_size.",
}


def expanded_values(program: PeakProgram, named: Collection[str]) -> Iterator[Cause]:
    """Yield such values, unless other causes have named them."""
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    seen: set[int | None] = set()
    at_peak = frozenset(map(program.set_of, program.at_peak))
    found = _in_parts(program, program.at_peak, least, at_peak, seen, named)
    if found:  # then the next peak counts: values that are not live here
        everywhere = frozenset(map(program.set_of, program.temporaries))
        found += _in_parts(program, program.temporaries, least, everywhere, seen, named)
        yield _cause(program, found)


def _in_parts(
    program: PeakProgram,
    values: Collection[StoredValue],
    least: float,
    counted: Collection[int | None],
    seen: set[int | None],
    named: Collection[str],
) -> list[tuple[Region, int]]:
    """Return regions that a loop can compute, with the rows of each.

    One, or all that begin at one line, as in each layer, take at least so many bytes in the counted
    sets.
    """
    candidates: list[tuple[tuple[str | None, int | None], tuple[Region, int]]] = []
    grown = set(seen)
    for value in values:
        if (
            program.set_of(value) in grown
            or value.size_bytes * _MOST_PARTS < least
            or not value.dimensions
        ):
            continue
        region = Region(program, value)
        is_closed = region.grow()
        if not is_closed or region.labels & set(named):
            seen |= region.sets
            grown |= region.sets
            continue
        held = sum(
            each.size_bytes
            for each in program.temporaries
            if program.set_of(each) in region.sets and program.set_of(each) in counted
        )
        if 2 * region.boundary_bytes <= held:
            grown |= region.sets
            candidates.append((program.place_of(value.name), (region, held)))
    chosen = [
        region
        for regions in grouped(candidates).values()
        if sum(held for _, held in regions) >= least
        for region, _ in regions
    ]
    seen.update(*(region.sets for region in chosen))
    if not chosen or program.module is None:
        return []
    axes = _RegionAxes(program, program.module)
    return [
        (region, axes.rows(axis, region))
        for region in chosen
        if (axis := axes.axis_of_parts(region)) is not None
    ]


def _cause(program: PeakProgram, regions: Sequence[tuple[Region, int]]) -> Cause:
    parts: dict[str, Fraction] = {}
    rows = []
    for region, length in regions:
        values = [each for each in program.temporaries if program.set_of(each) in region.sets]
        reader = min(region.ends, key=lambda name: (program.rows.get(name, 0), name))
        place = place_name(program, reader)
        given, made = (human_bytes(region.bytes_of(each)) for each in (region.given, region.made))
        reason = (
            f"computed for all {length} rows from {given}; what reads them, such as {place},"
            f" makes {made}"
        )
        parts |= {each.label: Fraction(1, min(length, PARTS)) for each in values}
        rows += [evidence_row(each, reason) for each in values]
    return Cause(
        "peak/contributors",
        "Values far larger than what they are computed from are stored, although only reductions"
        " are read",
        ChangeKind.PARTS,
        ComputeInParts(parts),
        tuple(rows),
        _EXPANDED,
        likelihood=0.9,
    )


class _RegionAxes(Axes):
    """The dimensions of values, and along which of them a loop can compute a region."""

    def rows(self, axis: int, region: Region) -> int:
        """Return the length of the dimension of a region's values that an axis is a factor of.

        What a compiler sums in two steps, or a kernel reads in blocks, has factors of the rows.
        """
        lengths = self.followed.lengths
        indices = ((each.name, index_numbers(each.shape_index)) for each in region.values)
        wholes = (self.followed.at(*each) or () for each in indices)
        found = [each for each in chain.from_iterable(wholes) if axis in lengths.parts(each)]
        return min(map(lengths.length, found), default=lengths.length(axis))

    def axis_of_parts(self, region: Region) -> int | None:
        """Return the first dimension along which a loop can compute the values of a region.

        All have it, and what is reduced over it is not read to compute other ones. Activations are
        not reduced over it at all, as a batch is, and no product elsewhere is, as over features.
        """
        kept, products = set(region.names), frozenset[str]()
        if region.has_activations:
            products = self._products
            kept |= region.ends | products
        # a repeated number has dimensions of its own
        first = max(
            region.values, key=lambda each: (not self._is_of_numbers(each), each.size_bytes)
        )
        for axis in self.in_order(first):
            if (
                self.length(axis) >= PARTS
                and all(
                    any(self._has(axis, alike, first) for alike in self._aliases(each))
                    for each in region.values
                )
                and all(self._keeps(axis, name) for name in kept)
                and not any(self._contracts(axis, name) for name in products)
                and self._can_sum_at_once(axis, region)
            ):
                return axis
        return None

    @cached_property
    def _products(self) -> frozenset[str]:
        computes_with = self.program.computes_with
        return frozenset(
            name
            for name in self.program.made_by
            if any(computes_with(name, each) for each in _PRODUCTS)
        )

    def _has(self, axis: int, value: StoredValue, first: StoredValue) -> bool:
        """Return True if a value has a dimension, of which others of its shape may be repeated.

        Different lengths are in the same order in values that are computed with each other; so are
        equal ones, if a dimension that both have is, and none has another place. A mask that is
        computed from no array has any dimension.
        """
        if self._is_of_numbers(value):
            return True
        lengths = value.squeezed
        return axis in self.of(value) or (
            lengths == first.squeezed
            and (len(set(lengths)) == len(lengths) or self._are_aligned(value, first))
        )

    def _is_of_numbers(self, value: StoredValue) -> bool:
        """Return True if a value is computed from no array."""
        program = self.program
        read = program.read_by.get(value.name, ())
        return not any(program.values[each].dimensions for each in read)

    def _are_aligned(self, value: StoredValue, first: StoredValue) -> bool:
        """Return True if two values share dimensions, each at the same place in both."""
        own, others = self.in_order(value), self.in_order(first)
        shared = self.of(value) & self.of(first)
        return bool(shared) and all(own.index(each) == others.index(each) for each in shared)

    def _aliases(self, value: StoredValue) -> Iterator[StoredValue]:
        """Yield the values of a shape that share their bytes: those of a loop with its operand."""
        members = (self.program.values[each.value_id] for each in self.program.members_of(value))
        return (each for each in members if each.dimensions == value.dimensions)

    def _keeps(self, axis: int, name: str) -> bool:
        """Return True if nothing inside of an instruction is reduced over a dimension."""
        operation = self.program.operations.get(name)
        if operation is None:
            return False
        inside = self.program.fused_operations(operation) or (operation,)
        results = self.followed.results
        for each in inside:
            if is_sum(each):
                read = [results.get(operand.name, ()) for operand in each.operands]
                made = results.get(each.name, ())
                if self._is_in(axis, *read) and not self._is_in(axis, made):
                    return False
            if each.opcode == "reduce-window":
                sizes = each.numbers["window"][::NUMBERS_OF_WINDOW]
                arrays_read = arrays(results.get(each.operands[0].name, ()))
                if any(
                    size > 1 and axis in self.parts((dimension,))
                    for array in arrays_read
                    for dimension, size in zip(array, sizes, strict=True)
                ):
                    return False
        return True

    def _contracts(self, axis: int, name: str) -> bool:
        """Return True if a product sums over a dimension, of which its result may have as many."""
        operation = self.program.operations.get(name)
        inside = () if operation is None else self.program.fused_operations(operation)
        return any(
            axis in self.parts(array[number] for number in _summed(each))
            for each in (*inside, *(() if operation is None else (operation,)))
            if is_product(each)
            for array in arrays(self.followed.results.get(each.operands[0].name, ()))
        )

    def _is_in(self, axis: int, *trees: Tree) -> bool:
        return any(axis in self.parts(array) for tree in trees for array in arrays(tree))

    def _can_sum_at_once(self, axis: int, region: Region) -> bool:
        """Return True if no value of a region, and no sum over a dimension, needs another sum."""
        made = {
            value.name
            for value in map(self.program.values.__getitem__, region.made)
            if axis not in self.of(value)
            and self.program.instructions[value.name].opcode not in PASSING_ON
        }
        later = self._dependents(made)
        return later.isdisjoint(region.names) and all(
            self._only_joins(name, made | later) for name in later & region.ends
        )

    def _only_joins(self, fusion: str, sums: Collection[str]) -> bool:
        """Return True if a fusion sums values of a region, and only then reads other sums."""
        operations = self.program.operations
        found = operations.get(fusion)
        if found is None or not (fused := self.program.fused_operations(found)):
            return False
        makers = [maker_of(operations, each.name) for each in found.operands]
        joined: set[str] = set()
        for each in fused:  # operands first
            if each.opcode == "parameter":
                is_joined = makers[each.numbers["number"][0]] in sums
            else:
                is_joined = any(operand.name in joined for operand in each.operands)
            if is_joined and is_sum(each):
                return False
            if is_joined:
                joined.add(each.name)
        return True

    def _dependents(self, makers: Collection[str]) -> set[str]:
        """Return the instructions that depend on what some make."""
        program = self.program
        users: defaultdict[str, set[str]] = defaultdict(set)
        for name, read in program.read_by.items():
            for each in read:
                users[program.values[each].name].add(name)
        found: set[str] = set()
        waiting = list(makers)
        while waiting:
            near = users[waiting.pop()] - found
            found |= near
            waiting += near
        return found


def _summed(product: Operation) -> Sequence[int]:
    """Return the dimensions of the first operand over which a product may sum."""
    if product.opcode == "convolution":  # features, and places of windows
        return product.numbers.get("lhs", (0, 1))[1:]
    return product.numbers.get("lhs_contracting_dims", ())
