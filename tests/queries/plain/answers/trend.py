"""Expected rows of the queries of theme trend."""

from collections import defaultdict
from collections.abc import Sequence

from tests.queries.plain.answer import Rows, in_order, largest_first
from tests.queries.plain.groups import over_generations
from tests.queries.plain.plan import PlainDump, chosen


@in_order("run compilation reservedBytes physicalPeakBytes allocationBytes")
def modules(dumps: Sequence[PlainDump], module: str = "", memory_space: int = 0) -> Rows:
    for dump in sorted(chosen(dumps, module=module), key=lambda dump: (dump.files.run, dump.key)):
        peak = dump.physical_peak(memory_space)
        yield dump.files.run, dump.key, dump.reserved(memory_space), peak, dump.allocated


@in_order("run compilation bytes")
def op(dumps: Sequence[PlainDump], op_name: str, memory_space: int = 0) -> Rows:
    for dump in sorted(dumps, key=lambda dump: (dump.files.run, dump.key)):
        shares = dump.shares(memory_space)
        of_op = [
            share
            for value, share in shares.items()
            if over_generations(dump.attribution(value).op_name) == over_generations(op_name)
        ]
        if of_op:
            yield dump.files.run, dump.key, sum(of_op)


@largest_first("compilations", "opName compilations totalBytes maxBytes")
def recurring(dumps: Sequence[PlainDump], run: str = "", memory_space: int = 0) -> Rows:
    sums: dict[str | None, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    names: dict[str | None, set[str | None]] = defaultdict(set)
    for dump in chosen(dumps, run):
        for value, share in dump.shares(memory_space).items():
            if share > 0:
                name = dump.attribution(value).op_name
                names[over_generations(name)].add(name)
                sums[over_generations(name)][dump.key] += share
    for op, by_key in sums.items():
        (name,) = names[op] if len(names[op]) == 1 else (op,)
        yield name, len(by_key), sum(by_key.values()), max(by_key.values())
