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
