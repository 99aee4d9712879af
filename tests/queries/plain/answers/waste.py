"""What the queries of theme waste must answer."""

import re
from collections import defaultdict

from tests.queries.plain.answer import Rows, largest_first
from tests.queries.plain.measures import takeovers
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import role

LIBRARY_OR_CONTROL = frozenset(
    (
        *("custom-call", "while", "conditional", "call", "sort", "fft", "cholesky"),
        *("triangular-solve", "all-reduce", "all-gather", "all-to-all", "reduce-scatter"),
        *("collective-permute", "collective-broadcast", "ragged-all-to-all"),
    )
)


NEVER_FUSED = LIBRARY_OR_CONTROL | frozenset(
    ["scatter", "rng-bit-generator", "infeed", "recv", "parameter", "constant"]
)
NEVER_FUSING = LIBRARY_OR_CONTROL | frozenset(["outfeed", "send"])


def is_async(opcode: str) -> bool:
    """Return whether it is one half of a pair."""
    return opcode.endswith(("-start", "-done"))


@largest_first("paddingBytes", "value shape denseBytes sizeBytes paddingBytes ratio")
def padding(dump: PlainDump) -> Rows:
    for item in dump.values:
        if item.dense is not None and item.size > item.dense:
            ratio = item.size / item.dense if item.dense else None
            yield item.label, item.shape, item.dense, item.size, item.size - item.dense, ratio


@largest_first("sizeBytes", "value sizeBytes instruction target")
def scratch(dump: PlainDump) -> Rows:
    reading = {user for item in dump.values for user in item.users}
    for item in dump.values:
        is_result = item.made.opcode == "custom-call" and item.shape_index and item.is_array
        leaves = dump.live_to_the_end(item) if item.steps else item.allocation.maybe_live_out
        is_unread = not item.uses and not leaves
        if is_result and is_unread and item.name in reading:
            yield item.label, item.size, item.name, item.made.target


@largest_first("sizeBytes", "value sizeBytes producer consumer")
def single_use(dump: PlainDump) -> Rows:
    making = {item.name for item in dump.values}
    carried = {one.earlier for one in takeovers(dump.values) if one.in_place and one.later.is_phi}
    for item in dump.values:
        opcode = item.made.opcode
        passes = bool(item.steps) and not dump.live_to_the_end(item)
        is_temporary = (role(item.allocation) == "temp" or passes) and item.size > 0
        if not is_temporary or not item.is_array or item.is_phi or item in carried:
            continue
        if opcode in NEVER_FUSED or is_async(opcode or ""):
            continue
        readers = [
            name for name in item.users if name in making and dump.text(name).opcode != "tuple"
        ]
        if len(readers) == 1 and opcode is not None:
            reading = dump.text(readers[0]).opcode
            if reading is not None and reading not in NEVER_FUSING and not is_async(reading):
                yield item.label, item.size, item.name, readers[0]


@largest_first("sizeBytes", "value sizeBytes")
def broadcasts(dump: PlainDump) -> Rows:
    for item in dump.values:
        made = dump.root(item.name) if item.made.opcode == "fusion" else item.made.opcode
        if made in ("constant", "iota", "broadcast") and item.size > 0:
            yield item.label, item.size


@largest_first("sizeBytes", "value dtype sizeBytes")
def wide_types(dump: PlainDump) -> Rows:
    for item in dump.values:
        if item.dtype in ("f32", "f64", "s64"):
            yield item.label, item.dtype, item.size


@largest_first("totalBytes", "opName shape copies sizeBytes totalBytes")
def duplicates(dump: PlainDump, memory_space: int) -> Rows:
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for item, share in dump.shares(memory_space).items():
        if share > 0 and item.is_array and (name := dump.belonging(item).op_name) is not None:
            groups[name, item.shape].append(item.size)
    for group, sizes in groups.items():
        if len(sizes) > 1:
            yield *group, len(sizes), max(sizes), sum(sizes)


@largest_first("physicalBytes", "value sizeBytes physicalBytes")
def gathered(dump: PlainDump, memory_space: int) -> Rows:
    for item, share in dump.shares(memory_space).items():
        made = dump.root(item.name) if item.made.opcode == "fusion" else item.made.opcode
        is_whole = (
            item.made.opcode == "parameter"
            and dump.module.partitions > 1
            and ", sharding={replicated}" in dump.line(item.name)
            and any(re.search(r" parameter\(.*, sharding=\{.*devices=", dump.line(name))
                    for name in dump.schedule)
        )  # fmt: skip
        if (made in ("all-gather", "all-gather-start") or is_whole) and item.is_array:
            yield item.label, item.size, share
