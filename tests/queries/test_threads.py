"""What people have asked in public about memory, retold as a dump and answered by one command."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.queries.short_dumps import short_dump
from xlagraph.cli import main
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest

Rows = list[tuple[object, ...]]
Answer = Callable[[Mapping[str, tuple[str, str]], str, str], Rows]


@pytest.fixture
def answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Answer:
    """Ingest dumps, by `run/module`, and give some columns of what a command answers."""

    def ask(dumps: Mapping[str, tuple[str, str]], command: str, columns: str) -> Rows:
        for name, (allocations, values) in dumps.items():
            run, _, module = name.partition("/")
            stem = f"module_0001.{module}.cpu_after_optimizations"
            (tmp_path / "runs" / run).mkdir(parents=True, exist_ok=True)
            path = tmp_path / "runs" / run / f"{stem}-buffer-assignment.txt"
            path.write_text(short_dump(allocations, values))
        with open_graph(tmp_path / "g.lbug", create=True) as graph:
            summary = ingest(graph, tmp_path / "runs", jobs=1)
            assert summary.ok, summary.problems
        capsys.readouterr()
        code = main([*command.split(), "--graph", str(tmp_path / "g.lbug"), "--format", "json"])
        written = capsys.readouterr()
        assert code == 0, written.err
        return [tuple(row[name] for name in columns.split()) for row in json.loads(written.out)]

    return ask


def test_some_donated_buffers_were_not_usable(answer: Answer):
    # `state` could have been donated: an output has its shape. Donating `weights` is of no
    # use, the new ones are of another type.
    allocations = """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |f32[1024]| at ShapeIndex {}, maybe-live-out
        2 | 512  | parameter 2, shape |f32[128]| at ShapeIndex {}
        3 | 2048 | maybe-live-out
        4 | 512  | maybe-live-out
    """
    values = """
        0 | weights     | f32[1024]{0}  | 0 | 4096 | 0-6 | parameter(0)
        1 | used        | f32[1024]{0}  | 0 | 4096 | 0-5 | parameter(1)
        2 | state       | f32[128]{0}   | 0 | 512  | 0-6 | parameter(2)
        3 | new_weights | bf16[1024]{0} | 0 | 2048 | 3-6 | fusion(weights, state)
        4 | new_state   | f32[128]{0}   | 0 | 512  | 4-6 | fusion(state)
        1 | new_used    | f32[1024]{0}  | 0 | 4096 | 5-6 | fusion(used)
    """
    assert answer(
        {"run/jit_step": (allocations, values)},
        "query alias/not-donated",
        "parameterNumber value shape freeOutputs savedBytes",
    ) == [(2, "state", "f32[128]", 1, 512)]


def test_donated_and_still_copied_because_it_is_needed_afterwards(answer: Answer):
    # The loss reads the old `x` after the new one is there: donation would force a copy.
    allocations = """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | maybe-live-out
        2 | 4    | output shape is |f32[]|, maybe-live-out
    """
    values = """
        0 | x     | f32[1024]{0} | 0 | 4096 | 0-3 | parameter(0)
        1 | new_x | f32[1024]{0} | 0 | 4096 | 1-3 | fusion(x)        | jit(step)/sub
        2 | loss  | f32[]        | 0 | 4    | 2-3 | fusion(new_x, x) | jit(step)/loss
    """
    assert answer(
        {"run/jit_step": (allocations, values)},
        "query alias/not-donated",
        "value lastUse candidateOutputs freeOutputs savedBytes",
    ) == [("x", 2, 1, 0, 0)]


CACHE = """
    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}, maybe-live-out
    1 | 32   | parameter 1, shape |f32[8]| at ShapeIndex {}
    2 | 4096 | preallocated-temp
    3 | 4    | output shape is |f32[]|, maybe-live-out
"""


def test_is_my_dynamic_update_slice_in_place(answer: Answer):
    values = """
        0 | cache | f32[1024]{0} | 0 | 4096 | 0-2 | parameter(0)
        1 | row   | f32[8]{0}    | 0 | 32   | 0-4 | parameter(1)
        0 | dus   | f32[1024]{0} | 0 | 4096 | 2-4 | dynamic-update-slice(cache, row) | jit(f)/dus
        3 | sum   | f32[]        | 0 | 4    | 3-4 | fusion(dus)
    """
    assert answer(
        {"run/jit_decode": (CACHE.replace("2 | 4096 | preallocated-temp\n", ""), values)},
        "query alias/in-place",
        "earlier later sharedBytes step opcode",
    ) == [("cache", "dus", 4096, 2, "dynamic-update-slice")]


def test_why_does_updating_a_slice_copy_the_whole_cache(answer: Answer):
    # `attend` still reads the old cache after the update: XLA saves it first.
    values = """
        0 | cache  | f32[1024]{0} | 0 | 4096 | 0-3 | parameter(0)
        1 | row    | f32[8]{0}    | 0 | 32   | 0-5 | parameter(1)
        2 | copy.1 | f32[1024]{0} | 0 | 4096 | 2-4 | copy(cache)
        0 | dus    | f32[1024]{0} | 0 | 4096 | 3-5 | dynamic-update-slice(cache, row) | jit(f)/dus
        3 | attend | f32[]        | 0 | 4    | 4-5 | fusion(copy.1, dus)
    """
    assert answer(
        {"run/jit_decode": (CACHE, values)},
        "query alias/copies",
        "value copied copiedFrom usedBy users ofParameter originalLive physicalBytes",
    ) == [("copy.1", "cache", "cache", "attend", 1, True, True, 4096)]


def test_why_is_loop_state_copied(answer: Answer):
    allocations = """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | maybe-live-out
    """
    values = """
        0 | x       | f32[1024]{0} | 0 | 4096 | 0-3 | parameter(0)
        1 | copy.1  | f32[1024]{0} | 0 | 4096 | 1-2 | copy(x)        | jit(f)/while
        1 | loop{0} | f32[1024]{0} | 0 | 4096 | 2-3 | while(copy.1)  | jit(f)/while
    """
    assert answer(
        {"run/jit_loop": (allocations, values)},
        "query alias/copies",
        "value copied usedBy ofLoop ofParameter opName",
    ) == [("copy.1", "x", "loop", True, True, "jit(f)/while")]


def test_which_sharded_arrays_are_gathered_at_the_peak(answer: Answer):
    allocations = """
        0 | 1024 | parameter 0, shape |f32[256]| at ShapeIndex {}
        1 | 12288 | preallocated-temp
        2 | 4    | output shape is |f32[]|, maybe-live-out
    """
    values = """
        0 | shard | f32[256]{0}  | 0    | 1024 | 0-4 | parameter(0)
        1 | full  | f32[1024]{0} | 0    | 4096 | 1-3 | all-gather(shard) | jit(f)/dot @ model.py:7
        1 | wide  | f32[2048]{0} | 4096 | 8192 | 2-3 | fusion(full)
        2 | sum   | f32[]        | 0    | 4    | 3-4 | fusion(full, wide)
    """
    assert answer(
        {"run/jit_f": (allocations, values)},
        "query waste/gathered",
        "value sizeBytes sourceFile sourceLine",
    ) == [("full", 4096, "model.py", 7)]


TRAIN = """
    0 | x      | f32[16]{0}   | 0    | 64   | 0-5 | parameter(0)
    1 | act    | f32[1024]{0} | 0    | 4096 | 1-4 | fusion(x)            | jit(t)/jvp(mlp)/tanh
    1 | scores | f32[2048]{0} | 4096 | 8192 | 2-3 | fusion(act)          | jit(t)/jvp(mlp)/softmax
    1 | loss   | f32[]        | 12288 | 4   | 3-4 | fusion(scores)       | jit(t)/jvp(mlp)/loss
    2 | grad | f32[1024]{0} | 0 | 4096 | 4-5 | fusion(act, loss) | jit(t)/transpose(jvp(mlp))/mul
"""
TRAIN_BLOCKS = """
    0 | 64    | parameter 0, shape |f32[16]| at ShapeIndex {}
    1 | 12292 | preallocated-temp
    2 | 4096  | output shape is |f32[1024]|, maybe-live-out
"""


def test_remat_did_not_lower_the_peak(answer: Answer):
    # `act` is computed again, but the peak is at `scores`, which both runs have.
    again = TRAIN.replace("1-4 | fusion(x) ", "1-2 | fusion(x) ").replace(
        "    2 | grad | f32[1024]{0} | 0 | 4096 | 4-5 | fusion(act, loss)",
        "    1 | act.2  | f32[1024]{0} | 0    | 4096 | 4-5 | fusion(x)"
        " | jit(t)/transpose(jvp(mlp))/rematted_computation/tanh\n"
        "    2 | grad   | f32[1024]{0} | 0    | 4096 | 5-6 | fusion(act.2, loss)",
    )
    again = again.replace("0-5 | parameter", "0-6 | parameter")
    dumps = {"base/jit_train": (TRAIN_BLOCKS, TRAIN), "remat/jit_train": (TRAIN_BLOCKS, again)}
    assert answer(
        dumps,
        "query compare/ops --run-a base --run-b remat",
        "opName bytesA bytesB growthBytes",
    ) == [
        ("jit(t)/jvp(mlp)/softmax", 8192, 8192, 0),
        ("jit(t)/jvp(mlp)/tanh", 4096, 4096, 0),
        (None, 64, 64, 0),
        ("jit(t)/jvp(mlp)/loss", 4, 0, -4),
    ]


def test_what_is_kept_from_forward_to_backward(answer: Answer):
    longer = TRAIN.replace("2-3 | fusion(act) ", "2-5 | fusion(act) ")
    assert answer(
        {"run/jit_train": (TRAIN_BLOCKS, longer)},
        "query lifetime/across",
        "value sizeBytes liveFrom liveUntil opName",
    ) == [
        ("scores", 8192, 2, 5, "jit(t)/jvp(mlp)/softmax"),
        ("x", 64, 0, 5, None),
    ]


def test_which_activations_does_the_backward_pass_hold_at_the_peak(answer: Answer):
    assert answer(
        {"run/jit_train": (TRAIN_BLOCKS, TRAIN)},
        "query lifetime/kept-for-backward",
        "value physicalBytes neededAt",
    ) == [("act", 4096, 4), ("loss", 4, 4)]


def upgrade(temp: int) -> tuple[str, str]:
    """Write a dump with a softmax of so many elements."""
    allocations = f"""
        0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {{}}
        1 | {4 * temp + 64} | preallocated-temp
        2 | 4 | output shape is |f32[]|, maybe-live-out
    """
    values = f"""
        0 | x | f32[16]{{0}} | 0 | 64 | 0-4 | parameter(0)
        1 | h | f32[16]{{0}} | 0 | 64 | 1-3 | fusion(x) | jit(f)/mlp/tanh @ model.py:3
        1 | s | f32[{temp}]{{0}} | 64 | {4 * temp} | 2-3 | fusion(h) | jit(f)/att/exp @ model.py:9
        2 | r | f32[] | 0 | 4 | 3-4 | fusion(s, h) | jit(f)/sum @ model.py:11
    """
    return allocations, values


def test_memory_grew_after_an_upgrade_by_which_op(answer: Answer):
    assert answer(
        {"old/jit_f": upgrade(32), "new/jit_f": upgrade(512)},
        "query compare/ops --run-a old --run-b new --limit 1",
        "opName bytesA bytesB growthBytes",
    ) == [("jit(f)/att/exp", 128, 2048, 1920)]


def test_memory_grew_after_an_upgrade_by_which_line(answer: Answer):
    assert answer(
        {"old/jit_f": upgrade(32), "new/jit_f": upgrade(512)},
        "query compare/lines --run-a old --run-b new --limit 1",
        "sourceFile sourceLine growthBytes",
    ) == [("model.py", 9, 1920)]


def test_when_did_this_memory_appear(answer: Answer):
    assert answer(
        {"night-1/jit_f": upgrade(32), "night-2/jit_f": upgrade(32), "night-3/jit_f": upgrade(512)},
        "query trend/op --op-name jit(f)/att/exp --sort-by run",
        "run bytes",
    ) == [("night-1", 128), ("night-2", 128), ("night-3", 2048)]


def test_parameters_are_bf16_but_memory_is_as_for_f32(answer: Answer):
    allocations = """
        0 | 2048 | parameter 0, shape |bf16[1024]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        2 | 2048 | output shape is |bf16[1024]|, maybe-live-out
    """
    values = """
        0 | w     | bf16[1024]{0} | 0    | 2048 | 0-4 | parameter(0)
        1 | up    | f32[1024]{0}  | 0    | 4096 | 1-3 | convert(w)   | jit(f)/adam/convert
        1 | moved | f32[1024]{0}  | 4096 | 4096 | 2-3 | fusion(up)   | jit(f)/adam/mul
        2 | new_w | bf16[1024]{0} | 0    | 2048 | 3-4 | fusion(up, moved) | jit(f)/adam/sub
    """
    assert answer(
        {"run/jit_f": (allocations, values)},
        "query waste/wide-types",
        "value dtype sizeBytes role opName halfBytes",
    ) == [
        ("moved", "f32", 4096, "temp", "jit(f)/adam/mul", 2048),
        ("up", "f32", 4096, "temp", "jit(f)/adam/convert", 2048),
    ]


def test_why_is_a_narrow_array_128_times_as_large_on_tpu(answer: Answer):
    allocations = """
        0 | 4096   | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 524288 | output shape is |f32[1024,1]|, maybe-live-out
    """
    values = """
        0 | x | f32[1024]{0:T(1024)}     | 0 | 4096   | 0-2 | parameter(0)
        1 | y | f32[1024,1]{1,0:T(8,128)} | 0 | 524288 | 1-2 | reshape(x) | jit(f)/expand_dims
    """
    assert answer(
        {"run/jit_f": (allocations, values)},
        "query waste/padding",
        "value shape layout denseBytes sizeBytes paddingBytes ratio",
    ) == [("y", "f32[1024,1]", "{1,0:T(8,128)}", 4096, 524288, 520192, 128.0)]


def test_temp_block_is_larger_than_what_lives_in_it(answer: Answer):
    # `c` does not fit the hole that `a` leaves, `b` lies in the way.
    allocations = """
        0 | 64    | parameter 0, shape |f32[16]| at ShapeIndex {}
        1 | 14336 | preallocated-temp
        2 | 4     | output shape is |f32[]|, maybe-live-out
    """
    values = """
        0 | x | f32[16]{0}   | 0    | 64   | 0-5 | parameter(0)
        1 | a | f32[1024]{0} | 0    | 4096 | 1-2 | fusion(x)
        1 | b | f32[512]{0}  | 4096 | 2048 | 2-4 | fusion(a)
        1 | c | f32[2048]{0} | 6144 | 8192 | 3-4 | fusion(b)
        2 | r | f32[]        | 0    | 4    | 4-5 | fusion(b, c)
    """
    assert answer(
        {"run/jit_f": (allocations, values)},
        "query reuse/fragmentation",
        "allocation sizeBytes physicalPeakBytes unusedBytes largestHoleBytes",
    ) == [(1, 14336, 10240, 4096, 4096)]


MASKS = """
    0 | x  | f32[16]{0}    | 0    | 64   | 0-5 | parameter(0)
    1 | m1 | pred[1024]{0} | 0    | 1024 | 1-4 | broadcast(x) | jit(f)/att/mask
    1 | m2 | pred[1024]{0} | 1024 | 1024 | 2-4 | broadcast(x) | jit(f)/att/mask
    1 | m3 | pred[1024]{0} | 2048 | 1024 | 3-4 | broadcast(x) | jit(f)/att/mask
    2 | r  | f32[]         | 0    | 4    | 4-5 | fusion(m1, m2, m3)
"""
MASK_BLOCKS = """
    0 | 64   | parameter 0, shape |f32[16]| at ShapeIndex {}
    1 | 3072 | preallocated-temp
    2 | 4    | output shape is |f32[]|, maybe-live-out
"""


def test_the_same_mask_is_held_once_for_each_layer(answer: Answer):
    assert answer(
        {"run/jit_f": (MASK_BLOCKS, MASKS)},
        "query waste/duplicates",
        "opName shape copies sizeBytes totalBytes alike repeatedBytes",
    ) == [("jit(f)/att/mask", "pred[1024]", 3, 1024, 3072, 2, 2048)]


def test_why_do_equal_arrays_not_share_one_buffer(answer: Answer):
    assert answer(
        {"run/jit_f": (MASK_BLOCKS, MASKS)},
        "query reuse/same-shape",
        "shape values liveAtPeak totalBytes",
    ) == [("pred[1024]", 3, 3, 3072)]


def test_one_hot_is_written_out_in_memory(answer: Answer):
    allocations = """
        0 | 64   | parameter 0, shape |s32[16]| at ShapeIndex {}
        1 | 8192 | preallocated-temp
        2 | 4    | output shape is |f32[]|, maybe-live-out
    """
    values = """
        0 | labels | s32[16]{0}      | 0    | 64   | 0-4 | parameter(0)
        1 | iota.1 | s32[16,64]{1,0} | 0    | 4096 | 1-3 | iota()           | jit(f)/one_hot/iota
        1 | hot    | f32[16,64]{1,0} | 4096 | 4096 | 2-3 | fusion(labels, iota.1) | jit(f)/one_hot
        2 | r      | f32[]           | 0    | 4    | 3-4 | fusion(hot, iota.1)
    """
    assert answer(
        {"run/jit_f": (allocations, values)},
        "query waste/broadcasts",
        "value sizeBytes opcode opName",
    ) == [("iota.1", 4096, "iota", "jit(f)/one_hot/iota")]


def test_which_buffers_are_scratch_of_library_calls(answer: Answer):
    allocations = """
        0 | 64    | parameter 0, shape |f32[16]| at ShapeIndex {}
        1 | 65680 | preallocated-temp
        2 | 64    | output shape is |f32[16]|, maybe-live-out
    """
    target = ', custom_call_target="__cublas$gemm"'
    values = f"""
        0 | x       | f32[16]{{0}}            | 0     | 64    | 0-3 | parameter(0)
        1 | gemm{{}}  | (f32[16]{{0}}, s8[65536]{{0}}) | 0 | 16  | 1-1 | custom-call(x){target}
        1 | gemm{{0}} | f32[16]{{0}}            | 64    | 64    | 1-2 | custom-call(x){target}
        1 | gemm{{1}} | s8[65536]{{0}}          | 128   | 65536 | 1-1 | custom-call(x){target}
        2 | out     | f32[16]{{0}}            | 0     | 64    | 2-3 | fusion(gemm{{0}})
    """
    assert answer(
        {"run/jit_f": (allocations, values)},
        "query waste/scratch",
        "value sizeBytes instruction target physicalBytes",
    ) == [("gemm{1}", 65536, "gemm", "__cublas$gemm", 65536)]


def test_who_keeps_a_buffer_alive_after_its_last_use(answer: Answer):
    # `start` reads `w` last, but the transfer runs until `done`.
    allocations = """
        0 | 64   | parameter 0, shape |f32[16]| at ShapeIndex {}
        1 | 8256 | preallocated-temp
        2 | 4    | output shape is |f32[]|, maybe-live-out
    """
    values = """
        0 | x        | f32[16]{0}   | 0    | 64   | 0-6 | parameter(0)
        1 | w        | f32[1024]{0} | 0    | 4096 | 1-4 | fusion(x)
        1 | start{1} | f32[1024]{0} | 4096 | 4096 | 2-5 | all-reduce-start(w)
        1 | other    | f32[16]{0}   | 8192 | 64   | 3-5 | fusion(x)
        1 | done     | f32[16]{0}   | 0    | 64   | 4-5 | all-reduce-done(start{1})
        2 | r        | f32[]        | 0    | 4    | 5-6 | fusion(done, other, start{1})
    """
    assert answer(
        {"run/jit_f": (allocations, values)},
        "query lifetime/late-free",
        "value sizeBytes lastUse liveUntil idleSteps keptUntil",
    ) == [("w", 4096, 2, 4, 2, "done")]


def test_which_of_my_many_modules_matters(answer: Answer):
    small = (
        "0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {}",
        "0 | x | f32[16]{0} | 0 | 64 | 0-1 | parameter(0)",
    )
    dumps = {f"run/jit_helper_{number}": small for number in range(30)}
    assert answer(
        {**dumps, "run/jit_train": upgrade(512)},
        "query overview/compilations",
        "module reservedBytes physicalPeakBytes",
    )[:2] == [("jit_train", 2180, 2180), ("jit_helper_0", 64, 64)]


def test_is_the_other_memory_space_full_or_wasted(answer: Answer):
    allocations = """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 8192 | color 1, preallocated-temp
        2 | 4    | output shape is |f32[]|, maybe-live-out
    """
    values = """
        0 | x | f32[1024]{0}      | 0    | 4096 | 0-3 | parameter(0)
        1 | v | f32[256]{0:S(1)}  | 7168 | 1024 | 1-2 | fusion(x)
        2 | r | f32[]             | 0    | 4    | 2-3 | fusion(v)
    """
    assert answer(
        {"run/jit_f": (allocations, values)},
        "query overview/spaces",
        "memorySpace allocationBytes physicalPeakBytes idleBytes",
    ) == [(0, 4100, 4100, 0), (1, 8192, 1024, 7168)]


def test_what_is_largest_when_memory_runs_out_and_which_line_made_it(answer: Answer):
    assert answer(
        {"run/jit_f": upgrade(512)},
        "query peak/contributors --limit 1",
        "value physicalBytes opName sourceFile sourceLine",
    ) == [("s", 2048, "jit(f)/att/exp", "model.py", 9)]


def test_why_are_two_elementwise_ops_not_fused(answer: Answer):
    assert answer(
        {"run/jit_f": upgrade(512)},
        "query waste/single-use",
        "value sizeBytes producer consumer",
    ) == [("s", 2048, "s", "r")]
