"""Inputs that every device holds, though they could be split."""

from fractions import Fraction

import pytest

from xlagraph.advice.causes.replicated_parameters import (
    replicated_batch,
    replicated_parameters,
    replicated_state,
)
from xlagraph.graph import Cell
from xlagraph.planner.dimensions.stored_operations import operations_of_text


def changed(cause):
    assert cause.edit is not None
    return cause.edit


def test_a_replicated_parameter_needs_a_constraint_on_activations_too(programs):
    program = programs(
        "0 | 4096 | parameter 0, shape |s8[4096]| at ShapeIndex {}",
        "0 | w | s8[4096] | 0 | 4096 | 0-1 | parameter(0)",
    )
    row: dict[str, Cell] = {"value": "w", "devices": 8, "sharding": "{replicated}"}
    (cause,) = replicated_parameters(program, [row], ())
    assert changed(cause).kept_by_label == {"w": Fraction(1, 8)}
    assert "with_sharding_constraint" in cause.remedies["jax"]
    assert not list(replicated_parameters(program, [{**row, "sharding": None}], ()))
    assert not list(replicated_parameters(program, [row], cause.labels))


@pytest.mark.parametrize(
    ("split", "whole", "named"),
    [
        ("p['w']", "s.mu['w']", {"m": Fraction(1, 4)}),
        ("p['v']", "s.mu['w']", {}),
        pytest.param("s.mu['w']", "p['w']", {}, id="only the state is split, as intended"),
    ],
)
def test_state_is_named_if_the_parameter_of_its_name_and_shape_is_split(
    programs, split, whole, named
):
    program = programs(
        """
        0 | 4096 | parameter 0, shape |f32[4,256]| at ShapeIndex {}
        1 | 16384 | parameter 1, shape |f32[16,256]| at ShapeIndex {}
        """,
        f"""
        0 | p | f32[4,256] | 0 | 4096 | 0-1 | parameter(0) | {split}
        1 | m | f32[16,256] | 0 | 16384 | 0-1 | parameter(1) | {whole}
        """,
    )
    shardings = {"p": "{devices=[4,1]<=[4]}", "m": "{replicated}"}
    rows: list[dict[str, Cell]] = [
        {"value": name, "devices": 4, "sharding": text} for name, text in shardings.items()
    ]
    found = [changed(cause).kept_by_label for cause in replicated_state(program, rows)]
    assert found == ([named] if named else [])


@pytest.mark.parametrize(
    ("others", "named"),
    [
        pytest.param("p['v']", ["Parameters are replicated"], id="one is not split like others"),
        pytest.param("x", [], id="only the state is split, as intended"),
    ],
)
def test_a_parameter_that_a_product_needs_is_no_state(returning, others, named):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[4,256]| at ShapeIndex {}
        1 | 16384 | parameter 1, shape |f32[16,256]| at ShapeIndex {}, maybe-live-out
        2 | 4096 | parameter 2, shape |f32[4,256]| at ShapeIndex {}
        3 | 1024 | preallocated-temp
        """,
        f"""
        0 | m | f32[4,256]  | 0 | 4096  | 0-1 | parameter(0) | mu['w']
        1 | w | f32[16,256] | 0 | 16384 | 0-1 | parameter(1) | p['w']
        2 | v | f32[4,256]  | 0 | 4096  | 0-1 | parameter(2) | {others}
        3 | h | f32[16]     | 0 | 64    | 2-3 | dot(w, v)
        """,
    )
    split = "{devices=[4,1]<=[4]}"
    rows: list[dict[str, Cell]] = [
        {"value": name, "devices": 4, "sharding": text}
        for name, text in (("m", split), ("w", "{replicated}"), ("v", split))
    ]
    found = [cause.title[:25] for cause in replicated_state(program, rows)]
    assert found == named


@pytest.mark.parametrize(
    ("sharding", "between", "named"),
    [
        ("{replicated}", "negate", ["x"]),
        ("{replicated}", "all-reduce", ["x"]),  # a sum of the same
        ("{replicated}", "all-to-all", []),
        ("{mesh[], replicated}", "negate", ["x"]),
        ("{devices=[8]<=[8]}", "negate", []),
    ],
)
def test_a_batch_is_named_if_all_devices_compute_the_same(programs, sharding, between, named):
    program = programs(
        """
        0 | 8192 | parameter 0, shape |f32[16,128]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        """,
        f"""
        0 | x | f32[16,128] | 0 | 8192 | 0-1 | parameter(0)
        1 | y | f32[16,128] | 0 | 8192 | 1-1 | {between}(x)
        """,
    )
    row: dict[str, Cell] = {"value": "x", "devices": 8, "sharding": sharding}
    of_a_loop: dict[str, Cell] = {"value": "state{0}", "devices": 8, "sharding": None}
    causes = list(replicated_batch(program, [row, of_a_loop]))
    assert [row["value"] for cause in causes for row in cause.rows] == named


@pytest.mark.parametrize(
    ("of_weights", "of_labels", "groups"),
    [
        ("[2,1,4]", "", 4),
        ("[2,1,4]", "[2,4]", 0),  # a part of the batch
        ("[8,1]", "", 0),
        ("[1,1,8]", "", 8),
    ],
)
def test_a_batch_is_named_if_devices_compute_the_same_as_others(
    returning, of_weights, of_labels, groups
):
    program = returning(
        """
        0 | 8192 | parameter 0, shape |f32[16,128]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |f32[64,16]| at ShapeIndex {}
        2 | 8192 | preallocated-temp
        3 | 4096 | maybe-live-out
        4 | 64   | parameter 2, shape |f32[16]| at ShapeIndex {}
        """,
        """
        0 | x | f32[16,128] | 0 | 8192 | 0-2 | parameter(0)
        1 | w | f32[64,16]  | 0 | 4096 | 0-2 | parameter(1)
        4 | l | f32[16]     | 0 | 64   | 0-2 | parameter(2)
        2 | y | f32[16,128] | 0 | 8192 | 1-1 | all-to-all(x)
        3 | r | f32[64,16]  | 0 | 4096 | 2-2 | fusion(w, y)
        """,
        "r",
    )
    others = " last_tile_dim_replicate" if of_weights.count(",") == 2 else ""
    labels = (
        f"{{devices={of_labels}<=[8] last_tile_dim_replicate}}" if of_labels else "{replicated}"
    )
    rows: list[dict[str, Cell]] = [
        {"value": "x", "devices": 8, "sharding": "{replicated}"},
        {"value": "w", "devices": 8, "sharding": f"{{devices={of_weights}<=[8]{others}}}"},
        {"value": "l", "devices": 8, "sharding": labels},
    ]
    reasons = [row["reason"] for cause in replicated_batch(program, rows) for row in cause.rows]
    # all inputs are replicated on all devices, but have different parts of something
    expected = {4: ["replicated; 4 groups of 2 devices compute the same"] * 2}
    assert reasons == expected.get(groups, [])


def test_the_batch_is_the_dimension_whose_values_fill_the_peak(programs):
    # edges of a graph rather than its larger input of nodes
    program = programs(
        """
        0 | 8192 | parameter 0, shape |f32[16,128]| at ShapeIndex {}
        1 | 256  | parameter 1, shape |s32[64]| at ShapeIndex {}
        2 | 32832 | preallocated-temp
        """,
        """
        0 | nodes | f32[16,128] | 0     | 8192  | 0-2 | parameter(0)
        1 | edges | s32[64]     | 0     | 256   | 0-2 | parameter(1)
        2 | rows  | f32[64,128] | 0     | 32768 | 1-2 | custom-call(nodes, edges)
        2 | sum   | f32[16]     | 32768 | 64    | 2-2 | custom-call(nodes, rows)
        """,
    )
    program.stored.operations = operations_of_text("""HloModule m
sum_ { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y) }
ENTRY e {
  nodes = f32[16,128]{1,0} parameter(0)
  edges = s32[64]{0} parameter(1)
  wide = f32[64]{0} convert(edges)
  rows = f32[64,128]{1,0} broadcast(wide), dimensions={0}
  zero = f32[] constant(0)
  ROOT sum = f32[16]{0} reduce(nodes, zero), dimensions={1}, to_apply=sum_
}
""")
    rows: list[dict[str, Cell]] = [
        {"value": name, "devices": 4, "sharding": "{replicated}"} for name in ("nodes", "edges")
    ]
    (cause,) = replicated_batch(program, rows)
    assert [row["value"] for row in cause.rows] == ["edges"]
    # the command that repeats this change names the dimension
    assert changed(cause).arguments == ("--batch", "1/4", "--batch-of", "edges")
