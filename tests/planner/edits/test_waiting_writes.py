"""A parameter is written over once all gradients are computed."""

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.planner.edits.resizing import Remove
from xlagraph.planner.edits.waiting_writes import WaitForGradients


def test_gradients_live_until_the_last_one_is_made_and_the_copies_are_gone():
    compiled = compilation(
        (
            value(0, 0, 6, 64, is_stored=True),
            value(1, 1, 6, 64, is_copy=True, operands=(0,), reads=(0,)),
            value(2, 2, 3, 64, instruction="first gradient"),
            value(3, 6, 7, 64, reads=(1,), instruction="last gradient"),
            value(4, 3, 7, 64, reads=(2,), lives_out=True, instruction="updated"),
        ),
        tuple(facts(each, "f32[16]") for each in range(5)),
    )
    copies = Remove(("copy",), frozenset({1}))
    after = WaitForGradients(copies, frozenset({2, 3})).apply(compiled, compiled.program).program
    assert {each.value_id: each.live_until for each in after.values} == {0: 6, 2: 6, 3: 7, 4: 7}
