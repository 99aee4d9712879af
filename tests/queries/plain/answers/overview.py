"""Expected rows of the queries of theme overview."""

from collections import defaultdict
from collections.abc import Sequence

from tests.queries.plain.answer import Rows, in_order, largest_first
from tests.queries.plain.plan import PlainDump, chosen
from tests.queries.plain.value import role


@in_order("memorySpace role allocations allocationBytes")
def roles(dump: PlainDump) -> Rows:
    groups: dict[tuple[int, str | None], list[int]] = defaultdict(list)
    for allocation in dump.plan.allocations:
        groups[allocation.memory_space, role(allocation)].append(allocation.size_bytes)
    rows = [(*group, len(sizes), sum(sizes)) for group, sizes in groups.items()]
    return sorted(rows, key=lambda row: (row[0], -row[3], row[1] or "~"))


@in_order("memorySpace allocationBytes logicalPeakBytes physicalPeakBytes idleBytes reservedBytes")
def spaces(dump: PlainDump) -> Rows:
    for color in dump.colors:
        total = sum(
            allocation.size_bytes
            for allocation in dump.plan.allocations
            if allocation.memory_space == color
        )
        peak = dump.physical_peak(color)
        reserved = dump.reserved(color)
        idle = None if peak is None else reserved - peak
        yield color, total, dump.logical_peak(color), peak, idle, reserved


@largest_first(
    "reservedBytes",
    "run compilation module platform values totalBytes reservedBytes"
    " logicalPeakBytes physicalPeakBytes printedPeakBytes",
)
def compilations(dumps: Sequence[PlainDump], run: str = "") -> Rows:
    for dump in chosen(dumps, run):
        yield (
            *(dump.files.run, dump.key, dump.module_name, dump.platform, len(dump.plan.values)),
            *(dump.plan.total_bytes, dump.reserved(0)),
            *(dump.logical_peak(0), dump.physical_peak(0), dump.printed_peak),
        )


@largest_first("paddingBytes", "compilation values paddingBytes peakBytes totalPaddingBytes")
def padding(dumps: Sequence[PlainDump], run: str = "", memory_space: int = 0) -> Rows:
    found = []
    for dump in chosen(dumps, run):
        padded = [
            min(share, value.size - value.dense)
            for value, share in dump.shares(memory_space).items()
            if value.dense is not None and value.size > value.dense and share
        ]
        if padded:
            found.append((dump.key, len(padded), sum(padded), dump.physical_peak(memory_space)))
    total = sum(row[2] for row in found)
    return [(*row, total) for row in found]


@in_order(
    "compilation totalBytes allocationBytes agrees"
    " printedPeakBytes logicalPeakBytes physicalPeakBytes"
)
def totals(dumps: Sequence[PlainDump], run: str = "") -> Rows:
    rows = []
    for dump in chosen(dumps, run):
        total = dump.plan.total_bytes
        taken = dump.allocated
        agrees = None if total is None else total == taken
        peaks = (dump.printed_peak, dump.logical_peak(0), dump.physical_peak(0))
        rows.append((dump.key, total, taken, agrees, *peaks))
    return sorted(rows, key=lambda row: ((False, True, None).index(row[3]), row[0]))
