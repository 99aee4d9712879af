"""Users' questions about waste and reuse: dumps, and the answer of one command."""

from tests.queries.questions.steps import Answer, step


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


def test_temp_block_is_larger_than_the_values_in_it(answer: Answer):
    # `c` does not fit the hole that `a` leaves, because `b` separates the parts.
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


def test_the_same_mask_is_stored_once_for_each_layer(answer: Answer):
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
        {**dumps, "run/jit_train": step(512)},
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


def test_why_are_two_elementwise_ops_not_fused(answer: Answer):
    assert answer(
        {"run/jit_f": step(512)},
        "query waste/single-use",
        "value sizeBytes producer consumer",
    ) == [("s", 2048, "s", "r")]
