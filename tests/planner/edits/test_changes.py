"""Values that depend on a changed one, and the sentences about each change."""

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.planner.edits.whatif import whatif_of
from xlagraph.planner.planned_program import PlannedAllocation
from xlagraph.queries import BadParameter, Changes

FORWARD, BACKWARD = "jit(f)/jvp()/while", "jit(f)/transpose(jvp())/while"
GIVEN = PlannedAllocation(0, 64, "parameter", 0, parameter_number=0, shape_index="{}")
DONATED = GIVEN._replace(maybe_live_out=True)


def planned(compiled, **changes):
    """Plan with changes; return what is reserved before and after, and the sentences."""
    found = whatif_of(compiled, Changes(**changes))
    return (
        found.reserved_bytes_replanned,
        found.reserved_bytes_after,
        [effect.text for effect in found.effects],
    )


def stacking_loop():
    """A loop of 4 turns that makes f32[8] in a scope and stacks it for the backward pass."""
    return compilation(
        (
            value(0, 0, 2, 128, buffer_set=0),
            value(1, 2, 3, 32, is_in_entry=False),
            value(2, 3, 4, 128, buffer_set=0, is_in_entry=False, reads=(0, 1)),
            value(3, 4, 8, 128, buffer_set=0, instruction="loop", reads=(0,)),
            value(4, 6, 7, 32, is_in_entry=False, reads=(3,)),
        ),
        (
            facts(0, "f32[4,8]{1,0}", "broadcast", FORWARD),
            facts(1, "f32[8]{0}", "tanh", FORWARD + "/body/cell/tanh"),
            facts(2, "f32[4,8]{1,0}", "fusion", FORWARD + "/body/mul", stack_loop="loop"),
            facts(3, "f32[4,8]{1,0}", "while", FORWARD),
            facts(4, "f32[8]{0}", "fusion", BACKWARD + "/body/cell/mul"),
        ),
    )


@pytest.mark.parametrize("pattern", ["v1", "v2", "v3", "cell/tanh"])
def test_a_value_of_a_loop_shrinks_with_its_whole_stack(pattern):
    before, after, texts = planned(stacking_loop(), shrink={pattern: 2})
    assert before == 160
    assert after <= 96
    assert len(texts) == 1


def test_dependent_values_are_counted_with_their_bytes():
    _, _, (text,) = planned(stacking_loop(), shrink={"v1": 2})
    assert text == (
        "--shrink v1=1/2: 1 named value, and 3 that share their bytes, stack or copy them:"
        " 2 buffers of 160 B are smaller, 80 B now; saves 64 B of reserved memory"
    )


def test_a_scope_inside_of_a_loop_can_be_checkpointed():
    found = whatif_of(stacking_loop(), Changes(checkpoint=["cell"]))
    assert found.saved_bytes is not None
    assert found.saved_bytes > 0
    (effect,) = found.effects
    assert "1 value that cell keeps for the backward pass, 1 of them stacked by a loop" in (
        effect.text
    )


def in_place_step():
    """A donated parameter that is updated in place, and one that is copied for another loop."""
    second = GIVEN._replace(number=1, parameter_number=1)
    return compilation(
        (
            value(0, 0, 3, 64, buffer_set=0, allocation=0, is_stored=True),
            value(1, 3, 9, 64, buffer_set=0, lives_out=True, reads=(0,)),
            value(2, 0, 9, 64, allocation=1, is_stored=True),
            value(3, 4, 6, 64, is_copy=True, operands=(2,), reads=(2,)),
            value(4, 5, 5, 16),
        ),
        (
            facts(0, "f32[16]{0}", "parameter"),
            facts(1, "f32[16]{0}", "scatter"),
            facts(2, "f32[16]{0}", "parameter"),
            facts(3, "f32[16]{0}", "copy"),
            facts(4, "f32[4]{0}", "negate"),
        ),
        allocations=(DONATED, second),
        parameters={0: (0, "{}"), 2: (1, "{}")},
        results=(1,),
    )


@pytest.mark.parametrize("name", ["v0", "v1"])
def test_a_value_updated_in_place_is_freed_with_the_donated_parameter(name):
    found = whatif_of(in_place_step(), Changes(without=[name]))
    assert found.saved_bytes == 64
    assert [held.value for held in found.peak_values] == ["v3", "v4"]


def test_copies_shrink_with_their_parameter_and_the_reverse():
    for name in ("v2", "v3"):
        before, after, _ = planned(in_place_step(), shrink={name: 2})
        assert before - after == 64
    _, after, (text,) = planned(in_place_step(), without=["v3"])
    assert before - after == 64
    assert text.startswith("--without v3: 1 named value: 1 buffer of 64 B is removed")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"shrink": {"v2": 1}}, "a factor of 1 keeps all bytes"),
        ({"without": ["v5"]}, "the named values are thread-local or have no live range"),
        ({"shrink": {"v6": 2}}, "the named values are tables of pointers, which keep their size"),
        ({"until_last_use": ["v0"]}, "parameters and constants live to the end"),
        ({"until_last_use": ["v1"]}, "results of the program live to the end"),
        ({"until_last_use": ["v2"]}, "already freed at their last use"),
        ({"donate": ["0"]}, "1 parameter: 1 no output; nothing changes"),
        ({"shrink": {"v3": 2}}, "none of them is live at step 2, the peak of the temporary block"),
    ],
)
def test_a_change_without_effect_says_why(changes, reason):
    compiled = compilation(
        (
            value(0, 0, 9, 64, allocation=0, is_stored=True),
            value(1, 8, 9, 16, lives_out=True),
            value(2, 1, 4, 96),
            value(3, 6, 7, 32),
            value(6, 1, 1, 8, is_table=True),
        ),
        (
            facts(0, "f32[16]{0}", "parameter", needed_until=3),
            facts(1, "f32[4]{0}"),
            facts(2, "f32[24]{0}", last_use=4),
            facts(3, "f32[8]{0}", last_use=7),
            facts(5, "f32[]", "constant"),
            facts(6, "(f32[4]{0})", "tuple"),
        ),
        allocations=(GIVEN,),
        parameters={0: (0, "{}")},
        results=(1,),
    )
    before, after, (text,) = planned(compiled, **changes)
    assert reason.replace("step 2", "step 1") in text
    assert before == after


def test_values_removed_by_an_earlier_change_are_named_as_that():
    _, _, texts = planned(in_place_step(), without=["v3"], shrink={"v3": 2})
    assert texts[1] == "--shrink v3=1/2: changes nothing: an earlier change removes these values"


def test_a_batch_that_is_named_but_not_changed_is_refused():
    with pytest.raises(BadParameter, match="no change of it"):
        Changes(batch_of=["0"])
    with pytest.raises(BadParameter, match="not both"):
        Changes(batch=2, batch_of=["0"], batch_like="other")


def float_and_mask():
    """A parameter, a value and a mask that are computed from it, and a result of its shape."""
    return (
        value(0, 0, 9, 64, allocation=0, is_stored=True),
        value(1, 1, 3, 64, operands=(0,), reads=(0,)),
        value(2, 2, 3, 16, operands=(0,), reads=(0,)),
        value(3, 3, 9, 64, operands=(1, 2), reads=(1, 2), lives_out=True),
    ), (
        facts(0, "f32[16]{0}", "parameter", size_bytes=64),
        facts(1, "f32[16]{0}", "exponential", size_bytes=64),
        facts(2, "pred[16]{0}", "compare", size_bytes=16, dtype="pred"),
        facts(3, "f32[16]{0}", "select", size_bytes=64),
    )


def doubts(platform="cpu", **changes):
    compiled = compilation(
        *float_and_mask(),
        platform=platform,
        allocations=(GIVEN,),
        parameters={0: (0, "{}")},
        results=(3,),
    )
    found = whatif_of(compiled, Changes(**changes))
    return found, "; ".join(found.assumptions)


def test_a_narrower_type_is_doubted_where_the_compiler_widens_it():
    for platform, doubt in (
        ("cpu", "a narrower type saves less or nothing"),
        ("gpu", "a narrower type narrows that, or adds conversions"),
    ):
        assert doubt in doubts(platform, shrink={"v1": 2})[1]
    assert "adds conversions" not in doubts("gpu", shrink={"*": 2})[1]


def test_masks_keep_their_size_with_a_narrower_type_of_floats():
    found, text = doubts("gpu", shrink={"*": 2})
    assert "16 B of the values are pred, which another type of floats keeps" in text
    assert found.reserved_bytes_at_most - found.reserved_bytes_after == 8
    assert "of the values are pred" not in doubts("gpu", shrink={"v2": 2})[1]


def test_results_of_the_shape_of_a_smaller_parameter_may_be_its_new_value():
    doubt = "results with the shapes of smaller parameters, 64 B, keep their size"
    assert doubt in doubts(shrink={"v0": 2})[1]
    assert doubt not in doubts(shrink={"v1": 2})[1]


def test_what_reads_removed_values_may_read_others():
    doubt = "what reads 64 B of the removed values is assumed to read nothing in their place"
    assert doubt in doubts(without=["v1"])[1]
    assert doubt not in doubts(without=["v3"])[1]
