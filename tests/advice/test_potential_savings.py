"""Potential savings have a range or a doubt in their text, and an edit of whole buffers."""

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.advice.planned_savings import PotentialSavings, edit_of_rows
from xlagraph.planner.edits.recomputing import Recompute
from xlagraph.planner.edits.resizing import Scale
from xlagraph.queries.catalogue.declarations import Advice, ChangeKind


@pytest.mark.parametrize(
    ("at_most", "doubt", "text"),
    [
        (None, None, "1.0 KiB"),
        (None, "the compiler may undo it", "up to 1.0 KiB"),
        (4096, None, "1.0 KiB to 4.0 KiB"),
        (4096, "the compiler may undo it", "1.0 KiB to 4.0 KiB"),
        (1024, "the compiler may undo it", "up to 1.0 KiB"),
    ],
)
def test_savings_are_written_with_their_range_or_doubt(
    at_most: int | None, doubt: str | None, text: str
) -> None:
    assert PotentialSavings(1024, at_most, "reserved", doubt, is_planned=True).text == text


@pytest.mark.parametrize("fact", [{}, {"is_stored": True}, {"lives_out": True}])
def test_a_narrower_type_is_that_of_all_values_that_share_their_bytes(fact):
    state = [value(1, 0, 3, buffer_set=1), value(2, 3, 6, buffer_set=1, **fact)]
    known = [facts(1, "f32[4]"), facts(2, "f32[4]")]
    advice = Advice("bytes", "reserved", "", (), None, {}, ChangeKind.HALF)
    edit = edit_of_rows([{"value": "v1"}], advice, compilation(state, known))
    assert isinstance(edit, Scale)
    # the type of an input or a result belongs to the caller
    assert set(edit.kept_by_label) == ({"v1"} if fact else {"v1", "v2"})


def test_a_copy_in_a_loop_of_an_input_has_the_type_of_the_input():
    given = value(1, 0, 6, is_stored=True)
    copy = value(2, 3, 4, is_copy=True, operands=(1,), is_in_entry=False)
    advice = Advice("bytes", "reserved", "", (), None, {}, ChangeKind.HALF)
    known = [facts(1, "f32[4]", "parameter"), facts(2, "f32[4]", "copy")]
    edit = edit_of_rows([{"value": "v2"}], advice, compilation([given, copy], known))
    assert isinstance(edit, Scale)
    assert edit.kept_by_label == {}


def test_a_checkpoint_recomputes_all_values_of_an_op():
    names = ("jit(f)/jvp(net)/tanh", "jit(f)/jvp(net)/tanh", "jit(f)/jvp(net)/dot")
    values = [value(number, number, 6) for number in range(3)]
    known = [facts(number, "f32[4]", "add", name) for number, name in enumerate(names)]
    advice = Advice("bytes", "reserved", "", (), None, {}, ChangeKind.RECOMPUTE)
    edit = edit_of_rows([{"value": "v0"}], advice, compilation(values, known))
    assert edit == Recompute(("v0", "v1"))
