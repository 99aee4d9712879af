"""A call is not counted as a reader: the instructions of the called computation are."""

from tests.tiny_dumps import tiny_dump
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.stored_compilation import StoredCompilation

DUMP = tiny_dump(
    """
    0 | 16 | parameter 0, shape |s8[16]| at ShapeIndex {}
    1 | 16 | maybe-live-out
    """,
    """
    0 | p, q     | s8[16] | 0 | 16 | 0-4 | parameter(0)
    - | q        | s8[16] | 0 | 16 | 1-1 | parameter(0)
    1 | inner, c | s8[16] | 0 | 16 | 2-4 | negate(p)
    - | c        | s8[16] | 0 | 16 | 3-3 | call(p)
    """,
)
MODULE_TEXT = """\
HloModule jit_f, is_scheduled=true

%called (q: s8[16]) -> s8[16] {
  %q = s8[16]{0} parameter(0)
  ROOT %inner = s8[16]{0} negate(%q)
}

ENTRY %main (p: s8[16]) -> s8[16] {
  %p = s8[16]{0} parameter(0)
  ROOT %c = s8[16]{0} call(%p), to_apply=%called
}
"""


def readers(graph, folder, module_text):
    stem = folder / "module_0001.jit_f.cpu_after_optimizations"
    folder.mkdir()
    stem.with_name(f"{stem.name}-buffer-assignment.txt").write_text(DUMP)
    if module_text:
        stem.with_name(f"{stem.name}.txt").write_text(module_text)
    ingest(graph, folder, jobs=1)
    stored = StoredCompilation(graph, f"{folder.name}/{stem.name}")
    return [{use.instruction for use in uses} for uses in (stored.uses, stored.reads)]


def test_a_call_reads_nothing_beside_its_computation(graph, tmp_path):
    assert readers(graph, tmp_path / "run", MODULE_TEXT) == [{"c", "inner"}, {"inner"}]


def test_a_call_of_an_unknown_computation_reads_its_operands(graph, tmp_path):
    assert readers(graph, tmp_path / "run", None) == [{"c", "inner"}, {"c", "inner"}]
