"""Lengths of dimensions: which are one and the same, and which follow from others.

    equal(x, y)            both are always equally long: the operands of an addition
    products(xs, ys)       the same elements, split otherwise: a reshape
    follow(y, [x], …)      y = factor * x + offset: a slice, padding, a concatenation
    free(x), used(x)       a constant has any length: each of its uses may be another dimension

`scaled` gives some dimensions other lengths and returns those that change with them.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

__all__ = ["Lengths", "Scaled", "Split"]


class _LengthRule(NamedTuple):
    """A length that follows from others: factor * their sum + offset."""

    dimension: int
    sources: tuple[int, ...]
    factor: Fraction
    offset: Fraction
    is_weak: bool
    """True if it only counts where nothing else decides."""
    is_mutual: bool
    """True if sources also follow from the dimension, where nothing else decides."""


class Split(NamedTuple):
    """A changed dimension that is split in two; one of the two is assumed to change."""

    length: int
    parts: tuple[int, int]
    changed: int
    """0 or 1: the part that changes."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """Lengths after a change."""

    lengths: Mapping[int, Fraction]
    """New lengths of representatives; all others are unchanged."""
    splits: tuple[Split, ...]


class Lengths:
    """Dimensions by number, with what is known of their lengths."""

    def __init__(self) -> None:
        self._lengths: list[int] = []
        self._same: list[int] = []
        """Another dimension of the same length; its own number if it is the representative."""
        self._factors: dict[int, tuple[int, int]] = {}
        """The two dimensions that a representative is the product of."""
        self._rules: list[_LengthRule] = []
        self._iterated: set[int] = set()
        self._stacked: set[int] = set()
        self._uses: dict[int, list[int]] = {}
        """Dimensions of the uses of each dimension of a constant, iota or broadcast."""

    def add(self, length: int) -> int:
        """Add a dimension."""
        self._lengths.append(length)
        self._same.append(len(self._same))
        return len(self._same) - 1

    def length(self, dimension: int) -> int:
        """Return the length of a dimension as it was compiled."""
        return self._lengths[dimension]

    def find(self, dimension: int) -> int:
        """Return the representative of all dimensions that are the same."""
        same = self._same
        while same[dimension] != dimension:
            same[dimension] = same[same[dimension]]
            dimension = same[dimension]
        return dimension

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
        factor: Fraction = Fraction(1),
        *,
        is_weak: bool = False,
        is_mutual: bool = False,
    ) -> None:
        """Let a dimension be this factor of others' sum, and as much longer as it is now."""
        sums = sum(self._lengths[each] for each in sources)
        offset = self._lengths[dimension] - factor * sums
        self._rules.append(
            _LengthRule(dimension, tuple(sources), factor, offset, is_weak, is_mutual)
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

    def iterate(self, dimension: int, *, is_written: bool) -> None:
        """Note that a loop reads, or writes, one element of this dimension in each iteration."""
        (self._stacked if is_written else self._iterated).add(dimension)

    def scaled(self, given: Mapping[int, Fraction], fixed: Collection[int]) -> Scaled:
        """Return all lengths that change together with the given ones.

        `fixed` are dimensions that keep their length if a dimension that is split must choose.
        """
        return _Scaling(self, given, {self.find(each) for each in fixed}).result()

    def uses(self) -> list[tuple[int, list[int]]]:
        """Return each free dimension with its uses, as representatives."""
        find = self.find
        return [(find(each), list(map(find, uses))) for each, uses in self._uses.items() if uses]

    def iterated(self) -> tuple[set[int], set[int]]:
        """Return the dimensions that loops read and write one by one, as representatives."""
        return set(map(self.find, self._iterated)), set(map(self.find, self._stacked))

    def rules(self) -> tuple[list[_LengthRule], Mapping[int, tuple[int, int]]]:
        """Return the rules and the factors of products, as representatives."""
        find = self.find
        rules = [
            each._replace(dimension=find(each.dimension), sources=tuple(map(find, each.sources)))
            for each in self._rules
        ]
        factors = {find(whole): (find(a), find(b)) for whole, (a, b) in self._factors.items()}
        return rules, factors


class _Scaling:
    """The search for all lengths that change."""

    def __init__(self, lengths: Lengths, given: Mapping[int, Fraction], fixed: set[int]) -> None:
        self._old = lengths.length
        self._fixed = fixed
        self._rules, self._factors = lengths.rules()
        (self._read, self._written), self._uses = lengths.iterated(), lengths.uses()
        self._by_source: defaultdict[int, list[_LengthRule]] = defaultdict(list)
        self._weak: list[_LengthRule] = []
        for rule in self._rules:
            if rule.is_weak:
                self._weak.append(rule)
                continue
            for source in set(rule.sources):
                self._by_source[source].append(rule)
        self._wholes: defaultdict[int, set[int]] = defaultdict(set)
        for whole, factors in self._factors.items():
            for each in factors:
                self._wholes[each].add(whole)
        self._new: dict[int, Fraction] = {}
        self._made_by: dict[int, object] = {}
        self._queue: deque[int] = deque()
        self._splits: list[Split] = []
        for dimension, length in given.items():
            self._set(lengths.find(dimension), length, None)

    def result(self) -> Scaled:
        while True:
            self._run()
            if not self._apply_uses() and not self._apply_weak() and not self._choose():
                return Scaled(self._new, tuple(self._splits))

    def _set(self, dimension: int, length: Fraction, rule: object) -> None:
        known = self._new.get(dimension)
        if known == length or (known is None and length == self._old(dimension)):
            return
        # what a rule said before all of its sources were known may be said again
        if known is None or (rule is not None and self._made_by[dimension] == rule):
            self._new[dimension] = length
            self._made_by[dimension] = rule
            self._queue.append(dimension)

    def _length(self, dimension: int) -> Fraction:
        found = self._new.get(dimension)
        return Fraction(self._old(dimension)) if found is None else found

    def _run(self) -> None:
        while self._queue:
            dimension = self._queue.popleft()
            for rule in self._by_source[dimension]:
                self._apply(rule)
            if dimension in self._factors:
                self._push_down(dimension)
            for whole in self._wholes[dimension]:
                self._push_up(whole)

    def _apply(self, rule: _LengthRule) -> None:
        length = rule.factor * sum(map(self._length, rule.sources)) + rule.offset
        self._set(rule.dimension, max(length, Fraction(0)), rule)

    def _push_up(self, whole: int) -> None:
        one, other = self._factors[whole]
        if whole in self._new and self._made_by[whole] != whole:
            self._push_down(whole)
        else:
            self._set(whole, self._length(one) * self._length(other), whole)

    def _push_down(self, whole: int) -> None:
        """Change the second factor if the first is known to change, and the other way round."""
        for known, other in (self._factors[whole], self._factors[whole][::-1]):
            if known in self._new and other not in self._new and self._new[known]:
                self._set(other, self._length(whole) / self._new[known], None)

    def _apply_uses(self) -> bool:
        """Change what is free and only used by dimensions that change alike."""
        for dimension, uses in self._uses:
            lengths = {self._new.get(each) for each in uses}
            if dimension not in self._new and len(lengths) == 1 and None not in lengths:
                self._set(dimension, self._new[uses[0]], None)
        return bool(self._queue)

    def _apply_weak(self) -> bool:
        """Apply one weak rule whose dimension does not change yet."""
        for rule in self._weak:
            changes = any(source in self._new for source in rule.sources)
            if changes and rule.dimension not in self._new:
                self._apply(rule)
                if self._queue:
                    return True
        return any(map(self._apply_backwards, self._rules))

    def _apply_backwards(self, rule: _LengthRule) -> bool:
        """Change the sources that nothing else decides, all by the same factor."""
        dimension = rule.dimension
        if not rule.is_mutual or self._made_by.get(dimension, rule) == rule:
            return False
        unknown = [each for each in rule.sources if each not in self._new]
        before = sum(map(self._old, unknown))
        known = sum(self._new[each] for each in rule.sources if each in self._new)
        after = (self._new[dimension] - rule.offset) / rule.factor - known
        if not before or after < 0:
            return False
        for each in unknown:
            self._set(each, self._old(each) * after / before, None)
        return bool(self._queue)

    def _choose(self) -> bool:
        """Choose the factor that changes of one dimension that is split."""
        for whole, factors in self._factors.items():
            if whole not in self._new or not self._new.keys().isdisjoint(factors):
                continue
            ratio = self._new[whole] / self._old(whole)
            first, second = factors
            # a loop over chunks puts its results together: there are fewer chunks; a loop over
            # microbatches does not: they are smaller
            together = [
                other
                for other, part in self._factors.values()
                if part == second and other in self._written and other != first
            ]
            keeps_first = second not in self._fixed and (
                first in self._fixed or (first in self._read and not together)
            )
            changed = int(keeps_first)
            lengths = self._old(first), self._old(second)
            self._splits.append(Split(self._old(whole), lengths, changed))
            for each in (second,) if keeps_first else (first, *together):
                self._set(each, ratio * self._old(each), None)
            return True
        return False
