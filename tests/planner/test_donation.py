"""A result is written over a donated parameter, with the copies that this needs."""

from tests.planner.small_programs import program, value
from xlagraph.planner.donation import donate, step_before_copies
from xlagraph.planner.needed_copies import Donor
from xlagraph.planner.planned_program import Overwrite, PlannedAllocation

GIVEN = PlannedAllocation(0, 16, "parameter", 0, parameter_number=0)


def parameter(**facts):
    return value(1, 0, 10, allocation=0, is_stored=True, instruction="p", **facts)


def output(first, **facts):
    return value(9, first, 10, lives_out=True, instruction="out", **facts)


def donated(*values, until, overwrites=None, knows_schedule=False, like_sources=()):
    made = program(*values, allocations=(GIVEN,), overwrites=overwrites)
    donors = [Donor(1, 9, until)]
    return donate(made, donors, like_sources=like_sources, knows_schedule=knows_schedule)


def test_a_parameter_whose_readers_the_result_depends_on_is_written_in_place():
    reader = value(2, 2, 5, reads=(1,), instruction="reader")
    found = donated(parameter(), reader, output(5, reads=(2,)), until=2)
    assert [donor.parameter for donor in found.in_place] == [1]
    given, written = found.program.by_id[1], found.program.by_id[9]
    assert (given.live_from, given.live_until) == (0, 2)
    assert given.buffer_set == written.buffer_set
    assert found.program.stored_in(given).maybe_live_out


def test_the_result_may_depend_on_a_reader_through_others_in_any_order_of_their_ids():
    reader = value(5, 2, 4, reads=(1,), instruction="reader")
    between = value(3, 3, 5, reads=(5,), instruction="between")
    found = donated(parameter(), between, output(6, reads=(3,)), reader, until=2)
    assert [donor.parameter for donor in found.in_place] == [1]


def test_a_reader_that_may_run_later_forces_a_copy_at_the_start_that_all_read():
    values = (
        parameter(),
        value(2, 2, 5, reads=(1,), operands=(1,), instruction="reader"),
        value(3, 3, 4, reads=(1,), instruction="loose"),
        output(5, reads=(2,)),
    )
    found = donated(*values, until=3)
    assert [donor.parameter for donor in found.copied] == [1]
    changed = found.program.by_id
    (copy,) = [made for made in changed.values() if made.is_copy]
    # the copy is a separate step, before the first one that computes
    assert (copy.live_from, copy.live_until) == (2, 4)
    assert (changed[1].live_from, changed[1].live_until) == (0, 2)
    assert changed[2].operands == changed[2].reads == (copy.value_id,)
    assert (changed[9].live_from, changed[9].live_until) == (6, 11)
    assert step_before_copies(6, found.copied_before) == 5


def test_a_copy_waits_for_what_is_ready_after_earlier_parameters_and_runs_before_the_rest():
    values = (
        parameter(),
        value(5, 0, 10, allocation=1, is_stored=True, instruction="second"),
        value(6, 2, 8, reads=(5,), instruction="ready after the second"),
        value(7, 3, 9, reads=(6,), instruction="ready later"),
        value(2, 4, 6, reads=(1, 7), operands=(1, 7), instruction="reader"),
        value(3, 5, 5, reads=(1, 7), instruction="loose"),
        output(6, reads=(2,)),
    )
    waiting = tuple(
        each._replace(reads=(5, 1)) if each.instruction == "ready after the second" else each
        for each in values
    )
    for order, step in ((0, 2), (1, 3)):  # numbers of the donated parameter
        given = [GIVEN._replace(number=each, parameter_number=each ^ order) for each in (0, 1)]
        made = program(*values, allocations=given)
        assert donate(made, [Donor(1, 9, 5)], knows_schedule=False).copied_before == (step,)
        made = program(*waiting, allocations=given)  # what waits for the copy itself
        assert donate(made, [Donor(1, 9, 5)], knows_schedule=False).copied_before == (2,)


def test_if_parameters_are_placed_where_they_are_needed_so_is_the_copy():
    values = (
        parameter(),
        value(4, 1, 2, instruction="before a second parameter"),
        value(2, 3, 5, reads=(1,), operands=(1,), instruction="reader"),
        value(3, 4, 4, reads=(1,), instruction="loose"),
        output(5, reads=(2,)),
    )
    second = GIVEN._replace(number=1, parameter_number=1)
    made = program(*values, allocations=(GIVEN, second))
    found = donate(made, [Donor(1, 9, 4)], knows_schedule=False)
    (copy,) = [made for made in found.program.values if made.is_copy]
    assert (copy.live_from, copy.live_until) == (3, 5)
    assert found.copied_before == (3,)
    assert [step_before_copies(step, found.copied_before) for step in (2, 3, 4, 5)] == [2, 3, 3, 4]


def test_a_compiler_that_knows_the_schedule_drops_the_copy():
    values = (parameter(), value(3, 3, 4, reads=(1,), instruction="loose"), output(5))
    assert donated(*values, until=3).copied_twice
    assert donated(*values, until=3, knows_schedule=True).in_place


def test_the_result_may_be_written_over_what_it_reads_itself_only_if_it_may_overwrite_it():
    values = (parameter(), output(5, reads=(1,), operands=(1,)))
    assert donated(*values, until=5).copied_last
    may = {9: (Overwrite(1, is_operand=True, may_share_block=True),)}
    assert donated(*values, until=5, overwrites=may).in_place


def test_a_reader_of_a_result_that_is_copied_may_take_its_block():
    """The table of results shows the copy, so that the result's maker shows it last."""
    values = (
        parameter(),
        output(5, reads=(1,), operands=(1,)),
        value(4, 7, 10, reads=(9,), operands=(9,), instruction="reader"),
    )
    for is_operand in (True, False):
        may = {4: (Overwrite(9, is_operand, may_share_block=False),)}
        found = donated(*values, until=5, overwrites=may)
        assert found.copied_last
        assert found.program.overwrites[4][0].may_share_block is is_operand


def test_the_copy_that_preserved_the_parameter_is_not_needed():
    copy = value(2, 1, 5, buffer_set=2, is_copy=True, reads=(1,), operands=(1,), instruction="copy")
    loop = value(9, 5, 10, buffer_set=2, lives_out=True, reads=(2,), instruction="while")
    found = donated(parameter(), copy, loop, until=1)
    assert found.in_place
    assert sorted(found.program.by_id) == [1, 9]


def test_the_parameter_is_needed_as_long_as_the_copy_whose_readers_read_it_now():
    copy = value(2, 1, 7, buffer_set=2, is_copy=True, reads=(1,), operands=(1,), instruction="copy")
    gather = value(3, 2, 4, reads=(2,), instruction="gather")
    scatter = value(9, 7, 10, buffer_set=2, lives_out=True, reads=(2, 3), instruction="scatter")
    found = donated(parameter(), copy, gather, scatter, until=1)
    assert found.in_place
    assert found.program.by_id[1].live_until == 7  # no other value fits into its bytes before


def test_a_member_of_a_set_ends_where_the_next_begins():
    found = donated(parameter(), output(5), until=7, knows_schedule=False)
    assert found.in_place  # nothing reads it
    assert found.program.by_id[1].live_until == 5


def test_a_result_that_depends_on_no_reader_is_copied_over_the_copied_parameter():
    values = (
        parameter(),
        value(3, 3, 6, reads=(1,), operands=(1,), instruction="loose"),
        output(5),
        value(4, 6, 10, reads=(3,), instruction="ready with the result"),
        value(5, 7, 10, reads=(9,), instruction="ready later"),
    )
    found = donated(*values, until=3)
    assert [donor.parameter for donor in found.copied_twice] == [1]
    first, last = sorted((made for made in found.program.values if made.is_copy), key=first_step)
    assert (first.live_from, first.live_until, first.lives_out) == (3, 4, False)
    assert (last.live_from, last.live_until, last.lives_out) == (8, 12, True)
    changed = found.program.by_id
    assert last.buffer_set == changed[1].buffer_set
    assert last.buffer_set != changed[9].buffer_set
    # the result is read once more after it is copied
    assert (changed[9].live_from, changed[9].live_until, changed[9].lives_out) == (6, 9, False)


def first_step(made):
    return made.live_from


def test_a_parameter_that_only_the_result_reads_is_kept_until_the_result_is_copied():
    found = donated(parameter(), output(5, reads=(1,), operands=(1,)), until=5)
    (copy,) = [made for made in found.program.values if made.is_copy]
    assert (copy.live_from, copy.operands) == (6, (9,))
    assert found.program.by_id[1].live_until == 5


def test_copies_are_in_the_order_of_the_parameters():
    given = [PlannedAllocation(n, 16, "parameter", 0, parameter_number=n) for n in (0, 1)]
    outputs = [
        value(name, 5, 9, reads=(4,), lives_out=True, instruction=f"out{name}") for name in (8, 9)
    ]
    made = program(
        value(2, 0, 9, allocation=0, is_stored=True, instruction="first"),
        value(1, 0, 9, allocation=1, is_stored=True, instruction="second"),
        value(4, 2, 5, reads=(1, 2), operands=(1, 2), instruction="reader"),
        value(3, 8, 9, reads=(1, 2), operands=(1, 2), instruction="loose"),
        *outputs,
        allocations=given,
    )
    found = donate(made, [Donor(1, 8, 8), Donor(2, 9, 8)], knows_schedule=False)
    copies = [copy for copy in found.program.values if copy.is_copy]
    ordered = sorted(copies, key=first_step)
    assert [copy.instruction for copy in ordered] == ["copy of first", "copy of second"]


def test_results_that_wait_for_the_same_step_are_copied_in_the_order_in_which_they_are_made():
    # a, b → b + 1, a * 2: the second is made first
    given = [PlannedAllocation(n, 16, "parameter", 0, parameter_number=n) for n in (0, 1)]
    made = program(
        value(1, 0, 9, allocation=0, is_stored=True, instruction="a"),
        value(2, 1, 9, allocation=1, is_stored=True, instruction="b"),
        value(9, 2, 9, reads=(1,), operands=(1,), lives_out=True, instruction="doubled"),
        value(8, 3, 9, reads=(2,), operands=(2,), lives_out=True, instruction="added"),
        value(10, 4, 9, reads=(8, 9), is_table=True, lives_out=True, instruction="root"),
        allocations=given,
    )
    found = donate(made, [Donor(1, 8, 2), Donor(2, 9, 3)], knows_schedule=False)
    copies = sorted((each for each in found.program.values if each.is_copy), key=first_step)
    assert [copy.instruction.removeprefix("copy of ") for copy in copies] == [
        "a",
        "b",
        "doubled",
        "added",
    ]


def test_a_copy_that_begins_the_results_bytes_follows_the_copy_of_the_parameter():
    values = (
        parameter(),
        value(2, 2, 5, reads=(1,), operands=(1,), is_copy=True, buffer_set=9, instruction="own"),
        value(3, 3, 4, reads=(1,), instruction="loose"),
        output(5, reads=(2,), operands=(2,), buffer_set=9),
    )
    found = donated(*values, until=3)
    assert [donor.parameter for donor in found.copied] == [1]
    assert len([made for made in found.program.values if made.is_copy]) == 2


def test_a_copy_for_other_bytes_serves_as_the_copy_of_the_parameter():
    values = (
        parameter(),
        value(2, 2, 5, reads=(1,), operands=(1,), is_copy=True, instruction="other"),
        value(3, 5, 10, reads=(2,), instruction="updated"),
        output(4),
    )
    found = donated(*values, until=2)
    assert [donor.parameter for donor in found.copied_last] == [1]


def loop_with_two_states(*others, result_reads=(2, 3)):
    """The result begins with zeros; a copy of the parameter begins the other state."""
    return (
        parameter(),
        value(2, 2, 5, reads=(1,), operands=(1,), is_copy=True, instruction="copy"),
        value(3, 3, 5, buffer_set=9, instruction="zeros"),
        value(6, 5, 5, reads=(2, 3), buffer_set=2, instruction="out"),
        value(9, 5, 10, reads=result_reads, lives_out=True, buffer_set=9, instruction="out"),
        *others,
    )


def test_the_state_of_a_loop_is_written_over_the_parameter_and_the_result_copied_last():
    found = donated(*loop_with_two_states(), until=2, like_sources={2})
    assert [donor.parameter for donor in found.copied_last] == [1]
    changed = found.program.by_id
    (copied,) = [each for each in changed.values() if each.is_copy]
    assert 2 not in changed
    assert changed[1].buffer_set == changed[6].buffer_set == copied.buffer_set
    assert changed[9].buffer_set != copied.buffer_set


def test_a_result_that_begins_after_the_loop_takes_the_parameter_too():
    loop = loop_with_two_states()[:-1]
    after = value(9, 7, 10, reads=(6,), lives_out=True, instruction="after")
    until = value(6, 5, 7, reads=(2, 3), buffer_set=2, instruction="loop")
    values = (*loop[:2], until, after)
    may = {9: (Overwrite(6, is_operand=True, may_share_block=True),)}
    found = donated(*values, until=2, like_sources={2}, overwrites=may)
    assert [donor.parameter for donor in found.in_place] == [1]
    assert {each.buffer_set for each in found.program.values} == {9}
    apart = donated(*values, until=2, like_sources={2})
    assert [donor.parameter for donor in apart.copied_last] == [1]


def test_the_copy_stays_with_another_layout_or_if_its_bytes_are_read_beside_the_result():
    read_later = value(7, 7, 9, reads=(6,), instruction="later")
    for values, like_sources in (
        (loop_with_two_states(), ()),
        (loop_with_two_states(read_later), {2}),
    ):
        found = donated(*values, until=2, like_sources=like_sources)
        assert found.program.by_id[2].is_copy
        assert found.program.by_id[2].buffer_set != found.program.by_id[1].buffer_set


def test_a_result_may_be_copied_as_soon_as_it_is_made_or_at_the_end():
    values = (
        value(2, 1, 8, reads=(1,), operands=(1,), is_copy=True, instruction="other"),
        value(4, 5, 6, instruction="later"),
        value(6, 6, 7, reads=(4,), instruction="after"),
        value(7, 8, 9, instruction="end"),
    )
    made = program(parameter(), *values, output(4), allocations=(GIVEN,))
    soon, late = (
        donate(made, [Donor(1, 9, 8)], knows_schedule=True, copies_last=last)
        for last in (False, True)
    )
    assert [donor.parameter for donor in (*soon.copied_last, *late.copied_last)] == [1, 1]
    assert (soon.copied_before, late.copied_before) == ((6,), (8,))


def test_the_copy_of_the_result_brings_the_parameter_and_its_copy_forward_in_post_order():
    root = value(10, 9, 10, is_table=True, lives_out=True, reads=(7, 9), instruction="root")
    values = (
        parameter(post_order=50),
        value(2, 6, 7, reads=(1,), operands=(1,), instruction="late", post_order=51),
        value(7, 3, 10, lives_out=True, instruction="first", post_order=20),
        output(5, post_order=40),
        root,
    )
    found = donated(*values, until=6)
    assert [donor.parameter for donor in found.copied_twice] == [1]
    (copy,) = [made for made in found.program.values if made.instruction == "copy of p"]
    assert copy.post_order == 20
    assert found.program.by_id[1].post_order == 20


def test_a_parameter_that_is_returned_unchanged_is_its_own_result_and_not_copied():
    values = (
        parameter(),
        value(2, 2, 5, reads=(1,), instruction="reader"),
        output(1, reads=(1,), operands=(1,), is_copy=True),
    )
    found = donated(*values, until=2)
    assert [donor.parameter for donor in found.in_place] == [1]
    assert {made.value_id: made.live_until for made in found.program.values} == {1: 10, 2: 5}


def test_a_parameter_that_is_returned_unchanged_into_another_is_copied_once():
    # old, new → new, computed(old, new), and both are donated
    second = GIVEN._replace(number=1, parameter_number=1)
    new = value(3, 0, 10, allocation=1, is_stored=True, instruction="new")
    passed = value(
        9, 3, 10, lives_out=True, is_copy=True, reads=(3,), operands=(3,), instruction="copy"
    )
    half = value(4, 4, 5, reads=(3,), operands=(3,), instruction="half")
    made = value(8, 5, 10, lives_out=True, reads=(1, 4), operands=(1, 4), instruction="made")
    step = program(parameter(), new, passed, half, made, allocations=(GIVEN, second))
    found = donate(step, [Donor(3, 8, 5), Donor(1, 9, 5)], knows_schedule=False)
    changed = found.program.by_id
    assert 9 not in changed
    (first,) = [each for each in changed.values() if each.operands == (3,)]
    (last,) = [
        each for each in changed.values() if each.is_copy and each.operands == (first.value_id,)
    ]
    assert last.buffer_set == changed[1].buffer_set
    assert first.live_until >= last.live_from


def test_the_copy_of_a_parameter_that_is_returned_does_not_serve_another_donation():
    second = GIVEN._replace(number=1, parameter_number=1)
    new = value(3, 0, 10, allocation=1, is_stored=True, instruction="new")
    passed = value(
        9, 3, 10, lives_out=True, is_copy=True, reads=(3,), operands=(3,), instruction="copy"
    )
    made = value(8, 5, 10, lives_out=True, reads=(1, 3), operands=(1, 3), instruction="made")
    step = program(parameter(), new, passed, made, allocations=(GIVEN, second))
    found = donate(step, [Donor(3, 8, 5), Donor(1, 9, 5)], knows_schedule=False)
    assert [donor.parameter for donor in found.copied] == [3]
    assert [donor.parameter for donor in found.copied_twice] == [1]
