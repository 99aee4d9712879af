"""`advise` joins causes that save nothing alone, because the others take as many bytes."""

from dataclasses import replace
from fractions import Fraction

import pytest

from xlagraph.advice.causes.cause import of_avoidable
from xlagraph.advice.causes.together import saving_together
from xlagraph.planner.edits.resizing import ComputeInParts

BLOCKS = "0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {}\n1 | 5120 | preallocated-temp"
VALUES = """
0 | x     | f32[16]   | 0    | 64   | 0-6 | parameter(0)
1 | first | f32[1024] | 0    | 4096 | 1-2 | broadcast(x)
1 | sum   | f32[16]   | 4096 | 64   | 2-5 | reduce(first)
1 | later | f32[1024] | 0    | 4096 | 3-4 | broadcast(x)
1 | early | f32[32]   | 4480 | 128  | 1-1 | negate(x)
1 | small | f32[192]  | 4352 | 768  | 3-5 | negate(x)
1 | end   | f32[16]   | 4224 | 64   | 4-6 | reduce(later, small)
"""


@pytest.fixture
def program(programs):
    return programs(BLOCKS, VALUES)


def cause(program, *labels, title="Broadcasts are stored", query="peak/contributors"):
    found = [(program.by_label[label], "larger than x") for label in labels]
    return of_avoidable(program.compilation, query, title, found, {"jax": f"Drop {labels[0]}."})


def test_causes_at_two_equal_peaks_save_only_together(program):
    first = cause(program, "first", title="Masks are stored")
    later = cause(program, "later")
    joined = saving_together(program, [(first, 0), (later, 64)], least_bytes=1024)
    assert joined is not None
    assert joined.title == "Only together: masks are stored; broadcasts are stored"
    assert joined.remedies == {"jax": "Drop first. And: Drop later."}
    assert joined.edit == ComputeInParts(dict.fromkeys(("first", "later"), Fraction(0)))


def test_a_cause_that_changes_nothing_is_not_joined(program):
    causes = [(cause(program, label), 0) for label in ("first", "later", "early")]
    joined = saving_together(program, causes, least_bytes=128)
    assert joined is not None
    assert {row["value"] for row in joined.rows} == {"first", "later"}


@pytest.mark.parametrize("alone", [(2048, 1024), (4096, 0)])
def test_causes_that_save_enough_alone_are_not_joined(program, alone):
    causes = [(cause(program, "first"), alone[0]), (cause(program, "later"), alone[1])]
    assert saving_together(program, causes, least_bytes=1024) is None


def test_facts_and_causes_of_copies_are_not_joined(program):
    causes = [cause(program, "first"), cause(program, "later")]
    fact = replace(causes[1], is_fact=True)
    copy = cause(program, "later", query="alias/copies")
    for other in (fact, copy):
        assert saving_together(program, [(causes[0], 0), (other, 0)], least_bytes=1024) is None
