"""Pairing of the compilations of two runs."""

from xlagraph.comparison.compared_sides import ComparedCompilation, Totals
from xlagraph.comparison.pairing import pair_compilations

SMALL, LARGE, OTHER = ((("0", "f32[1]"),), (("0", "f32[9]"),), (("0", "s32[]"),))


def candidates(run, *modules):
    """Name each by run and number: ("f", 1, SMALL) is `a/1`."""
    unknown = Totals(None, None, None, None)
    return [
        ComparedCompilation(f"{run}/{number}", name, number, unknown, signature)
        for name, number, signature in modules
    ]


def pairs_of(a, b):
    found = pair_compilations(candidates("a", *a), candidates("b", *b))
    return (
        [(left[2:], right[2:]) for left, right in found.pairs],
        [key[2:] for key in found.only_a],
        [key[2:] for key in found.only_b],
    )


def test_compilations_pair_only_within_one_module_name():
    a = [("f", 1, SMALL), ("g", 2, SMALL)]
    b = [("g", 1, SMALL), ("h", 2, SMALL)]
    assert pairs_of(a, b) == ([("2", "1")], ["1"], ["2"])


def test_an_inserted_compilation_leaves_the_others_paired():
    a = [("f", 1, SMALL), ("f", 2, LARGE)]
    b = [("f", 1, SMALL), ("f", 2, OTHER), ("f", 3, LARGE)]
    assert pairs_of(a, b) == ([("1", "1"), ("2", "3")], [], ["2"])


def test_a_removed_compilation_leaves_the_others_paired():
    a = [("f", 1, SMALL), ("f", 2, OTHER), ("f", 3, LARGE), ("f", 4, SMALL)]
    b = [("f", 1, SMALL), ("f", 2, LARGE), ("f", 3, SMALL)]
    assert pairs_of(a, b) == ([("1", "1"), ("3", "2"), ("4", "3")], ["2"], [])


def test_remaining_compilations_pair_in_order_of_module_number():
    a = [("f", 10, SMALL), ("f", 9, LARGE), ("f", 11, LARGE)]
    b = [("f", 2, OTHER), ("f", 1, OTHER)]
    assert pairs_of(a, b) == ([("10", "2"), ("9", "1")], ["11"], [])


def test_remaining_compilations_pair_in_addition_to_the_aligned_ones():
    a = [("f", 1, SMALL), ("f", 2, LARGE)]
    b = [("f", 1, OTHER), ("f", 2, LARGE)]
    assert pairs_of(a, b) == ([("1", "1"), ("2", "2")], [], [])


def test_aligned_pairs_never_cross():
    a = [("f", 1, SMALL), ("f", 2, LARGE)]
    b = [("f", 1, LARGE), ("f", 2, SMALL)]
    pairs, only_a, only_b = pairs_of(a, b)
    # one of the two is aligned; the other remains on both sides and pairs too
    assert sorted(pairs) in ([("1", "2"), ("2", "1")],)
    assert (only_a, only_b) == ([], [])


def test_dumps_without_module_name_or_number_pair_with_each_other():
    a = [(None, None, SMALL), ("f", 1, SMALL)]
    b = [(None, None, LARGE)]
    assert pairs_of(a, b) == ([("None", "None")], ["1"], [])


def test_ten_thousand_recompilations_of_one_signature_are_paired_quickly():
    many = [("f", number, SMALL) for number in range(10_000)]
    pairs, only_a, only_b = pairs_of(many, [("f", -1, SMALL), *many])
    assert len(pairs) == 10_000
    assert (only_a, len(only_b)) == ([], 1)


def test_nothing_pairs_with_nothing():
    assert pairs_of([], []) == ([], [], [])


def test_a_renamed_function_is_found_by_a_signature_that_no_other_has():
    step = ((0, "", "f32[8]"), (1, "", "s32[8]"), ("result", "f32[8]"))
    a = [("step", 1, step), ("add", 2, SMALL)]
    b = [("multiply", 1, SMALL), ("train_step", 2, step)]
    # one parameter is not enough: many small programs have the same
    assert pairs_of(a, b) == ([("1", "2")], ["2"], ["1"])


def test_a_signature_that_several_functions_have_finds_no_renamed_function():
    step = ((0, "", "f32[8]"), (1, "", "s32[8]"), ("result", "f32[8]"))
    a = [("f", 1, step), ("g", 2, step)]
    b = [("h", 1, step)]
    assert pairs_of(a, b) == ([], ["1", "2"], ["1"])
