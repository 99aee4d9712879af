"""Parse a range of released versions of a package, such as ``jax==0.6.2..0.10.2``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from xlagraph.ingest.errors import VersionUnknown

__all__ = ["PackageRange", "parse_package_range"]

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
