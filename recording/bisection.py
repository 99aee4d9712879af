"""Find the first bad version by binary search, even if some cannot be measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Bisection", "bisect_versions"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bisection(Generic[T]):
    """The versions between which a measure becomes bad. Each pair is a version and its measure."""

    first: tuple[str, T]
    """The oldest version that could be measured, which others are compared with."""
    good: tuple[str, T]
    """The newest version that was measured and is good, before the bad one."""
    bad: tuple[str, T] | None
    """The oldest version that was measured and is bad; None if the newest one is good."""
    unknown: tuple[str, ...]
    """Versions between good and bad that could not be measured; one may be the first bad one."""


def bisect_versions(
    versions: Sequence[str],
    measure: Callable[[str], T | None],
    is_bad: Callable[[T, T], bool],
) -> Bisection[T] | None:
    """Measure about log2(N) of N versions, oldest first, and return where they become bad.

    `measure` returns None for a version that cannot be measured; one near it is tried instead.
    `is_bad` receives the measures of the first version and of another one. Returns None if fewer
    than two versions could be measured.
    """
    first = _first_measured(range(len(versions)), versions, measure)
    if first is None:
        return None
    low, base = first
    last = _first_measured(range(len(versions) - 1, low, -1), versions, measure)
    if last is None:
        return None
    high, newest = last
    good, bad = (versions[low], base), (versions[high], newest)
    if not is_bad(base, newest):
        return Bisection((versions[low], base), bad, None, ())
    unmeasured: set[int] = set()
    while candidates := [index for index in range(low + 1, high) if index not in unmeasured]:
        middle = (low + high) / 2
        index = min(candidates, key=lambda candidate: abs(candidate - middle))
        measured = measure(versions[index])
        if measured is None:
            unmeasured.add(index)
        elif is_bad(base, measured):
            high, bad = index, (versions[index], measured)
        else:
            low, good = index, (versions[index], measured)
    return Bisection((versions[first[0]], base), good, bad, tuple(versions[low + 1 : high]))


def _first_measured(
    indices: range, versions: Sequence[str], measure: Callable[[str], T | None]
) -> tuple[int, T] | None:
    for index in indices:
        measured = measure(versions[index])
        if measured is not None:
            return index, measured
    return None
