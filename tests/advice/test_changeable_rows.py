"""Rows of values for which the change of a query has no effect are left out."""

from tests.advice.small_compilations import share_one_buffer_set
from xlagraph.advice.causes.returned_values import unchanged_inputs
from xlagraph.advice.changeable_rows import changeable_rows
from xlagraph.queries.catalogue.declarations import ChangeKind


def test_a_result_in_another_order_of_dimensions_keeps_its_type(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[32,32]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        """
        0 | w   | f32[32,32] | 0    | 4096 | 0-4 | parameter(0)
        1 | act | f32[32,32] | 0    | 4096 | 1-2 | tanh(w)
        1 | new | f32[32,32] | 4096 | 4096 | 2-3 | subtract(w, act)
        2 | out | f32[32,32] | 0    | 4096 | 3-4 | transpose(new)
        """,
        "out",
    )
    rows = [{"value": "act"}, {"value": "new"}]
    assert changeable_rows(program, ChangeKind.HALF, rows) == [{"value": "act"}]


def test_an_input_that_is_fetched_first_and_returned_unchanged_is_not_donated(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        """
        0 | w     | f32[1024] | 0 | 4096 | 0-3 | parameter(0)
        1 | fetch | f32[1024] | 0 | 4096 | 1-2 | copy-start(w)
        2 | out   | f32[1024] | 0 | 4096 | 2-3 | copy(fetch)
        """,
        "out",
    )
    (cause,) = unchanged_inputs(program)
    assert [row["value"] for row in cause.rows] == ["out"]
    assert changeable_rows(program, ChangeKind.DONATE, [{"value": "w"}]) == []


def test_a_state_that_a_loop_writes_over_a_copy_of_an_input_is_a_new_value(returning):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        """
        0 | w    | f32[1024] | 0 | 4096 | 0-4 | parameter(0)
        1 | c    | f32[1024] | 0 | 4096 | 1-2 | copy(w)
        1 | loop | f32[1024] | 0 | 4096 | 2-3 | dynamic-update-slice(c)
        2 | out  | f32[1024] | 0 | 4096 | 3-4 | copy(loop)
        """,
        "out",
    )
    share_one_buffer_set(program, "c", "loop")
    assert list(unchanged_inputs(program)) == []
    assert changeable_rows(program, ChangeKind.DONATE, [{"value": "w"}]) == [{"value": "w"}]
