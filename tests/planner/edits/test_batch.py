"""The values that have the batch, by comparison and by named parameters."""

import pytest

from tests.tiny_dumps import tiny_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import BadParameter, Changes, whatif


def write_step(folder, size, weights=16, name="t"):
    """Write a dump with its module: `y = x + x`, of a batch."""
    folder.mkdir(parents=True)
    stem = "module_0001.jit_f.cpu_after_optimizations"
    shape, total = f"f32[{size},{weights}]", size * weights * 4
    (folder / f"{stem}.txt").write_text(
        f"HloModule jit_f, is_scheduled=true\n\n"
        f"ENTRY %main (x: {shape}) -> {shape} {{\n"
        f"  %x = {shape}{{1,0}} parameter(0)\n"
        f"  %{name} = {shape}{{1,0}} sine(%x)\n"
        f"  ROOT %y = {shape}{{1,0}} dot(%x, %{name})\n}}\n"
    )
    (folder / f"{stem}-buffer-assignment.txt").write_text(
        tiny_dump(
            f"""
            0 | {total} | parameter 0, shape |{shape}| at ShapeIndex {{}}
            1 | {total} | output shape is |{shape}|, maybe-live-out
            2 | {total} | preallocated-temp
            """,
            f"""
            0 | x | {shape}{{1,0}} | 0 | {total} | 0-3 | parameter(0)
            2 | {name} | {shape}{{1,0}} | 0 | {total} | 1-2 | sine(x)
            1 | y | {shape}{{1,0}} | 0 | {total} | 2-3 | dot(x, {name})
            """,
        )
    )


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("batch")
    for run, size, weights in (("large", 8, 16), ("small", 4, 16), ("wide", 8, 8)):
        write_step(folder / "runs" / run, size, weights)
    write_step(folder / "runs" / "of YNN", 8, name="ynn_fusion.1")
    with open_graph(folder / "g.lbug", create=True) as graph:
        ingest(graph, folder / "runs", jobs=1)
        yield graph


def test_another_compilation_of_the_module_is_found_and_half_the_batch_is_predicted_exactly(graph):
    found = whatif(graph, "large", Changes(batch=2, batch_like="small"))
    assert found.reserved_bytes_after == whatif(graph, "small").reserved_bytes
    assert (
        whatif(graph, "small", Changes(batch=2))
        .effects[0]
        .text.startswith("--batch 1/2: the batch is dimension 0 of x (4), 8 in large/")
    )


def test_without_another_batch_it_is_said_what_to_name(graph):
    with pytest.raises(BadParameter, match=r"do not differ by a single ratio; name the parameters"):
        whatif(graph, "large", Changes(batch=2, batch_like="large"))


def test_named_dimensions_are_checked_and_doubts_are_shown(graph):
    named = whatif(graph, "large", Changes(batch=2, batch_of=["x"]))
    assert named.reserved_bytes_after == whatif(graph, "small").reserved_bytes
    assert named.effects[0].text.startswith(
        "--batch 1/2: the batch is dimension 0 of x (8); 3 of 3 values carry it"
    )
    assert named.assumptions == ("the schedule does not change",)
    of_ynn = whatif(graph, "of YNN", Changes(batch=2, batch_of=["x"]))
    assert any(text.startswith("YNN is assumed to fuse") for text in of_ynn.assumptions)
    with pytest.raises(BadParameter, match="x has no dimension 2"):
        whatif(graph, "large", Changes(batch=2, batch_of=["x:2"]))
    with pytest.raises(BadParameter, match="different lengths: 8, 16"):
        whatif(graph, "large", Changes(batch=2, batch_of=["x", "x:1"]))
