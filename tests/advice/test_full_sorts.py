"""`advise` names sorts of whole rows of which only the first elements are read."""

from dataclasses import replace

import pytest

from xlagraph.advice.causes.full_sorts import full_sorts
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import Remove


@pytest.mark.parametrize(
    ("reader", "shape", "first", "named"),
    [
        pytest.param("slice", "s32[8,4]", 0, ["sorted{0}", "sorted{1}"], id="the first ones"),
        pytest.param("slice", "s32[8,4]", 60, ["sorted{0}", "sorted{1}"], id="the last ones"),
        pytest.param("slice", "s32[8,4]", 30, [], id="a median"),
        pytest.param("slice", "s32[8,32]", 0, [], id="half of them"),
        pytest.param("gather", "s32[8,4]", 0, [], id="any of them"),
    ],
)
def test_a_sort_of_which_only_an_end_is_read_is_named(programs, reader, shape, first, named):
    program = sorting(programs, reader=reader, shape=shape, first=first)
    causes = list(full_sorts(program))
    assert [row["value"] for cause in causes for row in cause.rows] == named
    for cause in causes:
        assert str(cause.rows[0]["reason"]) == "f.py:4 reads 32 of 512 elements"
        assert isinstance(cause.edit, Remove)
        assert set(cause.edit.patterns) == {*named, "numbers", "scores"}


def test_a_tpu_that_fetches_the_first_elements_reads_no_more(programs):
    program = sorting(
        programs, fetching="3 | start | f32[1] | 0 | 4 | 4-5 | slice-start(sorted{1})"
    )
    (cause,) = full_sorts(program)
    assert str(cause.rows[0]["reason"]) == "f.py:4 reads 32 of 512 elements"


@pytest.mark.parametrize(
    ("primitive", "platform", "remedy"),
    [
        ("sort", "tpu", "jax.lax.top_k"),
        ("top_k", "tpu", "jax.lax.approx_max_k"),
        ("top_k", "gpu", "jax.lax.map"),
    ],
)
def test_a_compiler_that_sorts_to_select_needs_another_remedy(
    programs, primitive, platform, remedy
):
    program = sorting(programs, op_name=f"jit(f)/{primitive} @ f.py:3")
    program.compilation = replace(program.compilation, platform=platform)
    (cause,) = full_sorts(program)
    assert remedy in cause.remedies["jax"]
    assert ("top_k" in cause.remedies["jax"]) == (primitive == "sort")


def sorting(programs, *, reader="slice", shape="s32[8,4]", first=0, op_name="", fetching=""):
    """Return a program that reads some elements of sorted rows."""
    program = programs(
        """
        0 | 2048  | parameter 0, shape |f32[8,64]| at ShapeIndex {}
        1 | 10240 | preallocated-temp
        3 | 4     | color 1, preallocated-temp
        """,
        f"""
        0 | x         | f32[8,64] | 0    | 2048 | 0-5 | parameter(0)
        1 | scores    | f32[8,64] | 0    | 2048 | 1-3 | negate(x)
        1 | numbers   | s32[8,64] | 2048 | 2048 | 2-3 | iota()
        1 | sorted{{0}} | f32[8,64] | 4096 | 2048 | 3-4 | sort(scores, numbers) | {op_name}
        1 | sorted{{1}} | s32[8,64] | 6144 | 2048 | 3-4 | sort(scores, numbers) | {op_name}
        1 | first     | {shape}   | 8192 | 2048 | 4-5 | {reader}(sorted{{1}}) | jit(f)/s @ f.py:4
        {fetching}
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule jit_f

ENTRY %main (x: s32[8,64]) -> {shape} {{
  %x = s32[8,64]{{1,0}} parameter(0)
  ROOT %first = {shape}{{1,0}} slice(%x), slice={{[0:8], [{first}:{first + 4}]}}
}}
""")
    return program
