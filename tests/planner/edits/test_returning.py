"""Results that are no longer returned."""

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.planner.edits.returning import KeepInside


def test_a_result_that_each_iteration_of_a_loop_reads_is_kept_until_the_loop_ends():
    compiled = compilation(
        (
            value(0, 0, 9, 64, lives_out=True, computation="main"),
            value(1, 2, 4, 8, reads=(0,), computation="body", is_in_entry=False),
            value(2, 6, 9, 8, reads=(0,), computation="main", instruction="loop"),
        ),
        (facts(0, "f32[16]"), facts(1, "f32[2]"), facts(2, "f32[2]", "while")),
    )
    after = KeepInside(frozenset({0})).apply(compiled, compiled.program).program
    assert after.by_id[0].live_until == 6
