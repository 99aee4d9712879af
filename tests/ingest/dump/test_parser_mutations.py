"""Damaged dumps: an error that says where, or a plan that renders back; nothing else."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from xlagraph.ingest.dump.parser import parse_plan
from xlagraph.ingest.dump.render import render_plan
from xlagraph.ingest.dump.text import DumpPart
from xlagraph.ingest.errors import ParseError

SAMPLES = Path(__file__).parent / "samples"
TEXTS = [path.read_text("utf-8") for path in sorted(SAMPLES.glob("*-buffer-assignment.txt"))]
SPLIT = [
    (SAMPLES / f"jaxlib-0.12.0{suffix}").read_text("utf-8")
    for suffix in ("-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt")
]
JUNK = st.sampled_from(
    [
        *["", "\n", "\r\n", "\r", "\ufeff", "\x00", "é", " ", "  ", "0", "-", "{", "}", "<", ">"],
        *["9" * 19, ", color 0", " uses:\n", "  (none)", "  add.3, operand 0\n", "    0:arg0.1\n"],
    ]
)


@st.composite
def damaged(draw, texts):
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 3))):
        start, end, other = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 3)))
        region = text[start:end]
        new = draw(
            st.sampled_from(["", region * 2, text[end:other] + region]) | JUNK
            if end - start < 200
            else JUNK
        )
        text = text[:start] + new + text[end:]
    return text


def assert_error_or_faithful_plan(texts):
    parts = [DumpPart(f"{number}.txt", text) for number, text in enumerate(texts)]
    try:
        plan = parse_plan(parts)
    except ParseError as error:
        refused = error
    else:
        assert render_plan(plan) == tuple(texts)
        return
    text = texts[int(refused.file.removesuffix(".txt"))]
    assert 1 <= refused.line <= text.count("\n") + 2
    assert refused.expected


@settings(max_examples=300, deadline=None)
@given(damaged(TEXTS))
def test_damaged_file_is_an_error_or_comes_back(text):
    assert_error_or_faithful_plan([text])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2), damaged(SPLIT))
def test_damaged_companion_is_an_error_or_comes_back(place, text):
    texts = list(SPLIT)
    texts[place] = text
    assert_error_or_faithful_plan(texts)


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("BufferAssignment:\n allocation0{}<>@,(size=)é\r"), max_size=200))
def test_any_text_is_an_error(text):
    assert_error_or_faithful_plan([text])
