"""What queries over runs must answer, written from their words, over plain dumps.

Each function takes all compilations of the graph and the parameters of the query.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from plain_answers import GROUPS, PlainAnswer, Rows
from plain_plan import PlainDump, PlainValue, role

RUN_ANSWERS: dict[str, PlainAnswer] = {}


def answers(
    query: str, columns: str, *, largest: str | None = "growthBytes"
) -> Callable[..., None]:
    """Register what gives the rows of a query."""

    def register(compute: Callable[..., Rows]) -> None:
        RUN_ANSWERS[query] = PlainAnswer(tuple(columns.split()), compute, largest)

    return register


def module(dump: PlainDump) -> str | None:
    """Give the module's name without trailing digits, from the name of the file."""
    found = re.fullmatch(
        r"(?:\d{10,}\.)?module_\d+\.(.+?)(?:\.cl_\d+)?\.(?:cpu_|sm_.*?gpu_)?after_optimizations",
        dump.files.stem,
    )
    return re.sub(r"\.\d+$", "", found[1]) if found else None


def platform(dump: PlainDump) -> str | None:
    """Give the platform, from the name of the file."""
    found = re.search(r"(cpu|gpu)_after_optimizations$", dump.files.stem)
    return found[1] if found else None


@answers(
    "overview/compilations",
    "run compilation module platform values totalBytes reservedBytes logicalPeakBytes"
    " physicalPeakBytes printedPeakBytes",
    largest="reservedBytes",
)
def _compilations(dumps: Sequence[PlainDump], run: str = "") -> Rows:
    for dump in _of_run(dumps, run):
        yield (
            *(dump.files.run, dump.key, module(dump), platform(dump), len(dump.plan.values)),
            *(dump.plan.total and dump.plan.total.bytes, dump.reserved(0)),
            *(dump.logical_peak(0), dump.physical_peak(0), dump.printed_peak),
        )


@answers(
    "overview/totals",
    "compilation totalBytes allocationBytes agrees printedPeakBytes logicalPeakBytes"
    " physicalPeakBytes",
    largest=None,
)
def _totals(dumps: Sequence[PlainDump], run: str = "") -> Rows:
    rows = []
    for dump in _of_run(dumps, run):
        total = dump.plan.total.bytes if dump.plan.total else None
        taken = _allocated(dump)
        agrees = None if total is None else total == taken
        peaks = (dump.printed_peak, dump.logical_peak(0), dump.physical_peak(0))
        rows.append((dump.key, total, taken, agrees, *peaks))
    return sorted(rows, key=lambda row: ((False, True, None).index(row[3]), row[0]))


def _of_run(dumps: Iterable[PlainDump], run: str) -> list[PlainDump]:
    return [dump for dump in dumps if run in ("", dump.files.run)]


def _allocated(dump: PlainDump) -> int:
    return sum(item.size_bytes for item in dump.plan.allocations)


def _of_module(dumps: Iterable[PlainDump], name: str) -> list[PlainDump]:
    return [dump for dump in dumps if name in ("", module(dump))]


@answers(
    "compare/modules",
    "module compilationsA compilationsB reservedBytesA reservedBytesB physicalPeakBytesA"
    " physicalPeakBytesB growthBytes",
)
def _modules(dumps: Sequence[PlainDump], run_a: str, run_b: str, memory_space: int = 0) -> Rows:
    sides = [_of_run(dumps, run_a), _of_run(dumps, run_b)]
    for name in {module(dump) for side in sides for dump in side}:
        here = [[dump for dump in side if module(dump) == name] for side in sides]
        reserved = [
            max((dump.reserved(memory_space) for dump in side), default=None) for side in here
        ]
        peaks = [_largest(dump.physical_peak(memory_space) for dump in side) for side in here]
        growth = (reserved[1] or 0) - (reserved[0] or 0)
        yield name, len(here[0]), len(here[1]), *reserved, *peaks, growth


def _largest(numbers: Iterable[int | None]) -> int | None:
    return max((number for number in numbers if number is not None), default=None)


def _growth(
    dumps: Sequence[PlainDump],
    of: Callable[[PlainDump], Iterable[tuple[tuple[object, ...], int]]],
    runs: tuple[str, str],
    name: str,
) -> Rows:
    sums: dict[tuple[object, ...], list[int]] = defaultdict(lambda: [0, 0])
    for side, run in enumerate(runs):
        for dump in _of_module(_of_run(dumps, run), name):
            for group, count in of(dump):
                sums[group][side] += count
    for group, (before, after) in sums.items():
        yield *group, before, after, after - before


for _query, _by in {"ops": "op", "lines": "line", "opcodes": "opcode", "shapes": "shape"}.items():
    answers(f"compare/{_query}", f"{GROUPS[_by][0]} bytesA bytesB growthBytes")(
        lambda dumps, run_a, run_b, memory_space=0, module="", group=GROUPS[_by][1]: _growth(
            dumps,
            lambda dump: (
                (group(item), share) for item, share in dump.shares(memory_space).items()
            ),
            (run_a, run_b),
            module,
        )
    )


@answers("compare/roles", "role bytesA bytesB growthBytes")
def _roles(dumps: Sequence[PlainDump], run_a: str, run_b: str, module: str = "") -> Rows:
    return _growth(
        dumps,
        lambda dump: (((role(item),), item.size_bytes) for item in dump.plan.allocations),
        (run_a, run_b),
        module,
    )


@answers(
    "compare/values",
    "change opName opcode shapeIndex shapeA shapeB valuesA valuesB bytesA bytesB growthBytes",
    largest=None,
)
def _changes(
    dumps: Sequence[PlainDump], run_a: str, run_b: str, memory_space: int = 0, module: str = ""
) -> Rows:
    groups: dict[tuple[str | None, ...], tuple[list[PlainValue], list[PlainValue]]] = {}
    for side, run in enumerate((run_a, run_b)):
        for dump in _of_module(_of_run(dumps, run), module):
            for item in dump.values:
                is_here = item.allocation.color == memory_space and item.size > 0
                if is_here and role(item.allocation) != "threadLocal":
                    group = (item.made.op_name, item.made.opcode, item.shape_index)
                    groups.setdefault(group, ([], []))[side].append(item)
    rows = []
    for group, sides in groups.items():
        sizes = [sum(item.size for item in side) for side in sides]
        shapes = [min((item.shape for item in side), default=None) for side in sides]
        growth = sizes[1] - sizes[0]
        if not sides[0] or not sides[1]:
            change = "gone" if sides[0] else "new"
        elif growth:
            change = "grown" if growth > 0 else "shrunk"
        elif shapes[0] != shapes[1]:
            change = "reshaped"
        else:
            continue
        rows.append((change, *group, *shapes, *map(len, sides), *sizes, growth))
    last = chr(0x10FFFF)  # null sorts behind all text
    return sorted(
        rows, key=lambda row: (-abs(row[-1]), -row[-1], *(word or last for word in row[1:4]))
    )


@answers(
    "trend/modules",
    "run compilation reservedBytes physicalPeakBytes allocationBytes",
    largest=None,
)
def _trend(dumps: Sequence[PlainDump], module: str = "", memory_space: int = 0) -> Rows:
    for dump in sorted(_of_module(dumps, module), key=lambda dump: (dump.files.run, dump.key)):
        peak = dump.physical_peak(memory_space)
        yield dump.files.run, dump.key, dump.reserved(memory_space), peak, _allocated(dump)


@answers("trend/op", "run compilation bytes", largest=None)
def _trend_of_op(dumps: Sequence[PlainDump], op_name: str, memory_space: int = 0) -> Rows:
    for dump in sorted(dumps, key=lambda dump: (dump.files.run, dump.key)):
        shares = dump.shares(memory_space)
        of_op = [share for item, share in shares.items() if item.made.op_name == op_name]
        if of_op:
            yield dump.files.run, dump.key, sum(of_op)


@answers("trend/recurring", "opName compilations totalBytes maxBytes", largest="compilations")
def _recurring(dumps: Sequence[PlainDump], run: str = "", memory_space: int = 0) -> Rows:
    sums: dict[str | None, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for dump in _of_run(dumps, run):
        for item, share in dump.shares(memory_space).items():
            if share > 0:
                sums[item.made.op_name][dump.key] += share
    for name, by_key in sums.items():
        yield name, len(by_key), sum(by_key.values()), max(by_key.values())
