"""Find all lengths that change with some of them, by what is known of all dimensions."""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul, sub
from typing import NamedTuple


class LengthRule(NamedTuple):
    """A length that follows from others: the sum of factor * length + offset."""

    dimension: int
    sources: tuple[int, ...]
    factors: tuple[Fraction, ...]
    """Factor of each source."""
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


class KnownLengths(NamedTuple):
    """The known facts about dimensions. Equal dimensions have one representative."""

    length: Callable[[int], int]
    rules: Sequence[LengthRule]
    factors: Mapping[int, tuple[int, int]]
    """The two dimensions that a dimension is the product of."""
    read: set[int]
    """Dimensions that loops read one by one."""
    written: Mapping[int, set[int]]
    """Dimensions that loops write one by one, with all dimensions of the arrays."""
    uses: Sequence[tuple[int, list[int]]]
    """Free dimensions with their uses."""


class Scaling:
    """The search for all lengths that change."""

    def __init__(self, known: KnownLengths, given: Mapping[int, Fraction], fixed: set[int]) -> None:
        self._old = known.length
        self._fixed = fixed
        self._rules, self._factors = known.rules, known.factors
        self._read, self._written, self._uses = known.read, known.written, known.uses
        self._by_source: defaultdict[int, list[LengthRule]] = defaultdict(list)
        self._weak: list[LengthRule] = []
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
            self._set(dimension, length, None)

    def result(self) -> Scaled:
        """Return all lengths after the change."""
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
            if dimension in self._factors and self._made_by[dimension] != dimension:
                self._push_down(dimension)
            for whole in self._wholes[dimension]:
                self._push_up(whole)

    def _apply(self, rule: LengthRule) -> None:
        length = sum(map(mul, rule.factors, map(self._length, rule.sources)), rule.offset)
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
        """Apply one weak rule whose dimension does not change yet, or a mutual rule backwards.

        Rules of several sources come last, when as many of these as possible are known.
        """
        return (
            any(self._apply_first(rule) for rule in self._weak if len(rule.sources) == 1)
            or any(map(self._apply_backwards, self._rules))
            or any(self._apply_last(rule) for rule in self._weak if len(rule.sources) > 1)
        )

    def _apply_first(self, rule: LengthRule) -> bool:
        changes = any(source in self._new for source in rule.sources)
        if changes and rule.dimension not in self._new:
            self._apply(rule)
        return bool(self._queue)

    def _apply_last(self, rule: LengthRule) -> bool:
        """Apply a rule of several sources: what is fixed keeps its length, so the rest changes."""
        unknown = [each for each in rule.sources if each not in self._new]
        if len(unknown) != 1 or rule.dimension not in self._fixed or unknown[0] in self._fixed:
            return self._apply_first(rule)
        lengths = map(self._length, rule.sources)
        changed = map(sub, lengths, map(self._old, rule.sources))
        (factor,) = (
            factor
            for factor, each in zip(rule.factors, rule.sources, strict=True)
            if each in unknown
        )
        length = self._old(unknown[0]) - sum(map(mul, rule.factors, changed)) / factor
        self._set(unknown[0], max(length, Fraction(0)), None)
        return bool(self._queue)

    def _apply_backwards(self, rule: LengthRule) -> bool:
        """Change the sources that nothing else decides, all by the same factor.

        Sources of a mutual rule have one factor.
        """
        dimension = rule.dimension
        if not rule.is_mutual or self._made_by.get(dimension, rule) == rule:
            return False
        unknown = [each for each in rule.sources if each not in self._new]
        before = sum(map(self._old, unknown))
        known = sum(self._new[each] for each in rule.sources if each in self._new)
        after = (self._new[dimension] - rule.offset) / rule.factors[0] - known
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
            is_together = bool(together) or second in self._written.get(first, ())
            keeps_first = second not in self._fixed and (
                first in self._fixed or (first in self._read and not is_together)
            )
            changed = int(keeps_first)
            lengths = self._old(first), self._old(second)
            self._splits.append(Split(self._old(whole), lengths, changed))
            for each in (second,) if keeps_first else (first, *together):
                self._set(each, ratio * self._old(each), None)
            return True
        return False
