"""Changes of sizes: which values of other sizes are the same value in a larger or smaller program.

A dimension of a value may differ if an input's dimension differs by the same factor, or by the
product of two of them (flattened, n × n). A difference of up to 5 % of the factor is allowed for
sequences that lose or gain an element. If all inputs have their shapes, a constant of the program
may have changed: then most values that only one program has differ by one factor from those of the
same ops, and not both programs have both shapes; or the old shape is gone, and only the second
program has the new one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from fractions import Fraction
from itertools import islice, product
from math import prod
from typing import Final

from xlagraph.comparison.argument_names import INDEX, name_steps
from xlagraph.comparison.held_values import HeldValue
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.shapes import dimensions

_TOLERANCE: Final = 0.05
_LEAST_INVERSE: Final = 4
"""Maximum number of values of another size for each in which a second dimension changed."""
_LEAST_SHARE: Final = 0.1
"""Minimum growth of the values that have a dimension, relative to another one of most growth."""
_MOST_FLATTENED: Final = 3
"""Maximum number of equal dimensions that are flattened into one."""
_LEAST_PAIRS: Final = 3
"""Minimum number of pairs of values that show a factor, or a dimension, if no input changed."""


def without_ones(value: HeldValue) -> tuple[str, *tuple[int, ...]]:
    """Return the dimensions of a value, without those of one element; of a tuple, its text."""
    found = dimensions(value.shape)
    return (value.shape,) if found is None else ("", *(size for size in found if size != 1))


def element_factor(a: HeldValue, b: HeldValue) -> Fraction | None:
    """Return the number of elements of b divided by that of a; None if either has none."""
    before, after = (prod(dimensions(value.shape) or ()) for value in (a, b))
    return Fraction(after, before) if before and after else None


def is_split(a: HeldValue, b: HeldValue) -> bool:
    """Return True if b has the shape of a, or all of one dimension in equal parts or times."""
    factors = _factors(a.shape, b.shape)
    return factors is not None and len(factors) <= 1 and all(1 in _terms(each) for each in factors)


def differ_in_one_factor(a: HeldValue, b: HeldValue) -> bool:
    """Return True if all dimensions that differ do so by the same factor."""
    factors = _factors(a.shape, b.shape)
    return factors is not None and len(factors) == 1


def changed_dimensions(
    pairs: Iterable[tuple[HeldValue, HeldValue]],
) -> tuple[tuple[int, int], ...]:
    """Return the dimension that makes values larger, before and after; none if several do.

    A second one changed by the inverse factor: heads and the features of each.
    """
    counts: Counter[tuple[int, int]] = Counter()
    growth_of_all = growth_of_one = 0
    of_held: Counter[tuple[int, int]] = Counter()
    for a, b in pairs:
        sizes = dimensions(a.shape) or (), dimensions(b.shape) or ()
        is_same_rank = len(sizes[0]) == len(sizes[1])
        changed = {each for each in zip(*sizes, strict=False) if each[0] != each[1]}
        counts.update(changed if is_same_rank else ())
        growth = b.held_bytes - a.held_bytes
        if growth and a.shape != b.shape:
            growth_of_all += abs(growth)
            if is_same_rank and len({Fraction(y, x or 1) for x, y in changed}) == 1:
                growth_of_one += abs(growth)
                of_held.update(dict.fromkeys(changed, abs(growth)))
    most = [
        each
        for each, count in counts.most_common()
        # of fewer values, their shapes say it
        if min(each) > 1 and count >= _LEAST_PAIRS
    ]
    largest = max(of_held.values(), default=0)
    most.sort(key=lambda each: of_held[each] < _LEAST_SHARE * largest)
    if not most or 2 * growth_of_one <= growth_of_all:
        return ()
    x, y = most[0]
    if not all(_is_related(each, (x, y)) for each in of_held):
        return ()
    inverse = (
        each
        for each in most[1:]
        if each[0] * x == each[1] * y and _LEAST_INVERSE * counts[each] >= counts[x, y]
    )
    return ((x, y), *islice(inverse, 1))


def _is_related(sizes: tuple[int, int], of: tuple[int, int]) -> bool:
    """Return True if a size follows from n: a multiple, power or part of it, n - 1 or n + 1."""
    (before, after), (x, y) = sizes, of
    is_of_part = before % x == 0 or x % before == 0
    are_powers = (after * x**n == before * y**n for n in range(1, _MOST_FLATTENED + 1))
    return (is_of_part and any(are_powers)) or before - x == after - y in (-1, 1)


def runs_for_parts(turns: tuple[int, int], changed: Iterable[tuple[int, int]]) -> bool:
    """Return True for a loop that runs several times for each part of a dimension that changed."""
    before, after = turns
    return any(before > x and before % x == 0 and before * y == after * x for x, y in changed)


def grows_more(
    pair: tuple[HeldValue, HeldValue],
    other: tuple[HeldValue, HeldValue] | None,
    results: Set[str],
) -> bool:
    """Return True if a pair of inputs is a better example of a change than another one.

    Parameters follow from the size of images or from the number of tokens, not the reverse. A
    training step returns new ones: ``results`` are the shapes of what the second program returns.
    The keys of a generator are no data.
    """
    if other is None:
        return True
    (a, b), (c, d) = pair, other
    # whole numbers, such as tokens, come first, also if no parameters are returned
    for of_float in (False, True):
        is_data = [
            x.shape not in results and x.dtype != "u32" and (of_float or not x.is_float)
            for x in (b, d)
        ]
        if is_data[0] is not is_data[1]:
            return is_data[0]
    growth, known = abs(b.held_bytes - a.held_bytes), abs(d.held_bytes - c.held_bytes)
    # a parameter rather than the state of an optimizer that has its shape
    return (growth, -len(b.op_name or "")) > (known, -len(d.op_name or ""))


def are_of_all(values: Iterable[HeldValue], others: Iterable[HeldValue]) -> bool:
    """Return True if a list has each shape of some arrays as often, or so many times as often.

    It is that of all parameters, or of these and the states that an optimizer has of them.
    """
    new, known = (
        [Counter(shapes) for shapes in _float_shapes(side).values()] for side in (values, others)
    )
    return len(new) == 1 and any(
        each.keys() == new[0].keys() and len({Fraction(each[x], new[0][x]) for x in each}) == 1
        for each in known
    )


def _float_shapes(values: Iterable[HeldValue]) -> Mapping[str, Sequence[str]]:
    """Return the shapes of arrays of floats by the list of inputs that has them."""
    return grouped(
        (value.op_name.rpartition("[")[0], value.shape)
        for value in values
        if value.is_input and value.op_name and value.is_float and dimensions(value.shape)
    )


class InputSizes:
    """Factors by which the dimensions of inputs changed between two programs."""

    def __init__(self, a: Sequence[HeldValue], b: Sequence[HeldValue]) -> None:
        inputs_a, inputs_b = _inputs(a), _inputs(b)
        self._is_same_tree = inputs_a.keys() == inputs_b.keys()
        self._shapes_a, self._shapes_b = (
            {value.shape for value in side if value.opcode != "parameter"} for side in (a, b)
        )
        self._factors: set[Fraction] = set()
        self._products: set[Fraction] = set()
        self._changed: set[tuple[int, int]] = set()
        unnamed = {value.name for value in (*a, *b) if value.is_input and not value.op_name}
        for name in inputs_a.keys() & inputs_b.keys():
            if self._is_same_tree or (is_identifying(name) and name not in unnamed):
                factors = _factors_of_any_rank(inputs_a[name], inputs_b[name]) or set()
                # by several factors, it may be another part of another tree
                if self._is_same_tree or len(factors) == 1:
                    self._add(factors)
                    self._changed |= changed(inputs_a[name], inputs_b[name])
        self._renamed = _renamed(inputs_a, inputs_b)
        if self._renamed:
            self._add(_factors(*self._renamed) or ())

    def learn(self, pairs: Iterable[tuple[HeldValue, HeldValue]]) -> None:
        """Take the factors of pairs of other values, if no input has another size."""
        if not self._factors:
            self._add(factor for a, b in pairs for factor in _factors(a.shape, b.shape) or ())

    def learn_most_frequent(self, pairs: Sequence[tuple[HeldValue, HeldValue]]) -> None:
        """Take the factor of most of the pairs that share an op, if no input has another size.

        Else take those of dimensions that are as much longer as one of an input that is joined with
        others: the tokens of an image and those of a text.
        """
        if self._factors:
            joined = Counter(
                Fraction(y, x)
                for a, b in pairs
                for x, y in changed(a.shape, b.shape)
                if any(x > before and y - x == after - before for before, after in self._changed)
            )
            self._add(factor for factor, count in joined.items() if count >= _LEAST_PAIRS)
            return
        found = [
            next(iter(factors))
            for a, b in pairs
            if (factors := _factors(a.shape, b.shape)) is not None
            and len(factors) == 1
            # parts that a loop takes out of several stacks: which of them remain may differ
            and not (a.shape in self._shapes_b and b.shape in self._shapes_a)
        ]
        factor, count = next(iter(Counter(found).most_common(1)), (Fraction(1), 0))
        if count >= _LEAST_PAIRS and count > len(pairs) / 2:
            self._add({factor})

    def are_alike(self, a: HeldValue, b: HeldValue) -> bool:
        """Return True if each dimension is the same or differs as one of the inputs does."""
        return self._are_related(a, b, self._factors)

    def are_other_sizes(self, a: HeldValue, b: HeldValue) -> bool:
        """Return True if dimensions differ, all as one of the inputs does."""
        return a.shape != b.shape and self.are_known_alike(a, b)

    def are_known_alike(self, a: HeldValue, b: HeldValue) -> bool:
        """Return the same; False if no input and no other value of another size is known."""
        return bool(self._factors) and self.are_alike(a, b)

    def are_related(self, a: HeldValue, b: HeldValue) -> bool:
        """Return True if dimensions differ as those of inputs do, or by two of these factors."""
        return self._are_related(a, b, self._products)

    def are_of_many(self, a: HeldValue, b: HeldValue) -> bool:
        """Return True if only one has a dimension by which an input differs: one or many."""
        return _factors(a.shape, b.shape) is None and self._are_related(a, b, self._factors)

    def are_renamed(self, a: HeldValue, b: HeldValue) -> bool:
        """Return True for the only inputs whose names and shapes the other program has not."""
        return (a.shape, b.shape) == self._renamed

    def _are_related(self, a: HeldValue, b: HeldValue, factors_of: Set[Fraction]) -> bool:
        # flattened dimensions stay almost the same if one grows as the other shrinks
        known_factors = factors_of | {Fraction(1)} if factors_of else factors_of
        factors = _factors(a.shape, b.shape)
        if a.is_input:
            factors = _factors_of_any_rank(a.shape, b.shape)
            # a name in a tree, `layers[2]`, may be another part of another tree
            is_argument = len(name_steps(a.op_name or "")) == 1
            return factors is not None and (self._is_same_tree or is_argument or not factors)
        if factors is not None and not self._factors and self._is_same_tree:
            # windows of another size: fewer of them, each as much larger
            sizes = {max(factor, 1 / factor) for factor in factors}
            # one of one element may be any other dimension
            both = zip(dimensions(a.shape) or (), dimensions(b.shape) or (), strict=True)
            are_sizes = all(x == y or 1 not in (x, y) for x, y in both)
            return a.line == b.line and self._are_gone(a, b) and len(sizes) == 1 and are_sizes
        if _are_stacks_of_other_turns(a, b):
            factors = _factors(*(_part(each) for each in (a, b)))
        factors = _factor_of_rank(a.shape, b.shape) if factors is None else factors
        if factors and a.line == b.line and self._are_gone(a, b):
            # more heads of as many features in all: those of each head are fewer
            known_factors = known_factors | {1 / known for known in known_factors}
        return factors is not None and all(
            any(abs(factor / known - 1) <= _TOLERANCE for known in known_factors)
            for factor in factors
        )

    def _are_gone(self, a: HeldValue, b: HeldValue) -> bool:
        """Return True if neither program has the shape of the other one's value."""
        return a.shape not in self._shapes_b and b.shape not in self._shapes_a

    def _add(self, factors: Iterable[Fraction]) -> None:
        self._factors |= set(factors)
        pairs = product(self._factors, repeat=2)
        self._products = self._factors | {one * other for one, other in pairs}


def is_identifying(name: str) -> bool:
    """Return True for a name that ends in a word: `state[1][0]` may be anything in another tree."""
    return not INDEX.fullmatch(name_steps(name)[-1])


def _renamed(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the shapes of the only input of each program that has neither name nor shape there."""
    gone, new = (
        [shape for name, shape in one.items() if name not in other and shape not in other.values()]
        for one, other in ((a, b), (b, a))
    )
    if len(gone) != 1 or len(new) != 1:
        return None
    is_same_type = gone[0].partition("[")[0] == new[0].partition("[")[0]
    is_larger = len(_factors(gone[0], new[0]) or ()) == 1
    return (gone[0], new[0]) if is_same_type and is_larger else None


def _are_stacks_of_other_turns(a: HeldValue, b: HeldValue) -> bool:
    """Return True if loops with other numbers of iterations stack both, one part after another."""
    return a.stack_turns != b.stack_turns and all(
        each.stack_turns and (dimensions(each.shape) or ())[:1] == (each.stack_turns,)
        for each in (a, b)
    )


def _part(stack: HeldValue) -> str:
    """Return the shape of what one iteration adds to a stack."""
    return stack.shape.replace(f"[{stack.stack_turns},", "[", 1)


def _terms(factor: Fraction) -> tuple[int, int]:
    return factor.numerator, factor.denominator


def _inputs(values: Iterable[HeldValue]) -> dict[str, str]:
    return {value.op_name or value.name: value.shape for value in values if value.is_input}


def _factors(before: str, after: str) -> set[Fraction] | None:
    """Return the factors of the dimensions that differ; None if the ranks differ or one is 0."""
    a, b = dimensions(before), dimensions(after)
    if a is None or b is None or len(a) != len(b) or 0 in (*a, *b):
        return None
    return {Fraction(y, x) for x, y in changed(before, after)}


def changed(before: str, after: str) -> set[tuple[int, int]]:
    """Return the dimensions that differ, before and after; none if the ranks differ."""
    a, b = dimensions(before) or (), dimensions(after) or ()
    return {each for each in zip(a, b, strict=False) if each[0] != each[1] and len(a) == len(b)}


def _factors_of_any_rank(before: str, after: str) -> set[Fraction] | None:
    factors = _factors(before, after)
    return _factor_of_rank(before, after) if factors is None else factors


def _factor_of_rank(before: str, after: str) -> set[Fraction] | None:
    """Return the factor of a dimension that only one shape has; None for other differences.

    XLA leaves out a dimension of one element: ``f32[4,8]`` becomes ``f32[8]``.
    """
    a, b = dimensions(before) or (), dimensions(after) or ()
    longer, shorter = sorted((a, b), key=len, reverse=True)
    for place, size in enumerate(longer):
        if size and longer[:place] + longer[place + 1 :] == shorter:
            return {Fraction(1, size) if longer is a else Fraction(size)}
    return None
