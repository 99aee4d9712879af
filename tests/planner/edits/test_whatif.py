"""Replays over real dumps: unchanged, and compared with recompiled programs."""

from collections import Counter
from pathlib import Path

import pytest

from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.plannable_compilation import plannable_compilation
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.patterns import in_scope
from xlagraph.planner.memory_plan import plan_memory
from xlagraph.planner.replay import replay
from xlagraph.queries import BadParameter, Changes, NoSuchName, QueryError, whatif


@pytest.fixture(scope="module")
def graph(corpus, tmp_path_factory):
    """All dumps in the repository."""
    with open_graph(tmp_path_factory.mktemp("whatif") / "g.lbug", create=True) as graph:
        ingest(graph, corpus)
        yield graph


@pytest.fixture(scope="module")
def compiled(graph):
    keys = graph.query("MATCH (c:Compilation) RETURN c.key AS key ORDER BY key").rows
    found = [plannable_compilation(StoredCompilation(graph, str(key))) for (key,) in keys]
    return [each for each in found if each.has_ranges]


@pytest.fixture(scope="module")
def replayed(compiled):
    """Each compilation, and the blocks of its replay."""
    return [(each, replay(each.program)) for each in compiled]


def test_every_temporary_block_replays_in_size_and_offsets(replayed):
    blocks = Counter[str]()
    exact = Counter[str]()
    for each, replays in replayed:
        for block in replays:
            kind = "vmem" if block.allocation.memory_space == 1 else each.platform or "tpu"
            blocks[kind] += 1
            exact[kind] += block.is_exact
    assert {kind for kind in blocks if exact[kind] < blocks[kind]} <= {"vmem"}
    assert blocks.keys() >= {"cpu", "gpu", "tpu"}


def test_a_replay_without_a_change_keeps_the_reserved_bytes(replayed):
    unequal = []
    for each, replays in replayed:
        if each.has_buffer_sets:
            plan = plan_memory(each.program, replays)
            if any(
                plan.reserved_bytes(memory_space) != size_bytes
                for memory_space, size_bytes in each.reserved_bytes.items()
            ):
                unequal.append(each.key)
    # A TPU combines the parts of its temporary block in another order.
    assert len(unequal) <= 1


def test_the_savings_of_a_donation_are_predicted(graph):
    found = whatif(graph, "runs/baseline", Changes(donate=["all"]))
    real = whatif(graph, "runs/donated")
    assert found.reserved_bytes_after == pytest.approx(real.reserved_bytes, rel=0.015)
    assert {parameter.outcome for parameter in found.donated} >= {"in place"}


def test_an_input_that_is_already_donated_stays_so_and_is_named(graph):
    found = whatif(graph, "runs/donated", Changes(donate=["all"]))
    outcomes = {parameter.outcome for parameter in found.donated}
    assert "donated already" in outcomes
    assert "in place" not in outcomes
    assert found.reserved_bytes_after == found.reserved_bytes


def test_donating_one_parameter_frees_only_its_bytes(graph):
    found = whatif(graph, "runs/baseline", Changes(donate=["0"]))
    (donated,) = found.donated
    assert donated.outcome in ("in place", "copied first")
    assert found.saved_bytes is not None
    assert 0 <= found.saved_bytes <= 2 * donated.size_bytes


def test_a_donated_parameter_without_bytes_is_named(graph):
    (donated,) = whatif(graph, "runs/baseline", Changes(donate=["0"])).donated
    changes = Changes(donate=["0"], without=[donated.parameter])
    (gone,) = whatif(graph, "runs/baseline", changes).donated
    assert (gone.parameter, gone.output, gone.outcome) == (donated.parameter, None, "gone")


def test_a_parameter_that_shrinks_without_its_result_cannot_be_donated(graph):
    (donated,) = whatif(graph, "runs/baseline", Changes(donate=["0"])).donated
    changes = Changes(donate=["0"], shrink={donated.parameter: 2})
    (small,) = whatif(graph, "runs/baseline", changes).donated
    assert (small.output, small.outcome) == (None, "no output")


def test_removed_values_take_nothing_and_halved_values_take_half(graph):
    before = whatif(graph, "runs/baseline")
    assert before.is_exact
    assert before.reserved_bytes_after == before.reserved_bytes
    gone = whatif(graph, "runs/baseline", Changes(without=["*"]))
    assert gone.temp_bytes_after == 0
    half = whatif(graph, "runs/baseline", Changes(shrink={"*": 2}))
    assert half.reserved_bytes_after == pytest.approx(before.reserved_bytes / 2, rel=0.01)
    largest = before.peak_values[0]
    less = whatif(graph, "runs/baseline", Changes(without=[largest.value]))
    assert less.lower_bound_bytes is not None
    assert less.temp_bytes_after is not None
    assert before.temp_bytes_after is not None
    assert less.lower_bound_bytes <= less.temp_bytes_after <= before.temp_bytes_after


def test_a_checkpoint_is_a_range(graph):
    found = whatif(graph, "runs/baseline", Changes(checkpoint=["layer_0"]))
    assert found.reserved_bytes_after is not None
    assert found.reserved_bytes_at_most is not None
    assert found.reserved_bytes_after <= found.reserved_bytes_at_most
    assert not any("--schedule memory" in text for text in found.assumptions)


def test_a_cpu_compiler_that_prints_no_pages_drops_the_barriers_of_a_checkpoint(corpus, tmp_path):
    (tmp_path / "older").mkdir()
    for path in (corpus / "runs" / "baseline").glob("*jit_train_step*.txt"):
        text = path.read_text().replace(", page 0", "")
        (tmp_path / "older" / path.name).write_text(text)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest(graph, tmp_path / "older", jobs=1)
        found = whatif(graph, "older", Changes(checkpoint=["layer_0"]))
        assert any("--schedule memory" in text for text in found.assumptions)


def test_a_name_that_names_nothing_is_refused_with_what_is_near(graph):
    with pytest.raises(NoSuchName, match=r"of runs/baseline.* is called 'nonesuch'"):
        whatif(graph, "runs/baseline", Changes(without=["nonesuch"]))
    for changes in (Changes(shrink={"layer_o": 2}), Changes(checkpoint=["layer_o"])):
        with pytest.raises(NoSuchName, match=r"runs/baseline.* did you mean .*'layer_0'"):
            whatif(graph, "runs/baseline", changes)
    with pytest.raises(NoSuchName, match=r"runs/baseline.* has no parameter 99999"):
        whatif(graph, "runs/baseline", Changes(donate=["99999"]))
    with pytest.raises(BadParameter, match="not a factor"):
        whatif(graph, "runs/baseline", Changes(shrink={"*": "x"}))


@pytest.mark.parametrize(
    ("scope", "op_name", "expected"),
    [
        ("layer_0", "jit(f)/layer_0/dot", True),
        ("layer_0", "jit(f)/jvp(layer_0)/dot", True),
        ("layer_0", "jit(f)/transpose(jvp(layer_0))/mlp/dot", True),
        ("layer_0/mlp", "jit(f)/transpose(jvp(layer_0))/mlp/dot", True),
        ("jit(f)/layer_0", "jit(f)/jvp(layer_0)/dot", True),
        ("layer_0", "jit(f)/layer_01/dot", False),
        ("f", "jit(f)/dot", False),
        ("layer_*/dot", "jit(f)/jvp(layer_0)/dot", True),
    ],
)
def test_a_scope_is_named_by_its_parts_without_transformations(scope, op_name, expected):
    assert in_scope(scope, op_name) is expected


def test_without_live_ranges_nothing_is_planned(graph):
    key = graph.query(
        "MATCH (c:Compilation) WHERE c.scheduleLength IS NULL RETURN c.key AS key ORDER BY key"
    ).rows[0][0]
    with pytest.raises(QueryError, match="no live ranges"):
        whatif(graph, str(key))


RUNS = Path(__file__).parents[3] / "examples" / "runs"


def test_a_server_gives_the_same_plan_as_a_file(tmp_path, neo4j_graph):
    with open_graph(tmp_path / "g.lbug", create=True) as file:
        for graph in (file, neo4j_graph):
            ingest(graph, RUNS / "baseline", jobs=1)
        expected, found = (
            [
                whatif(graph, "baseline", Changes(donate=["all"])),
                whatif(graph, "baseline", Changes(checkpoint=["layer_*"])),
            ]
            for graph in (file, neo4j_graph)
        )
    assert found == expected
