"""Find the first bad version in a range, even if some versions cannot be measured."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Generic, TypeVar

from xlagraph.ingest.errors import VersionUnknown

_FORM: Final = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[\w.,-]+\])?"
    r"==(?P<first>\d[\w.+!]*?)\.\.(?P<last>\d[\w.+!]*)"
)


@dataclass(frozen=True, slots=True)
class PackageRange:
    """A package with the first and last version to try."""

    name: str
    extras: str
    """Extras with their brackets; empty without extras."""
    first: str
    last: str

    def requirement(self, version: str) -> str:
        """Return the requirement for exactly this version."""
        return f"{self.name}{self.extras}=={version}"

    def versions(self, released: Sequence[str]) -> tuple[str, ...]:
        """Return the versions from first to last; `released` is sorted, oldest first.

        Raises VersionUnknown if either is not released, or if the last is not newer than the
        first.
        """
        for end in (self.first, self.last):
            if end not in released:
                near = get_close_matches(end, released, n=5, cutoff=0) or ["none"]
                raise VersionUnknown(
                    f"{self.name} {end} is not released for this Python; similar versions:"
                    f" {', '.join(near)}"
                )
        begin, end_index = released.index(self.first), released.index(self.last)
        if begin >= end_index:
            raise VersionUnknown(
                f"expected an older and a newer version of {self.name},"
                f" found {self.first}..{self.last}"
            )
        return tuple(released[begin : end_index + 1])


def parse_package_range(text: str) -> PackageRange:
    """Parse ``jax==0.6.2..0.10.2`` or ``jax[cpu]==0.4.30..0.6.2``; raises ValueError if invalid."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"expected a range such as jax==0.6.2..0.10.2, found {text!r}")
    return PackageRange(found["name"], found["extras"] or "", found["first"], found["last"])


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
