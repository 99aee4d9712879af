"""Changes are replanned together until enough is saved."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.advice.capacity import LackingSpace, SpaceFit
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.combined_changes import combine
from xlagraph.advice.diagnosis import Finding
from xlagraph.advice.planned_savings import PotentialSavings
from xlagraph.planner.edits.resizing import Remove
from xlagraph.queries.catalogue.query_files import load_catalogue

SIZES = (4096, 2048, 1024)


@pytest.fixture
def planner():
    """Return a planner of three values that are live at the same time."""
    made = PeakProgram(None, 0)  # type: ignore[arg-type]
    made.compilation = compilation(
        tuple(value(number, 0, 9, size) for number, size in enumerate(SIZES)),
        tuple(facts(number, f"s8[{size}]{{0}}") for number, size in enumerate(SIZES)),
    )
    return made


def removing(number, *, is_planned=True):
    """Return the finding that a value could be removed."""
    query = load_catalogue()["alias/not-donated"]
    assert query.advice is not None
    saved = PotentialSavings(SIZES[number], None, "reserved", None, is_planned)
    edit = Remove((f"v{number}",), frozenset((number,)))
    return Finding("run/f", query, query.advice, saved, 0.5, (), edit)


def together(planner, findings, missing):
    return [(each.together_bytes, each.fits) for each in combine(planner, findings, missing)]


def test_changes_are_added_up_until_the_compilation_fits(planner):
    findings = [removing(0), removing(1), removing(2)]
    assert together(planner, findings, 6144) == [(4096, False), (6144, True), (None, False)]
    assert together(planner, findings, 9999) == [(4096, False), (6144, False), (7168, False)]


def test_a_change_that_adds_nothing_or_is_not_replanned_is_skipped(planner):
    findings = [removing(0), removing(0), removing(1, is_planned=False), removing(2)]
    assert together(planner, findings, 5120) == [
        *((4096, False), (None, False), (None, False), (5120, True))
    ]


def test_a_space_would_fit_if_the_changes_together_save_enough(planner):
    space = SpaceFit("run", "run/f", 0, None, 7168, 2048)
    changes = combine(planner, [removing(0), removing(1)], space.missing_bytes or 0)
    lacking = LackingSpace(space, changes, ())
    assert [each.finding.bytes for each in lacking.combined] == [4096, 2048]
    assert lacking.would_fit
    assert not replace(lacking, changes=changes[:1]).would_fit


def test_a_doubtful_change_adds_to_the_most_but_not_to_the_least(planner):
    sure, doubtful = removing(1), removing(0)
    doubtful = replace(doubtful, savings=replace(doubtful.savings, doubt="may be fused"))
    for order in ([doubtful, sure], [sure, doubtful]):
        last = combine(planner, order, 6144)[-1]
        assert (last.together_bytes, last.together_at_most, last.fits) == (2048, 6144, False)
    (alone,) = combine(planner, [doubtful], 4096)
    assert (alone.together_bytes, alone.together_at_most, alone.fits) == (0, 4096, False)


def test_together_promises_what_each_promises_alone(planner):
    doubtful = removing(0)
    ranged = replace(doubtful.savings, bytes=3000, at_most=4096, doubt="may be fused")
    changes = combine(planner, [removing(1), replace(doubtful, savings=ranged)], 9999)
    assert [(each.together_bytes, each.together_at_most) for each in changes] == [
        (2048, None),
        (3000, 6144),
    ]
