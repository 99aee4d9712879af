"""The baseline during a pytest session: it is either checked or updated."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from xlagraph.presentation.byte_sizes import distinct_bytes, human_bytes, parse_bytes, parse_share
from xlagraph.presentation.readable_tables import text_table
from xlagraph.pytest.baseline import (
    Entries,
    Entry,
    entry_of,
    line_growth,
    read_baseline,
    write_baseline,
)
from xlagraph.pytest.look import look_text

if TYPE_CHECKING:
    from xlagraph.jax import FunctionPlan

_SHOWN_LINES = 10
_UPDATE = "pytest --update-memory-baseline"


class BaselineSession:
    """A baseline that tests are compared with, or that they update."""

    def __init__(self, file: Path, root: Path, *, is_updated: bool) -> None:
        self._file = file
        self._root = root
        self._is_updated = is_updated
        self._entries: Entries | None = None
        self.updated: Entries = {}
        """Entries found in this session, if the baseline is updated."""

    def check(
        self, plan: "FunctionPlan", test: str, tolerance: str | int, folder: Path | None
    ) -> None:
        """Fail if a plan exceeds its baseline by more than the tolerance.

        If the baseline is updated, record the plan instead.
        """
        now = entry_of(plan, self._root)
        platform = plan.platform or "tpu"
        if self._is_updated:
            self.updated.setdefault(test, {})[platform] = now
            return
        if self._entries is None:
            self._entries = read_baseline(self._file)
        before = self._entries.get(test, {}).get(platform)
        if before is None:
            pytest.fail(
                f"{test}: {self._file.name} has no baseline for this test on {platform}; the plan"
                f" reserves {human_bytes(plan.reserved)}. Accept it with {_UPDATE}, and review the"
                " file.",
                pytrace=False,
            )
        limit = before["reservedBytes"] + _tolerated(tolerance, before["reservedBytes"])
        if plan.reserved > limit:
            look = look_text(plan, test, folder)
            pytest.fail(_growth_text(test, before, now, self._file.name, look), pytrace=False)

    def write(self) -> str:
        """Write the updated entries to the baseline; entries of other tests are unchanged.

        Return a sentence that counts what changed.
        """
        entries = read_baseline(self._file)
        counts = Counter({"added": 0, "changed": 0, "unchanged": 0})
        for test, by_platform in self.updated.items():
            before = entries.get(test, {})
            for platform, entry in by_platform.items():
                kind = "added" if platform not in before else "changed"
                counts[kind if before.get(platform) != entry else "unchanged"] += 1
            entries[test] = {**before, **by_platform}
        write_baseline(self._file, entries)
        return (
            f"{self._file.name}: {', '.join(f'{count} {kind}' for kind, count in counts.items())}"
        )


def _tolerated(tolerance: str | int, size_bytes: int) -> int:
    """Return a tolerance in bytes, given as a number, ``2%`` or ``1MiB``; else ValueError."""
    if isinstance(tolerance, int):
        return tolerance
    share = parse_share(tolerance)
    return parse_bytes(tolerance) if share is None else int(share * size_bytes)


def _growth_text(test: str, before: Entry, now: Entry, baseline: str, look: str) -> str:
    was, reserved = before["reservedBytes"], now["reservedBytes"]
    texts = distinct_bytes(reserved, was)
    share = f" ({(reserved - was) / was:+.1%})" if was else ""
    growth = human_bytes(reserved - was)
    parts = [f"{test} reserves {texts[0]}, {growth} more than its baseline of {texts[1]}{share}"]
    if before["jaxlib"] != now["jaxlib"]:
        parts[0] += f"\njaxlib was {before['jaxlib']} and is now {now['jaxlib']}"
    if grown := line_growth(before, now)[:_SHOWN_LINES]:
        table = text_table(("growthBytes", "bytes", "line"), grown)
        parts.append(f"grown at the physical peak:\n{table}")
    parts.append(f"{look}\naccept: {_UPDATE}, and review {baseline}".strip())
    return "\n\n".join(parts)
