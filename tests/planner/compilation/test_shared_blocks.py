"""Versions of XLA differ in which operand of a value may leave it its block."""

import pytest

from tests.tiny_dumps import tiny_dump
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.plannable_compilation import plannable_compilation
from xlagraph.planner.compilation.stored_compilation import StoredCompilation

MODULE_TEXT = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY %main (p: s8[4096]) -> s8[4096] {
  %p = s8[4096]{0} parameter(0)
  %view = s8[64,64]{1,0} bitcast(%p)
  %sum = s8[4096]{0} negate(%p)
  ROOT %out = s8[4096]{0} negate(%sum)
}
"""
PARAMETER = "0 | 4096 | parameter 0, shape |s8[4096]| at ShapeIndex {}, maybe-live-out"
TEMPORARY = "1 | 4096 | preallocated-temp"


@pytest.mark.parametrize(
    ("allocations", "block", "reserved"),
    [(f"{PARAMETER}\n{TEMPORARY}", 1, 8192), (PARAMETER, 0, 4096)],
)
def test_a_plan_follows_the_version_of_xla_that_it_is_compared_with(
    allocations, block, reserved, graph, tmp_path
):
    """The parameter is last visible as `view`, which `sum` does not read."""
    text = tiny_dump(
        allocations,
        f"""
        0 | p, view | s8[4096] | 0 | 4096 | 0-2 | parameter(0)
        - | view    | s8[64,64] | 0 | 4096 | 1-1 | bitcast(p)
        {block} | sum | s8[4096] | 0 | 4096 | 2-3 | negate(p)
        0 | out     | s8[4096] | 0 | 4096 | 3-4 | negate(sum)
        """,
    )
    stem = tmp_path / "run" / "module_0001.jit_f.cpu_after_optimizations"
    stem.parent.mkdir()
    stem.with_name(f"{stem.name}-buffer-assignment.txt").write_text(text)
    stem.with_name(f"{stem.name}.txt").write_text(MODULE_TEXT)
    ingest(graph, tmp_path / "run", jobs=1)
    compiled = plannable_compilation(StoredCompilation(graph, f"run/{stem.name}"))
    assert compiled.has_buffer_sets
    assert compiled.reserved_bytes == {0: reserved}
    assert compiled.plan.reserved_bytes() == reserved
