"""A user's names are resolved, checked, or rejected with similar names."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.queries.three_runs import write_three_runs
from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import (
    AmbiguousCompilation,
    BadParameter,
    EmptyGraph,
    NoSuchCompilation,
    NoSuchMemorySpace,
    NoSuchName,
    NoSuchRun,
    UnknownQuery,
    find_compilation,
    load_catalogue,
    run,
    select,
)

OLD = """\
BufferAssignment:
allocation 0: 0x7fb16805f0d0, size 8, parameter 0 at ShapeIndex {}:
  p[](#0 @0) [0,8]: f32[2]{0}
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """Three runs, and a dump of the oldest generation."""
    dumps = write_three_runs(tmp_path_factory.mktemp("dumps"))
    (dumps / "old").mkdir()
    (dumps / "old" / "dump.txt").write_text(OLD)
    file = tmp_path_factory.mktemp("graph") / "runner.lbug"
    with open_graph(file, create=True) as graph:
        ingest(graph, dumps, jobs=1)
        yield graph


@pytest.fixture
def empty_graph(tmp_path: Path) -> Iterator[Graph]:
    """A graph without compilations."""
    with open_graph(tmp_path / "empty.lbug", create=True) as graph:
        ingest(graph, write_three_runs(tmp_path) / "before", jobs=1)
        for key in graph.query("MATCH (c:Compilation) RETURN c.key AS key").rows:
            with graph.load() as load:
                load.remove(str(key[0]))
        yield graph


def test_the_default_compilation_is_the_one_that_reserves_most(graph: Graph):
    answer = run(graph, "overview/roles")
    assert answer.compilation == "tiny/step"
    (note,) = answer.notes
    assert note == "no compilation was named; using tiny/step, the largest of 7 compilations"


def test_the_name_of_a_run_selects_its_compilation_that_reserves_most(graph: Graph):
    answer = run(graph, "overview/roles", compilation="before")
    assert answer.compilation == "before/module_0001.jit_f.cpu_after_optimizations"
    assert answer.notes[0].startswith("'before' is a run; using before/module_0001.jit_f.")
    assert answer.notes[0].endswith(", the largest of 2 compilations")


def test_a_unique_part_of_a_key_names_a_compilation(graph: Graph):
    answer = run(graph, "overview/roles", compilation="0004.jit_h")
    assert answer.compilation == "after/module_0004.jit_h.cpu_after_optimizations"
    assert answer.notes == ()


@pytest.mark.parametrize("name", ["after/h", "after/jit_h"])
def test_a_run_and_its_function_name_a_compilation(graph: Graph, name: str):
    key = "after/module_0004.jit_h.cpu_after_optimizations"
    assert find_compilation(graph, name).key == key
    assert select(graph, name).compilations == (key,)


def test_a_function_that_a_run_compiles_twice_is_ambiguous(graph: Graph):
    with pytest.raises(AmbiguousCompilation, match="part of 2 compilations"):
        find_compilation(graph, "after/f")


def test_an_exact_key_has_priority_over_a_part(graph: Graph):
    assert find_compilation(graph, "tiny/step").key == "tiny/step"


def test_an_ambiguous_part_lists_its_matches(graph: Graph):
    with pytest.raises(AmbiguousCompilation, match="part of 3 compilations") as error:
        find_compilation(graph, "jit_f")
    assert error.value.matches == (
        "after/module_0001.jit_f.cpu_after_optimizations",
        "after/module_0003.jit_f.cpu_after_optimizations",
        "before/module_0001.jit_f.cpu_after_optimizations",
    )


def test_keys_are_case_sensitive(graph: Graph):
    with pytest.raises(NoSuchCompilation, match="did you mean 'tiny/step'") as error:
        find_compilation(graph, "Tiny/Step")
    assert error.value.candidates[0] == "tiny/step"


def test_an_unknown_query_is_reported_with_similar_ones(graph: Graph):
    with pytest.raises(UnknownQuery, match="did you mean 'peak/contributors'"):
        run(graph, "peak/contributers")
    catalogue = load_catalogue()
    ids = ("alias/chain", "graph/chain", "trend/modules", "trend/op")
    few = {id_: catalogue[id_] for id_ in ids}
    with pytest.raises(UnknownQuery) as error:
        run(graph, "chain", catalogue=few)
    assert error.value.candidates == ("alias/chain", "graph/chain")
    with pytest.raises(UnknownQuery) as error:
        run(graph, "trend", catalogue=few)
    assert error.value.candidates == ("trend/modules", "trend/op")


def test_an_unknown_run_is_reported_with_similar_ones(graph: Graph):
    with pytest.raises(NoSuchRun, match="no run is called 'befor'; did you mean 'before'"):
        run(graph, "compare/modules", runA="befor", runB="after")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"limit": "many"}, "limit is INTEGER, got 'many'; give e.g. limit = 20"),
        ({"limit": True}, "limit is INTEGER, got True"),
        ({"limit": 2**63}, "is beyond 64 bits"),
        ({"limit": -1}, "limit = -1 is below 0"),
        ({"compilation": 7}, "compilation is STRING, got 7"),
        ({"limits": 7}, "has no parameter limits; did you mean limit?"),
        ({"x": 7}, "has no parameter x; it has compilation, memorySpace, limit"),
    ],
)
def test_a_bad_parameter_is_refused_with_an_example(
    graph: Graph, parameters: dict[str, Any], message: str
):
    with pytest.raises(BadParameter) as error:
        run(graph, "peak/contributors", **parameters)
    assert message in str(error.value)


def test_missing_parameter_is_named_with_an_example(graph: Graph):
    with pytest.raises(BadParameter, match="alias/chain needs value: value label"):
        run(graph, "alias/chain", compilation="tiny/step", value=None)


@pytest.mark.parametrize(
    ("query", "parameters", "message"),
    [
        ("alias/chain", {"value": "updat{0}"}, "no value is called 'updat{0}' in tiny/step"),
        ("alias/chain", {"value": "pair"}, "did you mean 'pair{}', "),
        ("lifetime/across", {"instruction": "updat"}, "did you mean 'update'"),
        ("reuse/slot", {"allocation": 8}, "no allocation in tiny/step has the number 8; there"),
        ("lifetime/across", {"step": 99}, "no step in tiny/step has the number 99; the schedule"),
    ],
)
def test_an_unknown_name_is_reported_with_similar_ones(
    graph: Graph, query: str, parameters: dict[str, Any], message: str
):
    with pytest.raises(NoSuchName) as error:
        run(graph, query, compilation="tiny/step", **parameters)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("query", "parameters", "message"),
    [
        ("flow/users", {"value": "p", "hops": 6}, "hops = 6 is above 5; give e.g. hops = 3"),
        ("flow/producers", {"value": "p", "hops": 0}, "hops = 0 is below 1"),
        ("peak/by-scope", {"depth": 0}, "depth = 0 is below 1"),
        ("reuse/slot", {"allocation": 0, "offsetBytes": -1}, "offsetBytes = -1 is below 0"),
    ],
)
def test_a_number_outside_its_bounds_is_refused(
    graph: Graph, query: str, parameters: dict[str, Any], message: str
):
    with pytest.raises(BadParameter) as error:
        run(graph, query, compilation="tiny/step", **parameters)
    assert message in str(error.value)


def test_an_unknown_module_is_reported_with_similar_ones(graph: Graph):
    with pytest.raises(NoSuchName, match="no module is called 'jit_x'; did you mean 'jit_"):
        run(graph, "trend/modules", module="jit_x")


def test_notes_name_the_facts_that_an_old_dump_lacks(graph: Graph):
    for query in ("peak/contributors", "peak/printed"):
        (note,) = run(graph, query, compilation="old/dump").notes
        assert note.startswith("the dump has no live ranges")
    notes = run(graph, "alias/names", compilation="old/dump", value="p").notes
    assert any(note.startswith("the dump does not list the users of values") for note in notes)
    notes = run(graph, "waste/broadcasts", compilation="old/dump").notes
    assert any(note.startswith("the dump has no instructions as text") for note in notes)


def test_notes_say_that_call_stacks_are_unknown_if_there_are_lines(graph: Graph):
    (note,) = run(graph, "peak/by-caller", compilation="tiny/step").notes
    assert note.startswith("the dump has no call stacks")
    assert run(graph, "peak/by-line", compilation="tiny/step").notes == ()


def test_a_note_says_how_to_get_call_stacks_but_for_tensorflow(tmp_path: Path):
    value = "0 | a | f32[16] | 0 | 64 | 0-1 | iota() | {} @ /src/f.py:3"
    for run_key, op in (("torch", "aten__arange"), ("tensorflow", "XLA_Args")):
        dump = tiny_dump("0 | 64 | preallocated-temp", value.format(op))
        write_dump(tmp_path / run_key, 1, "f", dump)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest(graph, tmp_path / "torch", jobs=1)
        ingest(graph, tmp_path / "tensorflow", jobs=1)
        (of_torch,) = run(graph, "peak/by-caller", compilation="torch/").notes
        (of_tensorflow,) = run(graph, "peak/by-caller", compilation="tensorflow/").notes
    assert "--xla_dump_hlo_as_proto" in of_torch
    assert "TensorFlow records none" in of_tensorflow


@pytest.mark.parametrize("file", ["framework/ops.py", "ops/math_ops.py"])
def test_notes_say_that_tensorflow_gives_every_op_the_same_line(tmp_path: Path, file: str):
    place = f"/env/site-packages/tensorflow/python/{file}:1221"
    value = f"0 | a | f32[16]{{0}} | 0 | 64 | 0-1 | iota() | lstm/MatMul @ {place}"
    write_dump(tmp_path / "tf", 1, "f", tiny_dump("0 | 64 | preallocated-temp", value))
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest(graph, tmp_path / "tf", jobs=1)
        notes = run(graph, "peak/by-line").notes
    is_that_line = file == "framework/ops.py"
    assert any(note.startswith("TensorFlow gives every op the line") for note in notes) == (
        is_that_line
    )


def test_notes_say_that_roots_of_fusions_are_unknown_if_there_are_fusions(graph: Graph):
    (note,) = run(graph, "waste/gathered", compilation="tiny/step").notes
    assert note.startswith("the dump has no root opcodes of fusions")
    assert run(graph, "waste/gathered", compilation="before/module_0001").notes == ()


def test_notes_count_the_compilations_of_a_run_without_a_peak(graph: Graph):
    notes = run(graph, "compare/ops", runA="old", runB="before").notes
    assert notes == (
        "1 of 1 compilations of run old have no live ranges, so their peaks are unknown",
    )


def test_notes_say_that_a_compared_compilation_has_no_peak(graph: Graph):
    notes = run(graph, "compare/ops", runA="old/dump", runB="before").notes
    assert notes == (
        "1 of 1 compilations of run old have no live ranges, so their peaks are unknown",
    )


def test_a_picture_of_growth_takes_compilations_too(graph: Graph):
    keys = {
        side: f"{side}/module_0001.jit_f.cpu_after_optimizations" for side in ("before", "after")
    }
    of_runs = run(graph, "graph/growth", runA="before", runB="after", lines=1)
    of_compilations = run(graph, "graph/growth", runA=keys["before"], runB=keys["after"], lines=1)
    assert of_compilations.result == of_runs.result
    assert of_runs.result.rows


def test_a_memory_space_that_does_not_exist_is_refused_with_the_existing_ones(graph: Graph):
    message = "nothing is allocated in memory space 5 of tiny/step; the memory spaces in use: 0, 1"
    with pytest.raises(NoSuchMemorySpace, match=message):
        run(graph, "peak/contributors", compilation="tiny/step", memorySpace=5)


def test_a_value_can_be_named_by_any_of_its_names(graph: Graph):
    answer = run(graph, "alias/chain", compilation="tiny/step", value="result{0}")
    assert answer.notes == ("result{0} is another name of update{0}",)
    assert "update{0}" in [row["value"] for row in answer.result.mappings()]


def test_notes_say_that_the_limit_was_reached(graph: Graph):
    answer = run(graph, "peak/contributors", compilation="tiny/step", limit=2)
    assert len(answer.result.rows) == 2
    assert answer.notes == ("showing the first 2 rows (limit 0 for all)",)


@pytest.mark.parametrize(
    ("query", "parameters", "note"),
    [
        (
            "graph/neighbours",
            {"value": "pair{0}", "limit": 2},
            "at most 2 nodes drawn on each side, nearest first (limit 0 for all)",
        ),
        (
            "graph/peak",
            {"limit": 3},
            "at most 3 values drawn, largest share first (limit 0 for all)",
        ),
    ],
)
def test_notes_say_that_a_picture_may_be_incomplete(
    graph: Graph, query: str, parameters, note: str
):
    assert run(graph, query, compilation="tiny/step", **parameters).notes == (note,)
    assert run(graph, query, compilation="tiny/step", **{**parameters, "limit": 0}).notes == ()


def test_limit_0_is_no_limit(graph: Graph):
    every = run(graph, "peak/contributors", compilation="tiny/step", limit=0)
    assert len(every.result.rows) == 9
    assert every.notes == ()


def test_a_side_of_a_comparison_may_be_the_whole_key_of_a_compilation(graph: Graph):
    (key,) = select(graph, "0004.jit_h").compilations
    (row,) = run(graph, "compare/modules", runA="before", runB=key, limit=1).result.mappings()
    assert (row["module"], row["compilationsA"], row["compilationsB"]) == ("jit_h", 0, 1)


def test_an_empty_graph_is_reported(empty_graph: Graph):
    with pytest.raises(EmptyGraph, match="ingest a folder of dumps first"):
        run(empty_graph, "peak/contributors")
    with pytest.raises(EmptyGraph):
        run(empty_graph, "compare/modules", runA="a", runB="b")
    assert run(empty_graph, "overview/compilations").result.rows == ()
