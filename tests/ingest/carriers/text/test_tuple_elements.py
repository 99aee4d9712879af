"""Get-tuple-elements that a module text prints as `%t#1` are written as the plan names them."""

from tests.tiny_dumps import tiny_dump
from xlagraph.ingest import DumpPart, parse_plan
from xlagraph.ingest.carriers.text.tuple_elements import with_tuple_elements

PLAN = tiny_dump(
    """
    0 | 32 | parameter 0, shape |(f32[4], f32[4])| at ShapeIndex {}
    1 | 16 | maybe-live-out
    """,
    """
    0 | t{}              | (f32[4], f32[4]) | 0 | 16 | 0-4 | parameter(0)
    0 | t{0}, first      | f32[4] | 0  | 16 | 0-4 | parameter(0)
    0 | t{1}, second     | f32[4] | 16 | 16 | 0-4 | parameter(0)
    - | second           | f32[4] | 0  | 16 | 1-1 | get-tuple-element(t)
    - | first            | f32[4] | 0  | 16 | 2-2 | get-tuple-element(t)
    1 | out              | f32[4] | 0  | 16 | 3-4 | subtract(first, second)
    """,
)
FULL = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (t: (f32[4], f32[4])) -> f32[4] {
  %t = (f32[4]{0}, f32[4]{0}) parameter(0), metadata={op_name="%t#1)"}
  %second = f32[4]{0} get-tuple-element(%t), index=1
  %first = f32[4]{0} get-tuple-element(%t), index=0
  ROOT %out = f32[4]{0} subtract(%first, %second), metadata={op_name="sub"}
}
"""
COMPACT = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (t: (f32[4], f32[4])) -> f32[4] {
  %t = (f32[4]{0}, f32[4]{0}) parameter(0), metadata={op_name="%t#1)"}
  ROOT %out = f32[4]{0} subtract(%t#0, %t#1), metadata={op_name="sub"}
}
"""


def plan(text=PLAN):
    return parse_plan([DumpPart("x.txt", text)])


def test_elements_are_written_where_they_run():
    assert with_tuple_elements(COMPACT, plan()) == FULL


def test_a_text_with_all_elements_is_unchanged():
    assert with_tuple_elements(FULL, plan()) == FULL


def test_an_element_that_the_plan_does_not_name_is_left_as_printed():
    text = COMPACT.replace("%t#1)", "%t#7)").replace("%t#0", "%u#0")
    assert with_tuple_elements(text, plan()) == text


def test_elements_of_each_computation_are_those_that_run_in_it():
    """The same value is an element of the tuple, and of what a call returns."""
    found = with_tuple_elements(
        """\
%inner (p: (f32[4], f32[4])) -> (f32[4], f32[4]) {
  %p = (f32[4]{0}, f32[4]{0}) parameter(0)
  %a = f32[4]{0} negate(%p#0)
  ROOT %r = (f32[4]{0}, f32[4]{0}) tuple(%a, %p#1)
}

ENTRY %main (t: (f32[4], f32[4])) -> f32[4] {
  %t = (f32[4]{0}, f32[4]{0}) parameter(0)
  %c = (f32[4]{0}, f32[4]{0}) call(%t), to_apply=%inner
  ROOT %out = f32[4]{0} negate(%c#1)
}
""",
        plan(
            tiny_dump(
                """
                0 | 32 | parameter 0, shape |(f32[4], f32[4])| at ShapeIndex {}
                1 | 48 | preallocated-temp
                """,
                """
                0 | t{}, p{} | (f32[4], f32[4]) | 0 | 16 | 0-9 | parameter(0)
                0 | t{0}, p{0}, p.0 | f32[4] | 0 | 16 | 0-9 | parameter(0)
                0 | t{1}, p{1}, p.1, r{1}, c{1}, c.1 | f32[4] | 16 | 16 | 0-9 | parameter(0)
                - | p   | (f32[4], f32[4]) | 0 | 16 | 1-1 | parameter(0)
                - | p.0 | f32[4] | 0 | 16 | 2-2 | get-tuple-element(p)
                1 | a, r{0}, c{0} | f32[4] | 0 | 16 | 3-9 | negate(p.0)
                - | p.1 | f32[4] | 0 | 16 | 4-4 | get-tuple-element(p)
                1 | r{}, c{} | (f32[4], f32[4]) | 16 | 16 | 5-9 | tuple(a, p.1)
                - | c   | (f32[4], f32[4]) | 0 | 16 | 6-6 | call(t)
                - | c.1 | f32[4] | 0 | 16 | 7-7 | get-tuple-element(c)
                1 | out | f32[4] | 32 | 16 | 8-9 | negate(c.1)
                """,
            )
        ),
    )
    assert [line for line in found.splitlines() if "get-tuple-element" in line] == [
        "  %p.0 = f32[4]{0} get-tuple-element(%p), index=0",
        "  %p.1 = f32[4]{0} get-tuple-element(%p), index=1",
        "  %c.1 = f32[4]{0} get-tuple-element(%c), index=1",
    ]
    assert "negate(%p.0)" in found
    assert "tuple(%a, %p.1)" in found
    assert "negate(%c.1)" in found
