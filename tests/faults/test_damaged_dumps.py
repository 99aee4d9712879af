"""Damaged dumps of every generation: an error that says where, or a plan that renders back."""

from dump_damage import SAMPLES, assert_error_or_faithful_plan, damage, regions
from hypothesis import given, settings
from hypothesis import strategies as st

from xlagraph.ingest.parser import parse_plan


def test_every_sample_is_whole_before_it_is_damaged():
    for sample in SAMPLES:
        parse_plan(sample)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.data())
def test_damaged_dump_is_an_error_or_comes_back(data: st.DataObject):
    sample = data.draw(st.sampled_from(SAMPLES))
    parts = damage(sample, lambda low, high: data.draw(st.integers(low, high)))
    assert_error_or_faithful_plan(parts)


def test_dump_cut_at_each_line_is_an_error_or_comes_back():
    for sample in SAMPLES:
        for place, part in enumerate(sample):
            for end in regions(part.text):
                cut = [*sample]
                cut[place] = part._replace(text=part.text[:end])
                assert_error_or_faithful_plan(cut)
