"""Patterns: literal text, `*` and `?`."""

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.planner.edits.donating import Donate, whole_arguments
from xlagraph.planner.edits.patterns import matching
from xlagraph.planner.edits.whatif import whatif_of
from xlagraph.planner.planned_program import PlannedAllocation
from xlagraph.queries import BadParameter, Changes, NoSuchName

LEAVES = ("state[0]['w']", "state[0]['b']", "state[1].mu", "params", "s0")


def leaves():
    """A program whose parameters v0, v1, … are these leaves."""
    numbers = range(len(LEAVES))
    return compilation(
        [value(n, 0, 3, 64, allocation=n, is_stored=True) for n in numbers],
        [
            facts(n, "f32[16]{0}", "parameter", LEAVES[n], size_bytes=64, name=f"v{n}")
            for n in numbers
        ],
        allocations=[
            PlannedAllocation(n, 64, "parameter", 0, parameter_number=n, shape_index="{}")
            for n in numbers
        ],
        parameters={n: (n, "{}") for n in numbers},
    )


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("state[0]*", [0, 1]),
        ("state[0]['w']", [0]),
        ("state[*]['b']", [1]),
        ("state*", [0, 1, 2]),
        ("s?", [4]),
        ("v1", [1]),
        ("*", [0, 1, 2, 3, 4]),
    ],
)
def test_brackets_are_literal_and_wildcards_are_not(pattern, expected):
    assert matching(pattern, leaves()) == expected


@pytest.mark.parametrize("pattern", ["jvp(", "zzz[*", "a]", "(a]", "params[*", ""])
def test_unbalanced_brackets_are_rejected_in_every_change(pattern):
    for changes in (
        lambda: Changes(without=[pattern]),
        lambda: Changes(until_last_use=[pattern]),
        lambda: Changes(checkpoint=[pattern]),
        lambda: Changes(shrink={pattern: 2}),
    ):
        with pytest.raises(BadParameter):
            changes()
    with pytest.raises(BadParameter):
        whatif_of(leaves(), Changes(donate=[pattern]))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("state", r"'state\*' names 3 leaves of it, such as state\[0\]\['w'\]"),
        ("state[1]", r"'state\[1\]\*' names 1 leaves of it"),
        ("parms", "did you mean 'params'"),
        ("zebra*", r"the largest are state\[0\]\['w'\]"),
    ],
)
def test_a_pattern_without_a_match_names_what_exists(pattern, message):
    with pytest.raises(NoSuchName, match=message):
        matching(pattern, leaves())


def test_a_string_is_one_pattern():
    assert Changes(donate="all").donate == ("all",)
    assert Changes(without="v1", checkpoint="layer").checkpoint == ("layer",)


def test_whole_arguments_are_named_by_patterns_that_name_nothing_else():
    compiled = leaves()
    found = whole_arguments(compiled)
    assert [(names, sorted(ids)) for names, ids in found] == [
        (("state[*]*",), [0, 1, 2]),
        (("params",), [3]),
        (("s0",), [4]),
    ]
    for names, ids in found:
        assert Donate.matching(compiled, names).parameters == ids


def test_the_matched_names_are_part_of_the_answer():
    (effect,) = whatif_of(leaves(), Changes(donate=["state[0]*"])).effects
    assert effect.matched == LEAVES[:2]
