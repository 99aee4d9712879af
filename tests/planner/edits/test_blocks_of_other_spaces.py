"""XLA gives values of a GPU's memory bytes of the blocks for collectives, since 2026."""

import pytest

from tests.tiny_dumps import tiny_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.planner.edits.changes import Changes
from xlagraph.planner.edits.replays import replay_blocks
from xlagraph.planner.edits.whatif import whatif
from xlagraph.queries import run

ALLOCATIONS = """
    0 | 64  | parameter 0, shape |f32[16]| at ShapeIndex {}
    1 | 256 | color 1, preallocated-temp
    2 | 64  | maybe-live-out
"""
VALUES = """
    0 | p     | f32[16] | 0   | 64  | 0-5 | parameter(0)
    1 | sent  | f32[16] | 0   | 64  | 1-3 | negate(p)
    1 | wide  | f32[32] | 128 | 128 | 2-4 | custom-call(p)
    1 | later | f32[16] | 64  | 64  | 3-4 | sine(sent)
    2 | out   | f32[16] | 0   | 64  | 4-5 | add(later, wide)
"""
MODULE = """HloModule jit_f, is_scheduled=true

ENTRY %main (p: f32[16]) -> f32[16] {
  %p = f32[16] parameter(0)
  %sent = f32[16] negate(%p)
  %wide = f32[32] custom-call(%p), custom_call_target="f"
  %later = f32[16] sine(%sent)
  ROOT %out = f32[16] add(%later, %wide)
}
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpu") / "gpu"
    folder.mkdir()
    dump = tiny_dump(ALLOCATIONS, VALUES)
    assert "wide @1>" in dump
    (folder / "f-buffer-assignment.txt").write_text(dump.replace("wide @1>", "wide @0>"))
    (folder / "f.txt").write_text(MODULE)
    with open_graph(folder.parent / "g.lbug", create=True) as graph:
        assert ingest(graph, folder, jobs=1).ok
        yield graph


def test_a_replay_counts_the_values_of_another_space_in_its_block(graph):
    assert [(each.allocation, each.values_of_other_spaces) for each in replay_blocks(graph)] == [
        (1, 1)
    ]


def test_a_removed_value_in_a_block_of_another_space_saves_nothing_and_whatif_states_why(graph):
    found = whatif(graph, "f", Changes(without=("wide",)))
    assert found.reserved_bytes_after == found.reserved_bytes
    assert (
        "changes save nothing of 1 value (128 B) in blocks of another memory space, which are not"
        " replanned"
    ) in found.assumptions
    assert "may move values there" in " ".join(found.assumptions)
    assert "may move values there" not in " ".join(whatif(graph, "f").assumptions)


def test_sums_are_by_allocation(graph):
    rows = run(graph, "overview/spaces", compilation="gpu/f").result.mappings()
    assert [(row["memorySpace"], row["physicalPeakBytes"]) for row in rows] == [(0, 128), (1, 256)]
