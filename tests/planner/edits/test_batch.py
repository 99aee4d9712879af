"""The values that have the batch, by comparison and by named parameters."""

from pathlib import Path

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
    same = whatif(graph, "large", Changes(batch=1, batch_of=["x"]))
    assert same.effects[0].text == "--batch 1: changes nothing: a factor of 1 keeps all bytes"
    of_ynn = whatif(graph, "of YNN", Changes(batch=2, batch_of=["x"]))
    assert any(text.startswith("YNN is assumed to fuse") for text in of_ynn.assumptions)
    with pytest.raises(BadParameter, match="x has no dimension 2"):
        whatif(graph, "large", Changes(batch=2, batch_of=["x:2"]))


def test_a_larger_batch_is_preferred_to_a_larger_model(tmp_path):
    for run, (batch, width) in {"it": (4, 16), "batch": (8, 16), "a model": (4, 32)}.items():
        of_x, of_w = 4 * batch * width, 4 * width * width
        folder = tmp_path / "runs" / run
        folder.mkdir(parents=True)
        stem = folder / "module_0001.jit_f.cpu_after_optimizations"
        Path(f"{stem}.txt").write_text(f"""HloModule jit_f

ENTRY %main (x: f32[{batch},{width}], w: f32[{width},{width}]) -> f32[{batch},{width}] {{
  %x = f32[{batch},{width}] parameter(0), metadata={{op_name="tokens"}}
  %w = f32[{width},{width}] parameter(1), metadata={{op_name="params"}}
  ROOT %y = f32[{batch},{width}] dot(%x, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
""")
        plan = tiny_dump(
            f"""
            0 | {of_w} | parameter 1, shape |f32[{width},{width}]| at ShapeIndex {{}}
            1 | {of_x} | parameter 0, shape |f32[{batch},{width}]| at ShapeIndex {{}}
            2 | {of_x} | output shape is |f32[{batch},{width}]|, maybe-live-out
            """,
            f"""
            1 | x | f32[{batch},{width}]{{1,0}} | 0 | {of_x} | 0-2 | parameter(0)
            0 | w | f32[{width},{width}]{{1,0}} | 0 | {of_w} | 0-2 | parameter(1)
            2 | y | f32[{batch},{width}]{{1,0}} | 0 | {of_x} | 1-2 | dot(x, w)
            """,
        )
        Path(f"{stem}-buffer-assignment.txt").write_text(plan)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest(graph, tmp_path / "runs", jobs=1)
        (effect,) = whatif(graph, "it", Changes(batch=2)).effects
        named = whatif(graph, "it", Changes(batch=2, batch_of=["tokens:1"]))
    assert "the batch is dimension 0 of tokens (4), 8 in batch/" in effect.text
    assert any(text.startswith("params must have the length") for text in named.assumptions)


@pytest.mark.parametrize("steps", [3, 4])
def test_a_length_that_is_halved_down_to_2_has_another_number_of_steps_after(tmp_path, steps):
    lengths = [2 << (steps - step) for step in range(steps + 1)]
    names = ["x", *(f"h{length}" for length in lengths[1:])]
    made = [
        f"%{name} = f32[{length}] slice(%{read}), slice={{[0:{2 * length}:2]}}"
        for name, read, length in zip(names[1:], names, lengths[1:], strict=False)
    ]
    stem = tmp_path / "module_0001.jit_f.cpu_after_optimizations"
    Path(f"{stem}.txt").write_text(
        f"HloModule jit_f, is_scheduled=true\n\nENTRY %main (x: f32[{lengths[0]}]) -> f32[2] {{\n"
        f"  %x = f32[{lengths[0]}] parameter(0)\n  "
        + "\n  ".join(made[:-1])
        + f"\n  ROOT {made[-1]}\n}}\n"
    )
    places = [sum(lengths[1:step]) * 4 for step in range(1, steps)]
    temporaries = "\n".join(
        f"2 | {name} | f32[{length}]{{0}} | {place} | {4 * length} | {step}-{step + 1} |"
        f" slice({read})"
        for step, (name, read, length, place) in enumerate(
            zip(names[1:-1], names, lengths[1:-1], places, strict=False), 1
        )
    )
    plan = tiny_dump(
        f"""
        0 | {4 * lengths[0]} | parameter 0, shape |f32[{lengths[0]}]| at ShapeIndex {{}}
        1 | 8 | output shape is |f32[2]|, maybe-live-out
        2 | {4 * sum(lengths[1:-1])} | preallocated-temp
        """,
        f"""
        0 | x | f32[{lengths[0]}]{{0}} | 0 | {4 * lengths[0]} | 0-{steps + 1} | parameter(0)
        {temporaries}
        1 | {names[-1]} | f32[2]{{0}} | 0 | 8 | {steps}-{steps + 1} | slice({names[-2]})
        """,
    )
    Path(f"{stem}-buffer-assignment.txt").write_text(plan)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest(graph, tmp_path, jobs=1)
        found = whatif(graph, None, Changes(batch=2, batch_of=["x"])).assumptions
    halved = [text for text in found if "is halved down to 2, as jax.lax.assoc" in text]
    assert len(halved) == (steps == 4)


WIDE = """HloModule jit_f, is_scheduled=true

ENTRY %main (t: f32[5,16], x: f32[4,16]) -> f32[4,6] {
  %t = f32[5,16] parameter(0)
  %x = f32[4,16] parameter(1)
  %s = f32[4,16]{1,0} slice(%t), slice={[1:5], [0:16]}
  %a = f32[4,16]{1,0} add(%s, %x)
  %k = f32[16,6]{1,0} iota(), iota_dimension=0
  ROOT %y = f32[4,6]{1,0} dot(%a, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
WIDE_PLAN = tiny_dump(
    """
    0 | 320 | parameter 0, shape |f32[5,16]| at ShapeIndex {}
    1 | 256 | parameter 1, shape |f32[4,16]| at ShapeIndex {}
    2 | 96 | output shape is |f32[4,6]|, maybe-live-out
    3 | 896 | preallocated-temp
    """,
    """
    0 | t | f32[5,16]{1,0} | 0 | 320 | 0-6 | parameter(0)
    1 | x | f32[4,16]{1,0} | 0 | 256 | 0-6 | parameter(1)
    3 | s | f32[4,16]{1,0} | 0 | 256 | 2-3 | slice(t)
    3 | a | f32[4,16]{1,0} | 256 | 256 | 3-5 | add(s, x)
    3 | k | f32[16,6]{1,0} | 512 | 384 | 4-5 | iota()
    2 | y | f32[4,6]{1,0} | 0 | 96 | 5-6 | dot(a, k)
    """,
)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide")
    stem = "module_0001.jit_f.cpu_after_optimizations"
    (folder / f"{stem}.txt").write_text(WIDE)
    (folder / f"{stem}-buffer-assignment.txt").write_text(WIDE_PLAN)
    with open_graph(folder / "g.lbug", create=True) as graph:
        ingest(graph, folder, jobs=1)
        yield graph


def sizes(found):
    return found.effects[0].size_bytes, found.effects[0].size_bytes_after


def test_named_dimensions_may_have_different_lengths_but_those_of_one_name_not(wide):
    # half of 5 is no whole number, so `t` follows from `x`
    both = whatif(wide, None, Changes(batch=2, batch_of=["t", "x"]))
    assert sizes(both) == (320 + 256 + 256 + 256 + 96, 192 + 128 + 128 + 128 + 48)
    assert not any("no whole number" in text for text in both.assumptions)
    alone = whatif(wide, None, Changes(batch=2, batch_of=["t"]))
    assert "5 becomes 2.5, no whole number" in " ".join(alone.assumptions)
    with pytest.raises(BadParameter, match=r"\* stands for dimensions of different lengths: 4, 5;"):
        whatif(wide, None, Changes(batch=2, batch_of=["*"]))


def test_a_length_that_another_leaf_of_the_pytree_has_is_assumed_to_stay_there(tmp_path):
    folder = tmp_path / "codes"
    folder.mkdir()
    stem = "module_0001.jit_f.cpu_after_optimizations"
    names = {"c": "state['codes']['w']", "m": "state['mean']['w']", "d": "data['m']['w']"}
    parameters = "".join(
        f'  %{each} = f32[8,2]{{1,0}} parameter({number}), metadata={{op_name="{name}"}}\n'
        for number, (each, name) in enumerate(names.items())
    )
    (folder / f"{stem}.txt").write_text(
        "HloModule jit_f, is_scheduled=true\n\n"
        "ENTRY %main (c: f32[8,2], m: f32[8,2], d: f32[8,2])"
        " -> (f32[8,2], f32[8,2], f32[8,2]) {\n"
        f"{parameters}"
        + "".join(f"  %{each}s = f32[8,2]{{1,0}} sine(%{each})\n" for each in names)
        + "  ROOT %out = (f32[8,2]{1,0}, f32[8,2]{1,0}, f32[8,2]{1,0}) tuple(%cs, %ms, %ds)\n}\n"
    )
    (folder / f"{stem}-buffer-assignment.txt").write_text(
        tiny_dump(
            """
            0 | 64 | parameter 0, shape |f32[8,2]| at ShapeIndex {}
            1 | 64 | parameter 1, shape |f32[8,2]| at ShapeIndex {}
            2 | 64 | parameter 2, shape |f32[8,2]| at ShapeIndex {}
            3 | 64 | output shape is |f32[8,2]|, maybe-live-out
            4 | 64 | output shape is |f32[8,2]|, maybe-live-out
            5 | 64 | output shape is |f32[8,2]|, maybe-live-out
            6 | 24 | output shape is |(f32[8,2], f32[8,2], f32[8,2])|, maybe-live-out
            """,
            """
            0 | c | f32[8,2]{1,0} | 0 | 64 | 0-7 | parameter(0)
            1 | m | f32[8,2]{1,0} | 0 | 64 | 0-7 | parameter(1)
            2 | d | f32[8,2]{1,0} | 0 | 64 | 0-7 | parameter(2)
            3 | cs | f32[8,2]{1,0} | 0 | 64 | 3-7 | sine(c)
            4 | ms | f32[8,2]{1,0} | 0 | 64 | 4-7 | sine(m)
            5 | ds | f32[8,2]{1,0} | 0 | 64 | 5-7 | sine(d)
            6 | out{} | (f32[8,2], f32[8,2], f32[8,2]) | 0 | 24 | 6-7 | tuple(cs, ms, ds)
            """,
        )
    )
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest(graph, folder, jobs=1)
        one = Changes(batch=2, batch_of=["state['codes']['w']"])
        both = Changes(batch=2, batch_of=["state['codes']['w']", "state['mean']['w']"])
        text = " ".join(whatif(graph, None, one).assumptions)
        assert "8 is also a length of state['mean']['w']:0, to which no operation relates" in text
        assert "data" not in text
        assert not any("also a length" in each for each in whatif(graph, None, both).assumptions)


def test_a_length_of_no_input_is_assumed_to_stay_unless_it_is_named(wide):
    stays = whatif(wide, None, Changes(batch=2, batch_of=["x", "t"]))
    assert (
        "6 in y (f32[4,6]{1,0}) is the length of no input and assumed to stay; if it is computed"
        " from the batch, name it, too: --batch-of y:1"
    ) in stays.assumptions
    named = whatif(wide, None, Changes(batch=2, batch_of=["x", "t", "y:1"]))
    assert sizes(named)[1] == 192 + 128 + 128 + 128 + 24 + 192
    assert not any("length of no input" in text for text in named.assumptions)
