"""The values that have the batch, by comparison and by named parameters."""

from fractions import Fraction

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from tests.tiny_dumps import tiny_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.planner.edits.batch import compared_dimensions, named_dimensions, scaled_batch
from xlagraph.queries import BadParameter, Changes, whatif

HALF = Fraction(1, 2)


def step(size, *, extra="sine"):
    """A step of a batch: activations, a square of it, tokens merged with it, and a gradient."""
    values = (
        value(0, 0, 9, is_stored=True),
        value(1, 0, 9, is_stored=True),
        value(2, 1, 2, reads=(0, 1)),
        value(3, 2, 3, reads=(2,)),
        value(4, 3, 4, reads=(2,)),
        value(5, 4, 5, reads=(2,)),
        value(6, 5, 6),
        value(7, 6, 6, reads=(2,), buffer_set=7),
        value(8, 7, 8, reads=(7,), buffer_set=7),
    )
    known = (
        facts(0, f"f32[{size},3,16]", "parameter"),
        facts(1, "f32[16,5]", "parameter"),
        facts(2, f"f32[{size},3,5]", "dot"),
        facts(3, f"f32[{size},{size}]", "dot"),
        facts(4, f"f32[{3 * size},5]", extra),
        facts(5, "f32[5,16]", "dot"),
        facts(6, f"f32[7,{size},5]", "broadcast"),
        facts(7, f"f32[{size}]", "reduce"),
        facts(8, f"(f32[{size}])", "while"),
    )
    return compilation(values, known, parameters={0: (0, "{}"), 1: (1, "{}")})


def test_a_comparison_shows_the_batch_and_its_powers():
    small, large = step(4, extra="cosine"), step(8)
    compared = compared_dimensions(large, small)
    assert compared is not None
    found, ratio = compared
    assert [(each.parameter, each.dimension, each.length) for each in found] == [(0, 0, 8)]
    assert ratio == HALF
    carrying = scaled_batch(large, HALF, found, (small, ratio))
    assert carrying.kept_by_id == {
        0: HALF, 2: HALF, 3: Fraction(1, 4), 4: HALF, 6: HALF, 7: HALF, 8: HALF,
    }  # fmt: skip
    assert carrying.introduction == (
        "the batch is dimension 0 of v0 (8), 4 in run/f; 7 of 9 values carry it"
    )
    # the counterpart of value 4 is another operation
    assert "1 of the 7 values" in carrying.assumptions[0]


def test_named_parameters_decide_by_shapes_but_gradients_have_the_shape_of_a_parameter():
    compiled = step(8)
    carrying = scaled_batch(compiled, HALF, named_dimensions(compiled, ["0"]))
    assert sorted(carrying.kept_by_id) == [0, 2, 3, 4, 6, 7, 8]
    assert carrying.assumptions == ("which values carry the batch is judged by their shapes",)


def test_a_parameter_with_a_dimension_as_long_as_the_batch_is_named_as_doubtful():
    compiled = step(16)
    carrying = scaled_batch(compiled, HALF, named_dimensions(compiled, ["0:0"]))
    assert carrying.assumptions[0].endswith("which may be wrong: v1 also has a dimension of 16")


def test_parameters_without_a_common_batch_are_refused():
    compiled = step(8)
    with pytest.raises(BadParameter, match="different lengths: 8, 16"):
        named_dimensions(compiled, ["0", "1"])
    with pytest.raises(BadParameter, match="v1 has no dimension 2"):
        named_dimensions(compiled, ["1:2"])


def write_step(folder, size, weights=16):
    """Write a dump with its module: `y = x + x`, of a batch."""
    folder.mkdir(parents=True)
    stem = "module_0001.jit_f.cpu_after_optimizations"
    shape, total = f"f32[{size},{weights}]", size * weights * 4
    (folder / f"{stem}.txt").write_text(
        f"HloModule jit_f, is_scheduled=true\n\n"
        f"ENTRY %main (x: {shape}) -> {shape} {{\n"
        f"  %x = {shape}{{1,0}} parameter(0)\n"
        f"  %t = {shape}{{1,0}} sine(%x)\n"
        f"  ROOT %y = {shape}{{1,0}} dot(%x, %t)\n}}\n"
    )
    (folder / f"{stem}-buffer-assignment.txt").write_text(
        tiny_dump(
            f"""
            0 | {total} | parameter 0, shape |{shape}| at ShapeIndex {{}}
            1 | {total} | output shape is |{shape}|, maybe-live-out
            2 | {total} | preallocated-temp
            """,
            f"""
            0 | x | {shape}{{1,0}} | 0 | {total} | 0-3 | parameter(0)
            2 | t | {shape}{{1,0}} | 0 | {total} | 1-2 | sine(x)
            1 | y | {shape}{{1,0}} | 0 | {total} | 2-3 | dot(x, t)
            """,
        )
    )


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("batch")
    for run, size, weights in (("large", 8, 16), ("small", 4, 16), ("wide", 8, 8)):
        write_step(folder / "runs" / run, size, weights)
    with open_graph(folder / "g.lbug", create=True) as graph:
        ingest(graph, folder / "runs", jobs=1)
        yield graph


def test_another_compilation_of_the_module_is_found_and_half_the_batch_is_predicted_exactly(graph):
    found = whatif(graph, "large", Changes(batch=2, batch_like="small"))
    assert found.reserved_bytes_after == whatif(graph, "small").reserved_bytes
    assert (
        whatif(graph, "small", Changes(batch=2))
        .effects[0]
        .text.startswith("--batch 1/2: the batch is dimension 0 of x (4), 8 in large/")
    )


def test_without_another_batch_it_is_said_what_to_name(graph):
    with pytest.raises(BadParameter, match=r"do not differ by a single ratio; name the parameters"):
        whatif(graph, "large", Changes(batch=2, batch_like="large"))


def test_a_batch_that_no_computed_value_carries_is_doubted():
    sliced = compilation(
        (value(0, 0, 9, is_stored=True), value(1, 1, 2, reads=(0,))),
        (facts(0, "s32[8]", "parameter"), facts(1, "s32[7]", "slice")),
        parameters={0: (0, "{}")},
    )
    (doubt,) = scaled_batch(sliced, HALF, named_dimensions(sliced, ["v0"])).assumptions
    assert "no computed value has a dimension of 8" in doubt
