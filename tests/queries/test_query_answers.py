"""Answers over real dumps agree with a second computation straight from the plan."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from plain_plan import (
    PlainValue,
    alias_sets,
    physical,
    plain_values,
    shares_at_peak,
    takeovers,
)

from xlagraph.graph import Cell, Graph, open_graph
from xlagraph.ingest import DumpPart, Plan, find_dumps, ingest, parse_plan
from xlagraph.queries import load_catalogue, run

FOLDERS = ("runs/baseline", "runs/donated", "runs/scan", "versions", "tpu")
MOST_VALUES = 500
"""Larger compilations take the plain computation too long."""

CATALOGUE = load_catalogue()
ALL = 1_000_000


@pytest.fixture(scope="module")
def plans(shared_dumps: Path) -> dict[str, Plan]:
    """Of each run the plan with the most values, by the key of its compilation."""
    largest: dict[str, tuple[str, Plan]] = {}
    for folder in FOLDERS:
        for dump in find_dumps(shared_dumps / folder).dumps:
            paths = [dump.allocations, dump.values, dump.live_range]
            parts = [DumpPart(path.name, path.read_text()) for path in paths if path]
            if sum(len(part.text) for part in parts) > 2_000_000:
                continue
            plan = parse_plan(parts)
            before = largest.get(dump.run)
            if len(plan.values) <= MOST_VALUES and (
                before is None or len(plan.values) > len(before[1].values)
            ):
                largest[dump.run] = (dump.key, plan)
    return dict(largest.values())


@pytest.fixture(scope="module")
def graph(
    plans: dict[str, Plan], shared_dumps: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Graph]:
    """A graph of the same dumps."""
    with open_graph(tmp_path_factory.mktemp("graph") / "real.lbug", create=True) as graph:
        for folder in FOLDERS:
            ingest(graph, shared_dumps / folder)
        yield graph


Values = Mapping[str, list[PlainValue]]


@pytest.fixture(scope="module")
def values(plans: dict[str, Plan]) -> Values:
    return {key: plain_values(plan) for key, plan in plans.items()}


def ask(graph: Graph, query: str, columns: str, **parameters: str | int) -> list[tuple[Cell, ...]]:
    """Give some columns of all rows of a query."""
    if any(item.name == "limit" for item in CATALOGUE[query].parameters):
        parameters["limit"] = ALL
    rows = run(graph, query, catalogue=CATALOGUE, **parameters).result.mappings()
    return [tuple(row[column] for column in columns.split()) for row in rows]


def test_contributors_are_what_is_live_at_the_peak_with_their_own_bytes(
    graph: Graph, values: Values
):
    for key, of_plan in values.items():
        for color in {item.allocation.color for item in of_plan}:
            rows = ask(
                graph,
                "peak/contributors",
                "value allocation offsetBytes sizeBytes physicalBytes shape liveFrom liveUntil",
                compilation=key,
                memorySpace=color,
            )
            shares = shares_at_peak(of_plan, color)
            assert sorted(rows) == sorted(
                (
                    item.label,
                    item.allocation.number,
                    item.offset,
                    item.size,
                    share,
                    item.shape,
                    item.first,
                    item.last,
                )
                for item, share in shares.items()
            ), key
            assert [row[4] for row in rows] == sorted((row[4] for row in rows), reverse=True)


def test_groups_add_up_to_the_peak(graph: Graph, values: Values):
    for key, of_plan in values.items():
        shares = shares_at_peak(of_plan, 0)
        for query in CATALOGUE:
            if query.startswith("peak/by-"):
                rows = ask(graph, query, "values physicalBytes sizeBytes", compilation=key)
                sums = [sum(column) for column in zip(*rows, strict=True)]
                sizes = sum(item.size for item in shares)
                expected = [len(shares), sum(shares.values()), sizes] if shares else []
                assert sums == expected, (key, query)


def test_shapes_at_the_peak(graph: Graph, values: Values):
    for key, of_plan in values.items():
        bytes_by_shape: Counter[str] = Counter()
        for item, share in shares_at_peak(of_plan, 0).items():
            bytes_by_shape[item.shape] += share
        rows = ask(graph, "peak/by-shape", "shape physicalBytes", compilation=key)
        assert dict(rows) == bytes_by_shape, key


def test_timeline_counts_the_bytes_that_hold_something(
    graph: Graph, values: Values, plans: dict[str, Plan]
):
    for key, of_plan in values.items():
        live_ranges = plans[key].live_ranges
        here = [item for item in of_plan if item.allocation.color == 0]
        assert ask(
            graph, "peak/timeline", "step instruction logicalBytes physicalBytes", compilation=key
        ) == [
            (
                step,
                name,
                sum(item.size for item in here if item.is_live(step)),
                physical(here, step),
            )
            for step, name in enumerate(live_ranges.schedule if live_ranges else ())
        ], key


def test_in_place_and_reuse_are_the_last_occupants(graph: Graph, values: Values):
    for key, of_plan in values.items():
        found = takeovers(of_plan)
        assert Counter(
            ask(
                graph,
                "alias/in-place",
                "earlier later allocation sharedBytes step",
                compilation=key,
            )
        ) == Counter(
            (
                item.earlier.label,
                item.later.label,
                item.later.allocation.number,
                item.shared,
                item.later.first,
            )
            for item in found
            if item.in_place
        ), key
        assert Counter(
            ask(
                graph,
                "reuse/pairs",
                "earlier later sharedBytes freedAt reusedAt gapSteps",
                compilation=key,
            )
        ) == Counter(
            (
                item.earlier.label,
                item.later.label,
                item.shared,
                item.earlier.last,
                item.later.first,
                item.later.place[0] - item.earlier.place[1],
            )
            for item in found
            if not item.in_place
        ), key


def test_chains_are_alias_sets_and_overlaps_in_order(graph: Graph, values: Values):
    for key, of_plan in values.items():
        joined = alias_sets(of_plan)
        longest = sorted(joined.items(), key=lambda item: (-len(item[1]), item[0].value_id))
        for one, members in longest[:3]:
            if one.first is None:
                continue
            ordered = sorted(members, key=lambda item: item.place)
            assert ask(
                graph, "alias/chain", "position value", compilation=key, value=one.label
            ) == [(place, item.label) for place, item in enumerate(ordered)], key
            later = sorted(
                (
                    item
                    for item in of_plan
                    if item.first is not None
                    and item.place > one.place
                    and set(item.segments) & set(one.segments)
                ),
                key=lambda item: item.place,
            )
            assert ask(
                graph, "reuse/chain", "value sharedBytes inPlace", compilation=key, value=one.label
            ) == [
                (
                    item.label,
                    sum(past - first for _, first, past in {*item.segments} & {*one.segments}),
                    item in members,
                )
                for item in later
            ], (key, one.label)


def test_inputs_that_were_not_donated(graph: Graph, values: Values, plans: dict[str, Plan]):
    for key, of_plan in values.items():
        live_ranges = plans[key].live_ranges
        held: dict[int, list[PlainValue]] = defaultdict(list)
        for item in of_plan:
            held[item.allocation.number].append(item)
        outputs = [
            item
            for item in of_plan
            if item.allocation.maybe_live_out
            and item.allocation.parameter is None
            and live_ranges is not None
            and item.last == live_ranges.max_step
            and not item.shape.startswith(("(", "token"))
        ]
        expected = []
        for allocation in plans[key].allocations:
            if allocation.parameter is None or allocation.maybe_live_out:
                continue
            one = min(held[allocation.number], key=lambda item: item.value_id)
            alike = [item for item in outputs if item.shape == one.shape]
            free = [item for item in alike if item.place[0] >= (one.last_use or 0)]
            if alike:
                number = allocation.parameter.number
                expected.append((number, one.label, one.size, one.last_use, len(alike), len(free)))
        rows = ask(
            graph,
            "alias/not-donated",
            "parameterNumber value sizeBytes lastUse candidateOutputs freeOutputs",
            compilation=key,
        )
        assert Counter(rows) == Counter(expected), key


def test_temporaries_that_share_with_nobody(graph: Graph, values: Values):
    for key, of_plan in values.items():
        expected = [
            (item.label, item.size)
            for item in of_plan
            if item.allocation.is_preallocated_temp
            and item.first is not None
            and item.size > 0
            and not any(
                set(other.segments) & set(item.segments)
                for other in of_plan
                if other is not item and other.first is not None
            )
        ]
        assert Counter(ask(graph, "reuse/never", "value sizeBytes", compilation=key)) == Counter(
            expected
        ), key


def test_what_is_kept_beyond_its_last_use(graph: Graph, values: Values, plans: dict[str, Plan]):
    for key, of_plan in values.items():
        live_ranges = plans[key].live_ranges
        expected = [
            (item.label, item.last_use, item.last, item.last - item.last_use)
            for item in of_plan
            if item.last_use is not None
            and item.last is not None
            and live_ranges is not None
            and item.last_use < item.last < live_ranges.max_step
        ]
        rows = ask(
            graph, "lifetime/late-free", "value lastUse liveUntil idleSteps", compilation=key
        )
        assert Counter(rows) == Counter(expected), key


def test_fragmentation_is_the_peak_of_each_temp_block(
    graph: Graph, values: Values, plans: dict[str, Plan]
):
    for key, of_plan in values.items():
        expected = []
        for allocation in plans[key].allocations:
            if not allocation.is_preallocated_temp or plans[key].live_ranges is None:
                continue
            here = [item for item in of_plan if item.allocation is allocation]
            starts = {item.first for item in here if item.first is not None}
            peak = max((physical(here, step) for step in starts), default=0)
            size = allocation.size_bytes
            expected.append((allocation.number, size, peak, size - peak))
        rows = ask(
            graph,
            "reuse/fragmentation",
            "allocation sizeBytes physicalPeakBytes unusedBytes",
            compilation=key,
        )
        if plans[key].live_ranges is not None:
            assert Counter(rows) == Counter(expected), key
