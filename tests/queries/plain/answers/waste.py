"""Expected rows of the queries of theme waste."""

import re
from collections import defaultdict

from tests.queries.plain.answer import Rows, largest_first
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
    """Return True if it is one half of a pair."""
    return opcode.endswith(("-start", "-done"))


@largest_first(
    "paddingBytes", "value shape denseBytes sizeBytes paddingBytes ratio totalPaddingBytes"
)
def padding(dump: PlainDump) -> Rows:
    padded = [(value, value.dense) for value in dump.values
              if value.dense is not None and value.size > value.dense]  # fmt: skip
    total = sum(value.size - dense for value, dense in padded)
    for value, dense in padded:
        ratio = value.size / dense if dense else None
        yield value.label, value.shape, dense, value.size, value.size - dense, ratio, total


@largest_first("sizeBytes", "value sizeBytes instruction target")
def scratch(dump: PlainDump) -> Rows:
    reading = {user for value in dump.values for user in value.users}
    for value in dump.values:
        has_results = value.made.opcode in {
            "custom-call", "fusion", "sort", "reduce", "reduce-window", "scatter", "map",
            "rng-bit-generator",
        }  # fmt: skip
        is_result = has_results and value.shape_index and value.is_array
        leaves = dump.live_to_the_end(value) if value.steps else value.allocation.maybe_live_out
        is_unread = not value.uses and not leaves
        if is_result and is_unread and value.name in reading:
            yield value.label, value.size, value.name, value.made.target


@largest_first("sizeBytes", "value sizeBytes producer consumer")
def single_use(dump: PlainDump) -> Rows:
    making = {value.name for value in dump.values}
    carried = {one.earlier for one in dump.takeovers if one.in_place and one.later.is_phi}
    for value in dump.values:
        opcode = value.made.opcode
        passes = bool(value.steps) and not dump.live_to_the_end(value)
        is_temporary = (role(value.allocation) == "temp" or passes) and value.size > 0
        if not is_temporary or not value.is_array or value.is_phi or value in carried:
            continue
        if opcode in NEVER_FUSED or is_async(opcode or ""):
            continue
        readers = [
            name for name in value.users if name in making and dump.text(name).opcode != "tuple"
        ]
        if len(readers) == 1 and opcode is not None:
            reading = dump.text(readers[0]).opcode
            if reading is not None and reading not in NEVER_FUSING and not is_async(reading):
                yield value.label, value.size, value.name, readers[0]


@largest_first("sizeBytes", "value sizeBytes")
def broadcasts(dump: PlainDump) -> Rows:
    for value in dump.values:
        made = dump.root(value.name) if value.made.opcode == "fusion" else value.made.opcode
        if made in ("constant", "iota", "broadcast") and value.size > 0:
            yield value.label, value.size


@largest_first("sizeBytes", "value dtype sizeBytes")
def wide_types(dump: PlainDump) -> Rows:
    for value in dump.values:
        if value.dtype in ("f32", "f64", "s64"):
            yield value.label, value.dtype, value.size


@largest_first("totalBytes", "opName shape copies sizeBytes totalBytes")
def duplicates(dump: PlainDump, memory_space: int) -> Rows:
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for value, share in dump.shares(memory_space).items():
        if share > 0 and value.is_array and (name := dump.attribution(value).op_name) is not None:
            groups[name, value.shape].append(value.size)
    for group, sizes in groups.items():
        if len(sizes) > 1:
            yield *group, len(sizes), max(sizes), sum(sizes)


@largest_first("physicalBytes", "value sizeBytes physicalBytes")
def gathered(dump: PlainDump, memory_space: int) -> Rows:
    for value, share in dump.shares(memory_space).items():
        made = dump.root(value.name) if value.made.opcode == "fusion" else value.made.opcode
        is_whole = (
            value.made.opcode == "parameter"
            and dump.module.partitions > 1
            and ", sharding={replicated}" in dump.line(value.name)
            and any(re.search(r" parameter\(.*, sharding=\{.*devices=", dump.line(name))
                    for name in dump.schedule)
        )  # fmt: skip
        if (made in ("all-gather", "all-gather-start") or is_whole) and value.is_array:
            yield value.label, value.size, share
