"""A range of the released versions of a package, written ``jax==0.6.2..0.10.2``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from xlagraph.ingest.problems.errors import VersionUnknown

__all__ = ["PackageRange", "parse_package_range"]

_FORM: Final = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[\w.,-]+\])?"
    r"==(?P<first>\d[\w.+!]*?)\.\.(?P<last>\d[\w.+!]*)"
)


@dataclass(frozen=True, slots=True)
class PackageRange:
    """A package, and the first and last version to try."""

    name: str
    extras: str
    """With their brackets; empty without any."""
    first: str
    last: str

    def requirement(self, version: str) -> str:
        """Return what an installer takes for exactly this version."""
        return f"{self.name}{self.extras}=={version}"

    def versions(self, released: Sequence[str]) -> tuple[str, ...]:
        """Return the released versions from first to last, where `released` is oldest first.

        Raises VersionUnknown if an end is not released, or the last one is the older one.
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
    """Read ``jax==0.6.2..0.10.2`` or ``jax[cpu]==0.4.30..0.6.2``; ValueError for another form."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"expected a range such as jax==0.6.2..0.10.2, found {text!r}")
    return PackageRange(found["name"], found["extras"] or "", found["first"], found["last"])
