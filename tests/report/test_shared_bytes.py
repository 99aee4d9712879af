"""Bytes that two values share in a step count once, for the later value."""

from pathlib import Path

from tests.report.conftest import OpenPage
from tests.tiny_dumps import write_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.report import make_report

# b updates a in place at step 1
IN_PLACE = """\
BufferAssignment:
allocation 0: size 64, preallocated-temp:
 value: <0 a @0> (size=64,offset=0): f32[16]{0}
 value: <1 b @0> (size=64,offset=0): f32[16]{0}

Total bytes used: 64 (64B)

Used values:
<0 a @0>
 positions:
  a
 uses:
  b, operand 0
 from instruction: %a = f32[16]{0} fusion(), kind=kLoop, calls=%f
<1 b @0>
 positions:
  b
 uses:
 from instruction: %b = f32[16]{0} fusion(%a), kind=kLoop, calls=%g


HloLiveRange (max 2):
  InstructionSequence:
    0:a
    1:b
  BufferLiveRange:
    a{}:0-1
    b{}:1-2
  Live ranges at 1 (peak):
    a{}: 64 bytes (cumulative: 64 bytes)
    b{}: 64 bytes (cumulative: 128 bytes)
"""


def test_timeline_and_shares_count_an_in_place_update_once(
    tmp_path: Path, open_page: OpenPage
) -> None:
    write_dump(tmp_path / "runs" / "one", 1, "jit_f", IN_PLACE)
    report = tmp_path / "report.html"
    with open_graph(tmp_path / "graph.lbug", create=True) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        report.write_text(make_report(graph).html, encoding="utf-8")
    page = open_page(report)
    seen = page.evaluate(
        """() => {
            const {compilation, scene: {picture, group}} = window.xlagraphView;
            const [a, b] = ['a', 'b'].map((label) => compilation.valueOf(label));
            const {bytes} = compilation.sharesAt(picture.space, 1);
            return {
                physical: [...group.curves.total],
                logical: [...group.curves.logical],
                shares: [bytes[a], bytes[b]],
                before: compilation.takenFrom(b),
            };
        }"""
    )
    assert seen == {
        "physical": [64, 64, 64],
        "logical": [64, 128, 64],
        "shares": [0, 64],
        "before": [{"value": 0, "sharedBytes": 64, "steps": 1, "inPlace": True}],
    }
