"""`advise` takes tables that are computed or gathered for vocabularies, and no rows of layers."""

import pytest

from xlagraph.advice.causes.pair_scores import pair_scores
from xlagraph.advice.causes.softmax_logits import logits


def test_a_table_of_one_device_of_a_pmap_is_a_vocabulary(programs):
    program = programs(
        """
        0 | 131072  | parameter 0, shape |s8[1,8192,16]| at ShapeIndex {}
        1 | 1048704 | preallocated-temp
        """,
        """
        0 | x    | s8[1,8192,16] | 0       | 131072 | 0-5 | parameter(0)
        1 | rows | s8[64,8192]   | 0       | 524288 | 1-3 | dot(x)
        1 | exp  | s8[64,8192]   | 524288  | 524288 | 2-4 | exponential(rows)
        1 | sum  | s8[64]        | 1048576 | 64     | 3-5 | reduce(exp)
        1 | out  | s8[64]        | 1048640 | 64     | 4-5 | divide(sum, exp)
        """,
    )
    (cause,) = logits(program)
    assert cause.rows[0]["reason"] == "64 × 8192 products with x, which sum reduces"


@pytest.mark.parametrize(
    ("mean", "is_named"),
    [
        pytest.param("s8[8192] | 1572864 | 8192 | 2-4 | reduce(rows)", False, id="all rows"),
        pytest.param("s8[64] | 1572864 | 64 | 2-4 | reduce(rows)", True, id="each row"),
    ],
)
def test_logits_that_are_normalized_over_all_rows_have_no_parts(programs, mean, is_named):
    program = programs(
        """
        0 | 131072  | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 1581184 | preallocated-temp
        """,
        f"""
        0 | x    | s8[8192,16] | 0       | 131072 | 0-7 | parameter(0)
        1 | rows | s8[64,8192] | 0       | 524288 | 1-4 | dot(x)
        1 | mean | {mean}
        1 | norm | s8[64,8192] | 1048576 | 524288 | 3-5 | subtract(rows, mean)
        1 | exp  | s8[64,8192] | 524288  | 524288 | 4-7 | exponential(norm)
        1 | sum  | s8[64]      | 1581056 | 64     | 5-7 | reduce(exp)
        1 | out  | s8[64]      | 1581120 | 64     | 6-7 | divide(sum, exp)
        """,
    )
    assert bool([*logits(program)]) == is_named


@pytest.mark.parametrize(
    ("rows", "is_named"),
    [
        pytest.param("multiply(x)", True, id="a scaled table"),
        pytest.param("dot(x)", True, id="a product that may add low-rank weights"),
        pytest.param("dot(y)", False, id="rows that two layers compute"),
        pytest.param("dot(y) | jit(f)/transpose(jvp())/dot", True, id="a step of an optimizer"),
    ],
)
def test_rows_that_layers_compute_are_no_vocabulary(programs, rows, is_named):
    program = programs(
        """
        0 | 131072  | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 1572928 | preallocated-temp
        """,
        f"""
        0 | x    | s8[8192,16] | 0       | 131072 | 0-7 | parameter(0)
        1 | y    | s8[8192,16] | 1179648 | 131072 | 1-3 | dot(x)
        1 | head | s8[8192,16] | 1048576 | 131072 | 2-4 | {rows}
        1 | new  | s8[8192,16] | 1441792 | 131072 | 3-5 | add(x, head)
        1 | rows | s8[64,8192] | 0       | 524288 | 4-6 | dot(new)
        1 | exp  | s8[64,8192] | 524288  | 524288 | 5-7 | exponential(rows)
        1 | sum  | s8[64]      | 1310720 | 64     | 6-7 | reduce(exp)
        1 | out  | s8[64]      | 1310784 | 64     | 7-7 | divide(sum, exp)
        """,
    )
    assert bool([*logits(program)]) == is_named


def test_a_table_of_which_every_device_has_a_part_is_a_vocabulary(programs):
    program = programs(
        """
        0 | 32768   | parameter 0, shape |s8[2048,16]| at ShapeIndex {}
        1 | 1441856 | preallocated-temp
        """,
        """
        0 | part | s8[2048,16] | 0       | 32768  | 0-6 | parameter(0)
        1 | head | s8[8192,16] | 1048576 | 131072 | 1-3 | all-gather(part)
        1 | rows | s8[64,8192] | 0       | 524288 | 2-4 | dot(head)
        1 | exp  | s8[64,8192] | 524288  | 524288 | 3-5 | exponential(rows)
        1 | sum  | s8[64]      | 1310720 | 64     | 4-5 | reduce(exp)
        1 | out  | s8[64]      | 1310784 | 64     | 5-6 | divide(sum, exp)
        """,
    )
    (cause,) = logits(program)
    assert cause.rows[0]["reason"] == "64 × 8192 products with part, which sum reduces"
    assert not [*pair_scores(program)]


def test_the_table_is_named_if_there_are_as_many_tokens_as_words(programs):
    program = programs(
        """
        0 | 65536 | parameter 0, shape |s8[4096,16]| at ShapeIndex {}
        1 | 33628160 | preallocated-temp
        """,
        """
        0 | head | s8[4096,16]   | 0        | 65536    | 0-6 | parameter(0)
        1 | rows | s8[4096,16]   | 0        | 65536    | 0-3 | iota() | jit(f)/add
        1 | all  | s8[4096,4096] | 65536    | 16777216 | 1-5 | dot(rows, head)
        1 | max  | s8[4096]      | 33619968 | 4096     | 2-3 | reduce(all) | jit(f)/max @ f.py:8
        1 | exp  | s8[4096,4096] | 16842752 | 16777216 | 3-6 | exponential(all, max)
        1 | sum  | s8[4096]      | 33624064 | 4096     | 4-6 | reduce(exp) | jit(f)/sum @ f.py:8
        """,
    )
    (cause,) = logits(program)
    assert cause.rows[0]["reason"] == "4096 × 4096 products with head, which f.py:8 reduces"
