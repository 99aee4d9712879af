"""`value` describes one value: its bytes, its readers, and the end of its live range."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.graph_fixtures import Fill, GraphOf
from tests.queries.three_runs import STEP
from tests.tiny_dumps import tiny_dump
from xlagraph.graph import Graph
from xlagraph.ingest import ingest
from xlagraph.ingest.measures import range_end as ingest_ends
from xlagraph.queries import AmbiguousValue, NoSuchName, RangeEnd, ValueDetails, value

Tell = Callable[..., ValueDetails]


@cache
def ingested(text: str) -> Fill:
    """Return what fills a graph with a dump, as `run/f`."""

    def fill(graph: Graph, folder: Path) -> None:
        (folder / "run").mkdir()
        (folder / "run" / "f.txt").write_text(text)
        ingest(graph, folder, jobs=1)

    return fill


@pytest.fixture
def tell(graph_of: GraphOf) -> Tell:
    """Return the details of a value of a dump ingested as `run/f`; on each engine in turn."""

    def details(name: str, text: str = STEP) -> ValueDetails:
        return value(graph_of(ingested(text)), name)

    return details


def test_details_have_the_shape_the_place_and_the_maker(tell):
    details = tell("update{0}")
    value, allocation, maker = details.value, details.allocation, details.maker
    assert (details.compilation, value.label) == ("run/f", "update{0}")
    assert (value.shape, value.layout, value.dtype, value.is_phi) == (
        "f32[16]",
        "{0}",
        "f32",
        False,
    )
    assert (value.size_bytes, value.dense_bytes, details.padding_bytes) == (64, 64, 0)
    assert (details.space.color, details.space.name, value.offset_bytes) == (0, "HBM", 0)
    assert (allocation.number, allocation.role, allocation.size_bytes) == (0, "parameter", 64)
    assert allocation.parameter_number == 0
    assert (maker.name, maker.opcode, maker.op_name) == ("update", "fusion", "jit(f)/layer_0/add")
    assert (maker.source_file, maker.source_line, maker.step) == ("f.py", 7, 6)
    assert maker.computation is None
    assert [(each.name, each.shape_index) for each in details.names] == [
        ("update", "{0}"),
        ("result", "{0}"),
        ("get-tuple-element.2", None),
    ]
    assert [(reader.instruction, reader.step) for reader in details.readers] == [("result", 10)]


def test_details_name_the_values_before_and_after_it_in_its_bytes(tell):
    before, after = tell("update{0}").predecessors, tell("make").successors
    assert [(each.value, each.in_place, each.steps) for each in before] == [("p", True, 6)]
    assert [(each.value, each.in_place, each.shared_bytes, each.steps) for each in after] == [
        ("late", False, 64, 2),
        ("loop{0}", False, 64, 1),
    ]
    assert tell("p").aliases == ("update{0}",)


def test_details_show_the_source_line_of_a_value_whose_maker_has_no_op_name(tell):
    value = tell("late").value
    assert value.op_name is None
    assert (value.attribution, value.attributed_op_name) == (
        "reader",
        "jit(f)/transpose(jvp(layer_1))/mul",
    )
    assert (value.attributed_file, value.attributed_line) == ("f.py", 9)
    assert (value.user_file, value.user_line, value.user_function) == ("f.py", 9, None)


def test_each_end_of_a_range_that_an_ingest_finds_has_a_sentence():
    assert {end.value for end in ingest_ends.RangeEndKind} == {end.value for end in RangeEnd} - {
        "unknown"
    }


@pytest.mark.parametrize(
    ("name", "ending", "why"),
    [
        ("p", RangeEnd.OVERWRITTEN, "cut at step 6: update{0} overwrites it in place"),
        ("q", RangeEnd.PARAMETER, "lives to the end: it is an input"),
        ("update{0}", RangeEnd.OUTPUT, "lives to the end: it leaves the program"),
        ("out", RangeEnd.OUTPUT, "lives to the end: it leaves the program"),
        ("make", RangeEnd.LAST_USE, "freed after step 6, its last use, by update (fusion)"),
        ("pair{1}", RangeEnd.UNREAD, "freed after step 5: nothing in the schedule reads it"),
        ("vmem", RangeEnd.KEPT, "kept until step 8, late (fusion), though pair (fusion) reads it"),
        ("region", RangeEnd.UNKNOWN, "unknown: the dump has no live range for it"),
    ],
)
def test_details_say_when_a_live_range_ends_and_why(tell, name, ending, why):
    life = tell(name).live_range
    assert life.ending is ending
    assert life.why.startswith(why)


def test_a_value_that_ends_before_its_reader_is_passed_on(tell):
    text = tiny_dump(
        "0 | 64 | preallocated-temp",
        """
        0 | a | s8[16] | 0  | 16 | 0-1 | iota()
        0 | b | s8[16] | 16 | 16 | 1-2 | iota()
        0 | c | s8[16] | 32 | 16 | 2-3 | fusion(a)
        """,
    )
    assert tell("a", text).live_range.ending is RangeEnd.HANDED_ON


def test_details_have_the_rank_among_the_values_at_the_peak(tell):
    peak = tell("pair{0}").peak
    assert (peak.physical_bytes, peak.rank, peak.contributors) == (256, 1, 9)
    assert (peak.peak_bytes, peak.peak_step) == (612, 6)
    assert peak.share == pytest.approx(256 / 612)
    assert tell("late").peak.rank is None


def test_another_name_selects_its_value(tell):
    assert tell("get-tuple-element.2").value.label == "update{0}"
    assert tell("result{0}").value.label == "update{0}"
    assert tell("%make").value.label == "make"


def test_a_name_that_is_too_long_for_a_key_selects_its_value(tell):
    name = "get-tuple-element." + "2" * 1000
    text = STEP.replace("get-tuple-element.2", name)
    assert tell(name, text).value.label == "update{0}"


def test_a_tuple_lists_its_elements(tell):
    with pytest.raises(AmbiguousValue, match="'pair' names 3 values") as error:
        tell("pair")
    assert error.value.matches == ("pair{}", "pair{0}", "pair{1}")


def test_an_unknown_name_is_reported_with_similar_ones(tell):
    with pytest.raises(NoSuchName, match="no value is called 'maek' in run/f; did you mean 'make'"):
        tell("maek")
    with pytest.raises(NoSuchName):
        tell("pair{7}")


def test_without_live_ranges_and_uses_the_other_facts_are_shown(tell):
    text = STEP[: STEP.index("\nTotal bytes used:")]
    details = tell("make", text)
    assert details.value.size_bytes == 128
    assert details.live_range.ending is RangeEnd.UNKNOWN
    assert (details.names, details.readers, details.predecessors, details.successors) == (
        (),
        (),
        (),
        (),
    )
    assert details.peak.peak_bytes is None
