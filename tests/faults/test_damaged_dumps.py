"""A damaged dump of any generation is an error with a place, or a plan that renders back."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.harness.dump_damage import (
    SAMPLES,
    assert_error_or_faithful_plan,
    damage,
    peak_bytes,
    regions,
)
from tests.tiny_dumps import dump
from xlagraph.ingest import parse_plan
from xlagraph.ingest.carriers.text.text import DumpPart


def test_every_sample_is_complete_before_it_is_damaged():
    for sample in SAMPLES:
        parse_plan(sample)


@settings(max_examples=400, derandomize=True)
@given(st.data())
def test_a_damaged_dump_is_an_error_or_renders_back(data: st.DataObject):
    sample = data.draw(st.sampled_from(SAMPLES))
    parts = damage(sample, lambda low, high: data.draw(st.integers(low, high)))
    assert_error_or_faithful_plan(parts)


@settings(max_examples=100, derandomize=True)
@given(st.text(st.sampled_from("BufferAssignment:\n allocation0{}<>@,(size=)é\r"), max_size=200))
def test_any_text_is_an_error_or_renders_back(text: str):
    assert_error_or_faithful_plan([DumpPart("mine.txt", text)])


def test_a_dump_cut_at_each_line_is_an_error_or_renders_back():
    for sample in SAMPLES:
        for place, part in enumerate(sample):
            for end in regions(part.text):
                cut = [*sample]
                cut[place] = part._replace(text=part.text[:end])
                assert_error_or_faithful_plan(cut)


def test_memory_is_a_small_multiple_of_the_text():
    chance = random.Random(2)
    for _ in range(60):
        parts = damage(chance.choice(SAMPLES), chance.randint)
        size = sum(len(part.text) for part in parts)
        assert peak_bytes(parts) <= 100 * max(size, 10_000)


def test_a_large_number_in_a_header_takes_no_memory():
    """A header may contain any number of steps."""
    whole = dump(64)
    for text in (
        whole.replace("(max 3)", "(max 3000000000)"),
        whole.replace("(max 3)", "(max 3000000000)").replace(":0-3", ":0-3000000000"),
        whole.replace("    2:out", "    3000000000:out"),
        whole.replace("f32[16]", "f32[9223372036854775807,9223372036854775807]"),
    ):
        assert peak_bytes([DumpPart("mine.txt", text)]) < 1_000_000
