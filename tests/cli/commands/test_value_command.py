"""`value` writes one page, or one object."""

import json
from pathlib import Path

import pytest

from tests.queries.three_runs import write_three_runs
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest


@pytest.fixture
def tiny(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a graph in the environment that contains `tiny/step`."""
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest(graph, write_three_runs(tmp_path) / "tiny", jobs=1)
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(tmp_path / "g.lbug"))


def test_a_page_shows_all_details(run, tiny):
    ended = run("value", "update{0}")
    assert ended.code == 0
    assert (
        ended.out
        == """\
value    update{0}
of       tiny/step
what     f32[16]{0}, 64 B
storage  allocation 0 (parameter 0, 64 B) of memory space 0 (HBM), from byte 0
made by  update (fusion) at step 6
         op jit(f)/layer_0/add
         f.py:7
names    update{0}, result{0}, get-tuple-element.2
before   64 B from p in place, at step 6
after    none
aliases  p
readers  step 10: result (tuple), operand 0, at f.py:7
life     steps 6 to 11 of 11; lives to the end: it leaves the program
peak     64 B (10.5%) of the physical peak of its memory space, 612 B at step 6; number 4 of 9
"""
    )


def test_a_page_shows_the_source_line_of_a_value_whose_maker_has_none(run, tiny):
    assert (
        "\nfor      op jit(f)/transpose(jvp(layer_1))/mul, which is the first to read it"
        "\n         f.py:9\n"
    ) in run("value", "late").out


def test_the_shape_of_a_tuple_is_as_xla_prints_it(run, tiny):
    assert "\nwhat     (f32[64]{0}, f32[0]{0}), 16 B\n" in run("value", "pair{}").out


def test_json_is_one_object_with_all_parts(run, tiny):
    (row,) = json.loads(run("value", "make", "--compilation", "step", "--format", "json").out)
    assert list(row) == [
        *("compilation", "value", "asked", "what", "storage", "maker", "stack"),
        *("attribution", "attributionStack", "names"),
        *("before", "after", "aliases", "readers", "life", "peak", "loop", "loopStack"),
    ]
    assert row["life"]["ending"] == "lastUse"
    assert [reader["instruction"] for reader in row["readers"]] == ["vmem", "pair", "update"]


def test_markdown_is_a_table_of_parts(run, tiny):
    assert "| storage | allocation 6 (temp," in run("value", "make", "--format", "md").out


def test_a_tuple_or_an_unknown_name_is_exit_1_with_names_to_choose(run, tiny):
    ended = run("value", "pair")
    assert ended.code == 1
    assert "'pair{}', 'pair{0}', 'pair{1}'" in ended.err
    assert run("value", "maek").code == 1
