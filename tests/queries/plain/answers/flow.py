"""What the queries of theme flow must answer."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from tests.queries.plain.answer import Rows, in_order
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.value import PlainValue


@in_order("hop value instruction opcode")
def users(dump: PlainDump, value: str, hops: int = 3) -> Rows:
    made: dict[str, list[PlainValue]] = defaultdict(list)
    for item in dump.values:
        made[item.name].append(item)
    return _walk(
        dump, value, hops, lambda item: [other for name in item.users for other in made[name]]
    )


@in_order("hop value instruction opcode")
def producers(dump: PlainDump, value: str, hops: int = 3) -> Rows:
    read: dict[str, list[PlainValue]] = defaultdict(list)
    for item in dump.values:
        for name in item.users:
            read[name].append(item)
    return _walk(dump, value, hops, lambda item: read[item.name])


def _walk(
    dump: PlainDump, value: str, hops: int, neighbours: Callable[[PlainValue], Iterable[PlainValue]]
) -> Rows:
    one = dump.value(value)
    seen, at = {one}, [one]
    for hop in range(1, hops + 1):
        reached = {item for here in at for item in neighbours(here)} - seen
        at = list(reached)
        seen |= reached
        ordered = sorted(at, key=lambda item: item.label)
        yield from ((hop, item.label, item.name, item.made.opcode) for item in ordered)
