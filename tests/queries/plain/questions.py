"""Parameters for queries, by their declared names."""

from collections.abc import Collection, Iterator

from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import PlainValue

Question = dict[str, str | int]


def questions(declared: Collection[str], dump: PlainDump) -> Iterator[Question]:
    """Return the parameters for a query about a dump."""
    if "memorySpace" in declared:
        for color in dump.colors:
            yield {"memorySpace": color}
    if "value" in declared:
        for value in interesting(dump):
            yield {"value": value.label}
    elif "allocation" in declared:
        for allocation in dump.plan.allocations[-2:]:
            for offset in sorted({0, allocation.size_bytes // 2}):
                yield {"allocation": allocation.number, "offsetBytes": offset}
    elif "memorySpace" not in declared:
        yield {}
        if "step" in declared and dump.schedule:
            middle = len(dump.schedule) // 2
            yield {"step": middle}
            yield {"instruction": dump.schedule[middle]}
            yield {"instruction": dump.schedule[middle], "step": 1}


def interesting(dump: PlainDump) -> list[PlainValue]:
    """Return a value of the longest alias chain, the busiest, the smallest."""
    joined = dump.alias_sets
    by_chain = sorted(dump.values, key=lambda value: (-len(joined[value]), value.value_id))
    by_uses = sorted(dump.values, key=lambda value: (-len(value.uses), value.value_id))
    by_size = sorted(dump.values, key=lambda value: (-value.size, value.value_id))
    return list(dict.fromkeys((by_chain[0], by_uses[0], by_size[-1])))


PAIRS = (
    ("jaxlib-0.6.0", "jaxlib-0.10.2"),  # generations, the newer in three files
    ("tensorflow-1.14.0", "tensorflow-2.9.3"),  # no live ranges before
    ("misc", "kvcache"),  # several memory spaces
    ("donated", "remat"),
    ("dtypes", "dtypes"),
)
"""Runs before and after."""


def questions_over_runs(declared: Collection[str]) -> list[Question]:
    """Return the parameters for a query about all dumps."""
    asked: list[Question] = [{}]
    if "runA" in declared:
        asked = [{"runA": before, "runB": after} for before, after in PAIRS]
    elif "run" in declared:
        asked = [{}, {"run": "kvcache"}]
    elif "opName" in declared:
        asked = [{"opName": "x"}, {"opName": "jit(sorter)/jit(norm)/mul"}]
    if "module" in declared:
        asked += [{**one, "module": "jit_scanner"} for one in asked]
    if "memorySpace" in declared:
        asked += [{**one, "memorySpace": 1} for one in asked]
    return asked
