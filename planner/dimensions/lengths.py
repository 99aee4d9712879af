"""Lengths of dimensions: which are one and the same, and which follow from others.

    equal(x, y)            both are always equally long: the operands of an addition
    products(xs, ys)       the same elements, split otherwise: a reshape
    follow(y, [x], …)      y = factor * x + offset: a slice, padding, a concatenation
    free(x), used(x)       a constant has any length: each of its uses may be another dimension

`scaled` gives some dimensions other lengths and returns those that change with them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from operator import mul

from xlagraph.planner.dimensions.scaling import KnownLengths, LengthRule, Scaled, Scaling


class Lengths:
    """Dimensions by number, with what is known of their lengths."""

    def __init__(self) -> None:
        self._lengths: list[int] = []
        self._same: list[int] = []
        """Another dimension of the same length; its own number if it is the representative."""
        self._factors: dict[int, tuple[int, int]] = {}
        """The two dimensions that a representative is the product of."""
        self._rules: list[LengthRule] = []
        self._iterated: set[int] = set()
        self._stacked: dict[int, set[int]] = {}
        self._loops: list[list[int]] = []
        """Dimensions that each loop around the current operation reads or writes one by one."""
        self._uses: dict[int, list[int]] = {}
        """Dimensions of the uses of each dimension of a constant, iota or broadcast."""
        self._given: set[int] = set()
        """Dimensions of inputs."""
        self._parts: set[tuple[int, int]] = set()
        """Pairs of dimensions, of which the first keeps its length if they split another one."""

    def add(self, length: int) -> int:
        """Add a dimension."""
        self._lengths.append(length)
        self._same.append(len(self._same))
        return len(self._same) - 1

    def length(self, dimension: int) -> int:
        """Return the length of a dimension as it was compiled."""
        return self._lengths[dimension]

    def give(self, dimensions: Iterable[int]) -> None:
        """Note that a caller chooses these dimensions: they are those of inputs."""
        self._given.update(dimensions)

    def keep_parts(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Note that the compiler chose the first of two dimensions, if they split another one."""
        self._parts.update(pairs)

    def is_given(self, dimension: int) -> bool:
        """Return True for a dimension that a caller chooses, or that is the same."""
        return self.find(dimension) in map(self.find, self._given)

    def is_product(self, dimension: int) -> bool:
        """Return True for a dimension that is split into others elsewhere."""
        return self.find(dimension) in self._factors

    def of_inputs(self) -> set[int]:
        """Return the representatives of all dimensions that follow from those of inputs.

        Those of a constant follow from its uses.
        """
        find = self.find
        known = set(map(find, self._given))
        factors = {find(whole): (find(a), find(b)) for whole, (a, b) in self._factors.items()}
        rules = [(find(each.dimension), set(map(find, each.sources))) for each in self._rules]
        before = -1
        while before < len(known):
            before = len(known)
            for whole, parts in factors.items():
                known.update(parts if whole in known else ())
                known.update({whole} if known.issuperset(parts) else ())
            for dimension, sources in rules:
                if not known.isdisjoint((dimension, *sources)):
                    known |= {dimension, *sources}
            for dimension, uses in self._uses.items():
                if uses and known.issuperset(map(find, uses)):
                    known.add(find(dimension))
        return known

    def find(self, dimension: int) -> int:
        """Return the representative of all dimensions that are the same."""
        same = self._same
        while same[dimension] != dimension:
            same[dimension] = same[same[dimension]]
            dimension = same[dimension]
        return dimension

    def parts(self, dimension: int) -> list[int]:
        """Return the dimensions that a dimension is the product of, itself if it is none."""
        found = self.find(dimension)
        if found not in self._factors:
            return [found]
        return [part for each in self._factors[found] for part in self.parts(each)]

    def is_stacked(self, dimension: int) -> bool:
        """Return True for a dimension that a loop writes one by one."""
        return self.find(dimension) in map(self.find, self._stacked)

    def is_group(self, dimension: int) -> bool:
        """Return True for the second factor of a dimension whose groups a loop reads."""
        read = set(map(self.find, self._iterated))
        return any(
            self.find(second) == dimension and self.find(first) in read
            for first, second in self._factors.values()
        )

    def equal(self, one: int, other: int) -> None:
        """Make two dimensions the same; those of different lengths stay apart."""
        one, other = self.find(one), self.find(other)
        if one == other or self._lengths[one] != self._lengths[other]:
            return
        self._same[other] = one
        factors = self._factors.pop(other, None)
        if factors is not None:
            own = self._factors.setdefault(one, factors)
            if own is not factors:
                self.products(own, factors)

    def all_equal(self, some: Iterable[int], others: Iterable[int]) -> None:
        """Make the dimensions of two arrays the same, in order."""
        for one, other in zip(some, others, strict=False):
            self.equal(one, other)

    def products(self, some: Iterable[int], others: Iterable[int]) -> bool:
        """Let dimensions split the same elements, in row-major order.

        Returns False if they do not divide each other.
        """
        left, right = list(some)[::-1], list(others)[::-1]
        while left and right:
            one, other = self._last(left), self._last(right)
            if one is None or other is None:
                break
            length, another = self._lengths[one], self._lengths[other]
            if length == another:
                self.equal(one, other)
            elif length % another == 0:
                left.append(self._rest(one, other))
            elif another % length == 0:
                right.append(self._rest(other, one))
            else:
                return False
        return True

    def _last(self, dimensions: list[int]) -> int | None:
        """Take the next dimension that is no product and longer than 1."""
        while dimensions:
            found = self.find(dimensions.pop())
            factors = self._factors.get(found)
            if factors is not None:
                dimensions += factors[::-1]
            elif self._lengths[found] != 1:
                return found
        return None

    def _rest(self, whole: int, first: int) -> int:
        """Split a dimension after its first factor; return the second."""
        rest = self.add(self._lengths[whole] // self._lengths[first])
        self._factors[whole] = (first, rest)
        return rest

    def follow(
        self,
        dimension: int,
        sources: Sequence[int],
        factor: Fraction | Sequence[Fraction] = Fraction(1),
        *,
        is_weak: bool = False,
        is_mutual: bool = False,
    ) -> None:
        """Let a dimension be the sum of others times a factor, and as much longer as it is now.

        Sources may have different factors, unless the rule is mutual.
        """
        factors = (factor,) * len(sources) if isinstance(factor, Fraction) else tuple(factor)
        product = sum(map(mul, factors, map(self.length, sources)), Fraction(0))
        offset = self._lengths[dimension] - product
        self._rules.append(
            LengthRule(dimension, tuple(sources), factors, offset, is_weak, is_mutual)
        )

    def free(self, dimensions: Iterable[int]) -> None:
        """Let nothing but their uses decide these dimensions.

        The compiler merges equal constants, also those that mean different dimensions.
        """
        for each in dimensions:
            self._uses.setdefault(each, [])

    def is_free(self, dimension: int) -> bool:
        """Return True if only its uses decide a dimension."""
        return dimension in self._uses

    def uses(self, dimensions: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yield the dimensions of each use of an array; those of other arrays, as they are."""
        uses = {each: self._uses[each] for each in dimensions if each in self._uses}
        count = min(map(len, uses.values()), default=0)
        if not count:
            yield dimensions
        for number in range(count):
            yield from self.uses(
                tuple(uses[each][number] if each in uses else each for each in dimensions)
            )

    def used(self, dimensions: tuple[int, ...]) -> tuple[int, ...]:
        """Return dimensions of a use of an array: other ones for those that are free."""
        if self._uses.keys().isdisjoint(dimensions):
            return dimensions
        found = []
        for each in dimensions:
            if each in self._uses:
                use = self.add(self._lengths[each])
                self._uses[each].append(use)
                found.append(use)
            else:
                found.append(each)
        return tuple(found)

    def iterate(self, dimension: int, *, written: Iterable[int] | None = None) -> None:
        """Note that a loop reads one element of this dimension in each iteration, or writes it.

        ``written`` are the dimensions of the array that it writes.
        """
        if written is None:
            self._iterated.add(dimension)
        else:
            self._stacked.setdefault(dimension, set()).update(written)
        if self._loops and self._lengths[dimension] > 1:
            self._loops[-1].append(dimension)

    @contextmanager
    def loop(self) -> Iterator[None]:
        """Follow the body of a loop: it goes through equally long dimensions at the same time."""
        self._loops.append([])
        yield
        first: dict[int, int] = {}
        for each in self._loops.pop():
            self.equal(first.setdefault(self._lengths[each], each), each)

    def scaled(self, given: Mapping[int, Fraction], fixed: Collection[int]) -> Scaled:
        """Return all lengths that change together with the given ones.

        `fixed` are dimensions that keep their length if a dimension that is split must choose.
        """
        find = self.find
        known = KnownLengths(
            self.length,
            [
                each._replace(
                    dimension=find(each.dimension), sources=tuple(map(find, each.sources))
                )
                for each in self._rules
            ],
            {find(whole): (find(a), find(b)) for whole, (a, b) in self._factors.items()},
            set(map(find, self._iterated)),
            self._written(),
            [(find(each), list(map(find, uses))) for each, uses in self._uses.items() if uses],
        )
        new = {find(dimension): length for dimension, length in given.items()}
        splits = {(first, *self.parts(second)) for first, second in known.factors.values()}
        chosen = {
            find(first)
            for first, second in self._parts
            if (find(first), *self.parts(second)) in splits
        }
        return Scaling(known, new, chosen | set(map(find, fixed))).result()

    def _written(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for each, others in self._stacked.items():
            found.setdefault(self.find(each), set()).update(map(self.find, others))
        return found
