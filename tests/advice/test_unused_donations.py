"""`advise` names donated inputs that no result replaces, also if nothing else is donated."""

from tests.tiny_dumps import tiny_dump
from xlagraph.ingest import ingest
from xlagraph.queries import advise

MODULE = """HloModule jit_f, is_scheduled=true, buffer_donor={ (0, {}) }, num_partitions=4

ENTRY %main (p: f32[1024]) -> f32[256] {
  %p = f32[1024]{0} parameter(0)
  ROOT %out = f32[256]{0} slice(%p), slice={[0:256]}
}
"""
ALLOCATIONS = """
    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
    1 | 1024 | maybe-live-out
"""
VALUES = """
    0 | p   | f32[1024] | 0 | 4096 | 0-2 | parameter(0)
    1 | out | f32[256]  | 0 | 1024 | 1-2 | slice(p)
"""


def test_the_only_donation_is_named_if_each_device_returns_a_part(graph, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    stem = "module_0001.jit_f.after_optimizations"
    (folder / f"{stem}-buffer-assignment.txt").write_text(tiny_dump(ALLOCATIONS, VALUES))
    (folder / f"{stem}.txt").write_text(MODULE)
    assert ingest(graph, folder, jobs=1).ok
    finding, *_ = advise(graph, f"parts/{stem}").findings
    assert finding.advice.title == "Inputs are donated but not used"
    assert [(row["value"], row["reason"]) for row in finding.rows] == [
        ("p", "donated but not used: its result is only a part on each device, f32[256]")
    ]
