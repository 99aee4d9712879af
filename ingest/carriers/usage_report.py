"""Compare XLA's memory usage report with a compilation's allocations.

Total bytes used: 49436 (48.3KiB)        STAGE-memory-usage-report.txt, jaxlib 0.4.35 to 0.9.1

Memory Space: default (color=0)          since jaxlib 0.9.2: one for each memory space
Total bytes: 49436 (48.3KiB)

MemoryUsageReportProto                   STAGE-memory-usage-report.pb
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from xlagraph.ingest.carriers.carrier import Contents, Part
from xlagraph.ingest.carriers.memory_statistics import STATISTICS, STATISTICS_ENDING
from xlagraph.ingest.errors import Problem, readable
from xlagraph.ingest.plan import Plan
from xlagraph.runtime.files import without_packing

REPORT_TEXT: Final = "memory usage report"
REPORT_PROTO: Final = "memory usage report proto"
_ENDINGS: Final = {
    REPORT_TEXT: "-memory-usage-report.txt",
    REPORT_PROTO: "-memory-usage-report.pb",
    STATISTICS: STATISTICS_ENDING,
}
_TOTAL: Final = re.compile(rb"^Total bytes used: (\d{1,19})", re.MULTILINE)
_OF_SPACE: Final = re.compile(
    rb"^Memory Space: [^\n]*\(color=(\d{1,9})\)\r?\nTotal bytes: (\d{1,19})", re.MULTILINE
)


def report_parts(folder: Path, names: Sequence[str], part: str) -> dict[str, tuple[Part, ...]]:
    """Return the reports of a kind in a folder by the stem of their compilation.

    JAX's memory statistics are added to each. NAME precedes NAME.gz.
    """
    found: dict[str, dict[str, Part]] = {}
    for kind in (part, STATISTICS):
        ending = _ENDINGS[kind]
        for name in names:
            unpacked = without_packing(name)
            if unpacked.endswith(ending):
                parts = found.setdefault(unpacked.removesuffix(ending), {})
                parts.setdefault(kind, Part(kind, folder / name))
    return {stem: tuple(parts.values()) for stem, parts in found.items()}


def usage_disagreements(contents: Contents, plan: Plan) -> Iterator[Problem]:
    """Yield a problem for each sum of a report that differs from the sum in the plan."""
    by_space: Counter[int] = Counter()
    for allocation in plan.allocations:
        by_space[allocation.memory_space] += allocation.size_bytes
    for part in (REPORT_TEXT, REPORT_PROTO):
        content, path = contents.take(part), contents.source.path(part)
        if content is None or path is None:
            continue
        try:
            reported = _reported(part, content)
        except ValueError as error:
            yield Problem(readable(path), None, str(error), left_out=False)
            continue
        for color, size in reported.items():
            planned = by_space.total() if color is None else by_space[color]
            if planned != size:
                of = "" if color is None else f" in memory space {color}"
                message = f"states {size} bytes{of}, but its allocations add up to {planned}"
                yield Problem(readable(path), None, message, left_out=False)


def _reported(part: str, content: bytes) -> Mapping[int | None, int]:
    """Return the bytes of each memory space; the key None has their total.

    Raises ValueError if the report states neither.
    """
    if part == REPORT_PROTO:
        return _reported_in_message(content)
    if total := _TOTAL.search(content):
        return {None: int(total[1])}
    spaces: dict[int | None, int] = {
        int(color): int(size) for color, size in _OF_SPACE.findall(content)
    }
    if not spaces:
        raise ValueError("expected a line like 'Total bytes used: 49436 (48.3KiB)', found none")
    return spaces


def _reported_in_message(content: bytes) -> Mapping[int | None, int]:
    from google.protobuf.message import DecodeError

    from xlagraph.hlo.proto_messages import MemoryUsageReportProto

    try:
        report = MemoryUsageReportProto.FromString(content)
    except DecodeError:
        raise ValueError(
            "expected a MemoryUsageReportProto, found bytes that are not one"
        ) from None
    return {
        each.memory_space_color if each.HasField("memory_space_color") else None: each.total_bytes
        for each in report.memory_space_allocation_entries
    }
