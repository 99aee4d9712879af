"""The iterations of a loop are counted if its counter starts and ends at constants."""

import pytest

from xlagraph.comparison.counted_loops import counted_loops

MODULE = """HloModule jit_f, is_scheduled=true

%condition (p: (s32[], f32[4], s32[])) -> pred[] {
  %p = (s32[], f32[4], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %end = s32[] get-tuple-element(%p), index=2
  %n = s32[] constant(128)
  ROOT %less = pred[] compare(TEST)
}

%body (p.1: (s32[], f32[4], s32[])) -> (s32[], f32[4], s32[]) {
  %p.1 = (s32[], f32[4], s32[]) parameter(0)
  %i.1 = s32[] get-tuple-element(%p.1), index=0
  %c = s32[] copy(%i.1)
  %x = f32[4] get-tuple-element(%p.1), index=1
  %end.1 = s32[] get-tuple-element(%p.1), index=2
  %step = s32[] constant(STEP)
  %next = s32[] add(%c, %step)
  ROOT %t = (s32[], f32[4], s32[]) tuple(%next, %x, %end.1)
}

ENTRY %main (a: f32[4], e: s32[]) -> f32[4] {
  %a = f32[4] parameter(0)
  %e = s32[] parameter(1)
  %start = s32[] constant(START)
  %state = (s32[], f32[4], s32[]) tuple(%start, %a, %e)
  %loop = (s32[], f32[4], s32[]) while(%state), condition=%condition, body=%body
  ROOT %r = f32[4] get-tuple-element(%loop), index=1
}
"""


@pytest.mark.parametrize(
    ("test", "step", "start", "found"),
    [
        ("%i, %n), direction=LT", 1, 0, {"loop": 128}),
        ("%i, %n), direction=LT", 1, 100, {"loop": 28}),
        ("%i, %n), direction=LT", 2, 0, {}),
        ("%i, %n), direction=NE", 1, 0, {}),
        ("%i, %end), direction=LT", 1, 0, {}),
    ],
)
def test_a_loop_runs_from_one_constant_to_another(test, step, start, found):
    module = MODULE.replace("TEST)", test).replace("STEP", str(step)).replace("START", str(start))
    assert counted_loops(module) == found


def test_elements_of_tuples_may_be_written_without_an_instruction():
    # the text of jaxlib 0.11 and later
    compact = MODULE.replace("%i, %n", "%p#0, %n").replace("%i.1)", "%p.1#0)")
    lines = [line for line in compact.splitlines() if not line.startswith(("  %i = ", "  %i.1 = "))]
    module = "\n".join(lines).replace("TEST)", "%p#0, %n), direction=LT")
    assert counted_loops(module.replace("STEP", "1").replace("START", "0")) == {"loop": 128}
