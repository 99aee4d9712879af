"""`advise` names offloads without which the device's peak would be the same."""

import pytest

from tests.tiny_dumps import tiny_dump
from xlagraph.advice.causes.offloads import useless_offloads
from xlagraph.ingest import ingest
from xlagraph.queries import advise

ALLOCATIONS = """
    0 | 4096  | parameter 0, shape |f32[1024]| at ShapeIndex {}
    1 | 32768 | preallocated-temp
    2 | 16384 | color 5, preallocated-temp
    3 | 4096  | maybe-live-out
"""
VALUES = """
    0 | p    | f32[1024]        | 0 | 4096  | 0-6 | parameter(0)
    1 | kept | f32[4096]        | 0 | 16384 | 1-2 | tanh(p)       | jit(f)/jvp(a)/tanh
    2 | host | f32[4096]{{0:S(5)}} | 0 | 16384 | {} | copy(kept)
    1 | big  | f32[{}]        | 0 | {} | 3-4 | exponential(p)
    1 | back | f32[4096]        | 0 | 16384 | 5-6 | copy(host)
    3 | out  | f32[1024]        | 0 | 4096  | 6-6 | fusion(back)
"""


@pytest.mark.parametrize(
    ("on_host", "elements", "is_useless"),
    [
        ("2-5", 8192, False),  # 32 KiB are live at the peak, and 16 more without the offload
        ("2-5", 2048, False),  # 24 KiB are live at the peak, which would be at 28
        ("2-3", 1024, True),  # the peak is where the value is on the device anyway
    ],
)
def test_an_offload_is_useless_if_its_bytes_fit_below_the_peak(
    programs, on_host, elements, is_useless
):
    program = programs(ALLOCATIONS, VALUES.format(on_host, elements, elements * 4))
    found = list(useless_offloads(program))
    assert [[row["value"] for row in cause.rows] for cause in found] == [["host"]] * is_useless


MODULE = """HloModule jit_f, is_scheduled=true

ENTRY %main (p: f32[1024]) -> f32[1024] {
  %p = f32[1024]{0} parameter(0)
  %kept = f32[4096]{0} tanh(%p)
  %host = f32[4096]{0:S(5)} copy(%kept)
  %big = f32[1024]{0} exponential(%p)
  %back = f32[4096]{0} copy(%host)
  ROOT %out = f32[1024]{0} slice(%back), slice={[0:1024]}
}
"""


def test_an_offload_is_judged_where_replanning_does_not_reproduce_the_plan(graph, tmp_path):
    folder = tmp_path / "unlike"
    folder.mkdir()
    stem = "module_0001.jit_f.after_optimizations"
    dump = tiny_dump(ALLOCATIONS.replace("32768", "65536"), VALUES.format("2-3", 1024, 4096))
    (folder / f"{stem}-buffer-assignment.txt").write_text(dump)
    (folder / f"{stem}.txt").write_text(MODULE)
    assert ingest(graph, folder, jobs=1).ok
    findings = advise(graph, f"unlike/{stem}", least_share=0).findings
    assert "This offload moved nothing off the peak" in [each.advice.title for each in findings]
