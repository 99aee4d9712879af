"""`advise` names the scores of an attention that are stored for all queries at once."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from tests.advice.small_compilations import share_one_buffer_set, with_results
from tests.advice.test_mapped_axes import samples
from xlagraph.advice.causes.attention_scores import stored_scores
from xlagraph.planner.dimensions.stored_operations import operations_of_text


def attention(
    programs,
    *,
    keys=512,
    width=16,
    made="dot(queries, keys)",
    read="dot(exp)",
    out="s8[1024,16]",
    op="f",
    module=None,
    target=None,
    mask_line=4,
    loop="",
):
    """Return the causes in one attention of 1024 queries, whose exponentials are summed."""
    size = 1024 * keys
    small = 2 * size  # offset of what is smaller than the scores
    bias = f"1 | bias | s8[1024,{keys}] | 0 | {size} | 2-4 | broadcast(queries)"
    end = small + 40960 + width * keys
    stack = f"1 | stack | {loop} | {end} | {size} | 6-7 | while(exp, x)"
    if target is not None:
        made = "custom-call(queries, keys, bias)"
    program = programs(
        f"""
        0 | 16384 | parameter 0, shape |s8[1024,16]| at ShapeIndex {{}}
        1 | {end + (size if loop else 0)} | preallocated-temp
        2 | 16384 | maybe-live-out
        3 | {16 * keys} | parameter 1, shape |s8[{keys},16]| at ShapeIndex {{}}
        """,
        f"""
        0 | x | s8[1024,16] | 0 | 16384 | 0-7 | parameter(0)
        3 | table | s8[{keys},16] | 0 | {16 * keys} | 0-7 | parameter(1)
        1 | queries | s8[1024,16] | {small} | 16384 | 1-3 | tanh(x)
        1 | keys | s8[{keys},{width}] | {small + 40960} | {width * keys} | 2-3 | slice(x)
        {"" if target is None else bias}
        1 | scores | s8[1024,{keys}] | 0 | {size} | 3-5 | {made} | {op} @ f.py:3
        1 | max | s8[1024] | {small + 39936} | 1024 | 4-5 | reduce(scores) | f @ f.py:{mask_line}
        1 | exp | s8[1024,{keys}] | {size} | {size} | 5-7 | exponential(scores, max)
        1 | sum | s8[1024] | {small + 38912} | 1024 | 6-7 | reduce(exp) | f @ f.py:4
        {loop and stack}
        2 | out | {out} | 0 | 16384 | 7-7 | {read}
        """,
    )
    with_results(program, "out")
    if target is not None:
        program.instructions["scores"] = program.instructions["scores"]._replace(target=target)
        share_one_buffer_set(program, "bias", "scores")
    if module is not None:
        program.stored.operations = operations_of_text(module)
    return list(stored_scores(program))


def test_scores_are_products_of_computed_arrays_whose_softmax_a_product_reads(programs):
    (cause,) = attention(programs)
    assert [row["value"] for row in cause.rows] == ["scores", "exp"]
    assert {row["reason"] for row in cause.rows} == {
        "scores of 512 keys for each query, which f.py:4 reduces"
    }
    assert set(cause.edit.kept_by_label.values()) == {Fraction(1, 8)}


def test_the_line_is_that_of_the_sum_where_the_maximum_has_that_of_a_mask(programs):
    (cause,) = attention(programs, mask_line=2, read="dot(exp, sum)")
    assert all(row["reason"].endswith("which f.py:4 reduces") for row in cause.rows)


def test_a_stack_that_a_loop_makes_next_to_the_scores_is_none_of_them(programs):
    (cause,) = attention(programs, loop="s8[8,512,128]")
    assert [row["value"] for row in cause.rows] == ["scores", "exp"]


def test_scores_of_a_few_hundred_keys_are_large_next_to_what_makes_them(programs):
    assert len(attention(programs, keys=200)) == 1


def test_a_library_adds_the_products_to_a_bias_in_its_place(programs):
    (cause,) = attention(programs, target="__cublas$lt$matmul")
    assert [row["value"] for row in cause.rows] == ["bias", "exp"]


@pytest.mark.parametrize(("scope", "is_named"), [("rematted_computation/", True), ("", False)])
def test_scores_may_be_stored_only_where_a_checkpoint_recomputes_them(programs, scope, is_named):
    assert bool(attention(programs, op=f"transpose(jvp())/{scope}dot")) == is_named


@pytest.mark.parametrize(
    "changed",
    [
        {"keys": 128},
        {"made": "add(queries, keys)"},
        {"read": "tanh(exp)"},  # no product sums over the keys
        {"out": "s8[1000,16]"},
        {"out": "s8[1024]"},  # one of the keys for each query
        {"made": "dot(queries, table)"},
    ],
)
def test_other_values_are_no_scores(programs, changed):
    assert attention(programs, **changed) == []


PRODUCT = """HloModule m

%fused_computation (queries: s8[1024,1024], keys: s8[512,1024]) -> s8[1024,512] {
  %queries.1 = s8[1024,1024]{1,0} parameter(0)
  %keys.1 = s8[512,1024]{1,0} parameter(1)
  ROOT %dot = s8[1024,512]{1,0} dot(%queries.1, %keys.1), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}

ENTRY %main (queries: s8[1024,1024], keys: s8[512,1024]) -> s8[1024,512] {
  %queries = s8[1024,1024]{1,0} parameter(0)
  %keys = s8[512,1024]{1,0} parameter(1)
  ROOT %scores = s8[1024,512]{1,0} fusion(%queries, %keys), kind=kCustom, calls=%fused_computation
}
"""  # noqa: E501


@pytest.mark.parametrize(("module", "is_named"), [(None, True), (PRODUCT, False)])
def test_keys_of_as_many_elements_as_the_scores_are_no_mask(programs, module, is_named):
    # a loop over queries would add to the gradients of the keys, which are as large
    assert bool(attention(programs, width=1024, module=module)) == is_named


@pytest.mark.parametrize(("summed", "is_named"), [("exponential", True), ("multiply", False)])
def test_a_tpu_makes_the_exponentials_of_a_product_with_their_sums(programs, summed, is_named):
    program = programs(
        """
        0 | 16384 | parameter 0, shape |s8[1024,16]| at ShapeIndex {}
        1 | 581632 | preallocated-temp
        2 | 16384 | maybe-live-out
        """,
        """
        0 | x       | s8[1024,16]  | 0      | 16384  | 0-5 | parameter(0)
        1 | queries | s8[1024,16]  | 524288 | 16384  | 1-3 | tanh(x)
        1 | keys    | s8[512,16]   | 540672 | 8192   | 2-3 | slice(x)
        1 | all{0}  | s8[1024,512] | 0      | 524288 | 3-5 | fusion(queries, keys) | f @ f.py:3
        1 | all{1}  | s8[1024]     | 548864 | 1024   | 3-5 | fusion(queries, keys) | f @ f.py:3
        2 | out     | s8[1024,16]  | 0      | 16384  | 4-5 | dot(all{0}, keys)
        """,
    )
    with_results(program, "out")
    opcodes = ("convolution", summed, "reduce")
    made = program.instructions["all"]._replace(fused_opcodes=opcodes)
    program.instructions |= {"all": made}
    program.stored.operations = operations_of_text(f"""HloModule m

c {{
  q = s8[1024,16]{{1,0}} parameter(0)
  k = s8[512,16]{{1,0}} parameter(1)
  p = s8[1024,512]{{1,0}} convolution(q, k), dim_labels=bf_oi->bf
  e = s8[1024,512]{{1,0}} {summed}(p)
  zero = s8[] constant(0)
  r = s8[1024]{{0}} reduce(e, zero), dimensions={{1}}, to_apply=add
  ROOT t = (s8[1024,512]{{1,0}}, s8[1024]{{0}}) tuple(e, r)
}}

ENTRY m {{
  x = s8[1024,16]{{1,0}} parameter(0)
  queries = s8[1024,16]{{1,0}} tanh(x)
  keys = s8[512,16]{{1,0}} slice(x), slice={{[0:512], [0:16]}}
  all = (s8[1024,512]{{1,0}}, s8[1024]{{0}}) fusion(queries, keys), kind=kOutput, calls=c
}}
""")
    assert len(list(stored_scores(program))) == is_named


def test_the_kernel_of_a_tpu_sums_over_the_dimension_of_its_other_factor(programs):
    program = programs(
        """
        0 | 16384 | parameter 0, shape |s8[1024,16]| at ShapeIndex {}
        1 | 192512 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        """
        0 | x       | s8[1024,16]  | 0      | 16384  | 0-5 | parameter(0)
        1 | queries | s8[256,16]   | 131072 | 4096   | 1-3 | tanh(x)
        1 | keys    | s8[512,16]   | 135168 | 8192   | 2-3 | slice(x)
        1 | scores  | s8[256,512]  | 0      | 131072 | 3-5 | dot(queries, keys) | f @ f.py:3
        1 | given   | s8[512,16]   | 147456 | 8192   | 3-5 | sine(x)
        2 | out     | s8[256,16]   | 0      | 4096   | 4-5 | custom-call(scores, given)
        """,
    )
    with_results(program, "out")
    kernel = program.instructions["out"]
    program.instructions["out"] = kernel._replace(
        target="tpu_custom_call", op_name="online-softmax"
    )
    (cause,) = stored_scores(program)
    (row,) = cause.rows
    assert row["reason"] == "scores of 512 keys for each query, which online-softmax reduces"


@pytest.mark.parametrize(("scores", "is_named"), [("g", False), ("x", True)])
def test_queries_of_a_mapped_attention_are_not_what_it_is_mapped_over(
    programs, monkeypatch, scores, is_named
):
    found = [SimpleNamespace(labels={scores})]  # ``g`` has 16 queries, ``x`` none
    monkeypatch.setattr("xlagraph.advice.causes.mapped_axes.stored_scores", lambda _: found)
    assert bool(samples(programs)) is is_named
