"""What the queries of theme flow must answer."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from tests.queries.plain.answer import Rows, in_order
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import PlainValue


@in_order("hop value instruction opcode")
def users(dump: PlainDump, value: str, hops: int = 3) -> Rows:
    made: dict[str, list[PlainValue]] = defaultdict(list)
    for result in dump.values:
        made[result.name].append(result)
    return _walk(
        dump, value, hops, lambda read: [result for name in read.users for result in made[name]]
    )


@in_order("hop value instruction opcode")
def producers(dump: PlainDump, value: str, hops: int = 3) -> Rows:
    read: dict[str, list[PlainValue]] = defaultdict(list)
    for reader in dump.values:
        for name in reader.users:
            read[name].append(reader)
    return _walk(dump, value, hops, lambda made: read[made.name])


def _walk(
    dump: PlainDump, value: str, hops: int, neighbours: Callable[[PlainValue], Iterable[PlainValue]]
) -> Rows:
    one = dump.value(value)
    seen, at = {one}, [one]
    for hop in range(1, hops + 1):
        reached = {found for here in at for found in neighbours(here)} - seen
        at = list(reached)
        seen |= reached
        ordered = sorted(at, key=lambda found: found.label)
        yield from ((hop, found.label, found.name, found.made.opcode) for found in ordered)
