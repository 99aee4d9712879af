"""Inputs that only one of two programs donates, and the bytes that follow from it."""

from tests.comparison.test_explaining import INPUT, VALUE, lines
from xlagraph.comparison.changed_donations import donated_by_one
from xlagraph.comparison.held_values import ReservedPart
from xlagraph.comparison.value_matching import Matching


def test_an_input_without_a_name_is_donated_by_one_if_as_many_of_its_shape_are_not():
    kept = INPUT._replace(is_donated=False)
    donated = kept._replace(is_donated=True)
    for name, expected in (("p", 1), (None, 0)):
        of_both = [each._replace(op_name=name) for each in (kept, donated)]
        swapped = Matching(((of_both[0], of_both[1]), (of_both[1], of_both[0])), (), ())
        assert len(donated_by_one(swapped, before=True)) == expected
        assert len(donated_by_one(swapped, before=False)) == expected
    unnamed = [each._replace(op_name=None) for each in (kept, donated)]
    changed = Matching(((unnamed[0], unnamed[1]),), (), ())
    assert donated_by_one(changed, before=False) == [(unnamed[1], unnamed[0])]


def test_more_temporary_bytes_than_an_input_has_do_not_follow_from_its_donation():
    donated = INPUT._replace(is_donated=True, size_bytes=4, held_bytes=4, shape="f32[]")
    kept = donated._replace(is_donated=False)
    elsewhere = VALUE._replace(part=ReservedPart.INPUTS, held_bytes=0)
    found = lines([kept, VALUE], [donated, elsewhere])
    assert ("1 temporary value now in the bytes of inputs or outputs (mostly f.py:1)", -64) in found


def test_outputs_of_another_size_follow_from_an_input_that_is_no_longer_donated():
    small = INPUT._replace(is_donated=True, op_name="w", shape="f32[4]", held_bytes=16)
    large = small._replace(is_donated=False, shape="f32[6]", held_bytes=24)
    new = VALUE._replace(op_name="jit(f)/sub", is_result=True, live_from=9)
    inside = new._replace(part=ReservedPart.INPUTS, shape="f32[4]", held_bytes=0)
    own = new._replace(part=ReservedPart.OUTPUTS, shape="f32[6]", held_bytes=24)
    found = dict(lines([small, inside], [large, own]))
    assert found["1 input is no longer donated (w)"] == 24
    assert dict(lines([large, own], [small, inside]))["1 input is now donated (w)"] == -24
