"""Growth between two sides, with hand-computed rows, on each engine."""

from typing import Any

import pytest

from tests.tiny_dumps import AFTER_F, BEFORE_F, dump, ingest_two_runs, write_dump
from xlagraph.comparison.compared_sides import ONE_ROW_COLUMNS, one_row
from xlagraph.comparison.groups import EVERYTHING_ELSE, GroupGrowth, largest_groups
from xlagraph.comparison.reasons import Reason, ReasonKind, Subject
from xlagraph.ingest import ingest
from xlagraph.queries import (
    By,
    EmptyGraph,
    NoSuchCompilation,
    compare,
    load_catalogue,
    run,
    select,
)


@pytest.fixture
def two_runs(graph_of):
    """Return the runs `before` and `after` of tiny_dumps."""
    return graph_of(ingest_two_runs)


def grown(comparison, by):
    return {growth.group: (growth.bytes_a, growth.bytes_b) for growth in comparison.groups[by]}


def test_totals_pairs_and_unpaired_compilations(two_runs):
    found = compare(two_runs, "before", "after")
    assert found.totals_a == (640, 640, 640, 640)
    assert found.totals_b == (832, 832, 832, 832)
    assert [(pair.module, pair.reserved.growth_bytes) for pair in found.pairs] == [("jit_f", 256)]
    assert [(pair.module, pair.a is None) for pair in found.unpaired] == [
        ("jit_g", False),
        ("jit_h", True),
    ]
    assert found.reserved.share == 0.3


def test_every_grouping_has_the_expected_rows(two_runs):
    found = compare(two_runs, "before", "after", by=By, depth=1)
    dot, line = "jit(f)/layer_0/dot", ("f.py", 5, "f.py", 5)
    assert grown(found, By.ROLE) == {
        ("temp",): (384, 576), ("parameter",): (128, 128), ("output",): (128, 128)
    }  # fmt: skip
    assert grown(found, By.OP) == {
        (dot,): (384, 576), ("jit(f)/sum",): (128, 128), ("p",): (128, 128)
    }  # fmt: skip
    assert grown(found, By.LINE) == {
        line: (384, 576), ("f.py", 7) * 2: (128, 128), (None,) * 4: (128, 128)
    }  # fmt: skip
    assert grown(found, By.OPCODE) == {("fusion",): (512, 704), ("parameter",): (128, 128)}
    assert grown(found, By.SHAPE) == {
        ("f32[16]",): (256, 320),  # the temp of jit_h has the same op
        ("f32[64]",): (256, 0),
        ("f32[32]",): (128, 0),
        ("f32[128]",): (0, 512),
    }
    assert grown(found, By.VALUE) == {
        ("grown", dot, "fusion", None, "f32[32]", "f32[128]", 2, 2, None): (384, 576)
    }
    assert grown(found, By.CAUSE) == {
        ("inputs",): (128, 128), ("outputs",): (128, 128), ("live at the peak",): (384, 576)
    }  # fmt: skip
    assert grown(found, By.TEMPORARY) == {(*line, dot): (384, 576)}
    for by in set(By) - {By.VALUE, By.TEMPORARY}:
        assert sum(growth.bytes_a for growth in found.groups[by]) == 640
        assert sum(growth.bytes_b for growth in found.groups[by]) == 832


@pytest.mark.parametrize("sides", [("before", "after"), (BEFORE_F, AFTER_F), ("after", AFTER_F)])
def test_a_grouping_is_the_answer_of_its_query(two_runs, sides):
    found = compare(two_runs, *sides, by=By, depth=2)
    for by in By:
        query = load_catalogue()[by.query_id]
        given = {"limit": 0, "depth": 2}
        named: dict[str, Any] = {
            parameter.name: given[parameter.name]
            for parameter in query.parameters
            if parameter.name in given
        }
        result = run(two_runs, query.id, runA=sides[0], runB=sides[1], **named).result
        assert result.columns == (*by.columns, "bytesA", "bytesB", "growthBytes")
        rows = [(*growth.group, growth.bytes_a, growth.bytes_b, growth.growth_bytes)
                for growth in found.groups[by]]  # fmt: skip
        assert rows == list(result.rows), by


def test_the_largest_growth_or_shrinkage_is_first(two_runs):
    shapes = compare(two_runs, "before", "after", by=[By.SHAPE]).groups[By.SHAPE]
    assert [growth.growth_bytes for growth in shapes] == [512, -256, -128, 64]


def test_two_compilations_are_a_pair_even_with_different_modules(two_runs):
    found = compare(two_runs, "before/module_0003", "after/module_0005")
    assert [pair.reserved.growth_bytes for pair in found.pairs] == [-64]
    assert found.unpaired == ()


def test_a_run_and_a_compilation_pair_by_module(two_runs):
    found = compare(two_runs, "before", "after/module_0001")
    assert [pair.module for pair in found.pairs] == ["jit_f"]
    assert [pair.module for pair in found.unpaired] == ["jit_g"]


def test_compilations_of_one_name_pair_by_the_shapes_of_their_parameters(graph, tmp_path):
    plain, wide = dump(256), dump(256).replace("f32[16]", "f32[4,4]")
    write_dump(tmp_path / "a", 1, "jit_f", plain)
    write_dump(tmp_path / "a", 2, "jit_f", wide)
    write_dump(tmp_path / "b", 5, "jit_f", wide)
    assert ingest(graph, tmp_path, jobs=1).ok
    (pair,) = compare(graph, "a", "b").pairs
    assert pair.a is not None
    assert pair.a.module_number == 2


def test_a_row_of_a_comparison_omits_columns_outside_its_grouping(two_runs):
    row = one_row(compare(two_runs, "before", "after", by=[By.ROLE]))
    assert dict(zip(ONE_ROW_COLUMNS, row, strict=True))["grownLine"] is None


def test_a_run_compared_with_itself_has_no_growth(two_runs):
    found = compare(two_runs, "before", "before")
    assert found.reserved.growth_bytes == 0
    assert found.reserved.share == 0
    assert not found.reserved.exceeds_share(0)
    assert not found.unpaired


def test_the_largest_pair_is_explained_if_no_pair_grows(graph, tmp_path, monkeypatch):
    for side in "ab":
        for number, size in enumerate((1024, 2048)):
            write_dump(tmp_path / side, number, f"jit_{number}", dump(size))
    assert ingest(graph, tmp_path, jobs=1).ok
    edited = Reason(Subject(ReasonKind.CALLED), count_b=9, inputs={"huber of keras"})
    monkeypatch.setattr(
        "xlagraph.comparison.compare.explain_pair",
        lambda a, b: [edited] if a.total_bytes > 2048 else [],
    )
    (told,) = compare(graph, "a", "b").sentences
    assert told.line == "9 ops made by huber of keras, none before: 0 B"


def test_dumps_without_live_ranges_have_no_peak_to_compare(graph, tmp_path):
    text = dump(256)
    write_dump(tmp_path / "a", 1, "jit_f", text[: text.index("HloLiveRange")])
    write_dump(tmp_path / "b", 1, "jit_f", dump(512))
    ingest(graph, tmp_path, jobs=1)
    found = compare(graph, "a", "b")
    assert found.totals_a == (384, None, None, 384)
    peak = found.growth_of("physicalPeak")
    assert (peak.bytes_a, peak.bytes_b, peak.share, peak.is_known) == (None, 640, None, False)
    assert found.without_peak(found.a) == ("a/module_0001.jit_f.cpu_after_optimizations",)
    assert found.without_peak(found.b) == ()
    assert grown(found, By.OP)[("jit(f)/sum",)] == (0, 64)


def test_rows_beyond_the_limit_are_summed_as_everything_else():
    growths = [GroupGrowth(("f.py", line), line, 2 * line) for line in (9, 5, 2, 1)]
    assert largest_groups(growths, 4) == tuple(growths)
    assert largest_groups(growths, 2) == (
        *growths[:2],
        GroupGrowth((EVERYTHING_ELSE, None), 3, 6),
    )
    assert largest_groups(growths, 0) == (GroupGrowth((EVERYTHING_ELSE, None), 17, 34),)


@pytest.mark.parametrize(
    ("op", "lines"),
    [
        pytest.param("sin", {5: (0, 512), 6: (256, 0), 7: (64, 64)}, id="another op"),
        pytest.param("dot", {5: (256, 512), 7: (64, 64)}, id="the same ops"),
    ],
)
def test_lines_of_two_checkouts_are_named_from_the_folder_of_each(graph, tmp_path, op, lines):
    a = dump(256).replace('"f.py"', '"/a/f.py"').replace("source_line=5", "source_line=6")
    b = dump(512, op=f"jit(f)/layer_0/{op}").replace('"f.py"', '"/b/f.py"')
    write_dump(tmp_path / "runs" / "a", 1, "jit_f", a)
    write_dump(tmp_path / "runs" / "b", 1, "jit_f", b)
    assert ingest(graph, tmp_path / "runs", jobs=1).ok
    found = grown(compare(graph, "a", "b", by=(By.LINE,)), By.LINE)
    shown = {line: bytes_ for (file, line, *_), bytes_ in found.items() if file is not None}
    assert shown == lines
    files = {file for file, *_ in found} - {None}
    assert files == ({"f.py"} if op == "sin" else {"/b/f.py"})


def test_a_name_is_matched_as_a_run_before_a_part_of_a_key(two_runs):
    assert select(two_runs, "before").is_run
    assert len(select(two_runs, "before").compilations) == 2
    assert not select(two_runs, "jit_g").is_run
    with pytest.raises(NoSuchCompilation, match="did you mean 'before'"):
        select(two_runs, "beforehand")


def test_an_empty_graph_is_reported(graph):
    # nothing was ever written: the embedded engine has no file yet
    with pytest.raises(EmptyGraph, match="ingest"):
        compare(graph, "a", "b")


@pytest.mark.parametrize(("size", "is_told"), [(1088, False), (1536, True)])
def test_calls_of_a_program_that_hardly_grows_are_not_told(
    graph, tmp_path, monkeypatch, size, is_told
):
    for side, sizes in (("a", (1024, 1024)), ("b", (2048, size))):
        for number, of_module in enumerate(sizes):
            write_dump(tmp_path / side, number, f"jit_{number}", dump(of_module))
    assert ingest(graph, tmp_path, jobs=1).ok

    def explain(a, b):
        growth = b.total_bytes - a.total_bytes
        called = Reason(Subject(ReasonKind.CALLED), count_b=9)
        called.inputs = {"most of lib" if growth == 1024 else "other of lib"}
        return [Reason(Subject(ReasonKind.PEAK), growth), called]

    monkeypatch.setattr("xlagraph.comparison.compare.explain_pair", explain)
    told = " ".join(each.text for each in compare(graph, "a", "b").sentences)
    assert "most" in told
    assert ("other" in told) is is_told
