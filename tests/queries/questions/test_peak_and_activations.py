"""Users' questions about the peak: dumps, and the answer of one command."""

from tests.queries.questions.steps import Answer, step


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
    # `act` is recomputed, but the peak is at `scores`, which both runs have.
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
        ("jit(t)/jvp(mlp)/loss", 4, 0, -4),
        ("jit(t)/jvp(mlp)/softmax", 8192, 8192, 0),
        ("jit(t)/jvp(mlp)/tanh", 4160, 4160, 0),  # with the input, which it reads first
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


def test_what_is_largest_when_memory_runs_out_and_which_line_made_it(answer: Answer):
    assert answer(
        {"run/jit_f": step(512)},
        "query peak/contributors --limit 1",
        "value physicalBytes opName sourceFile sourceLine",
    ) == [("s", 2048, "jit(f)/att/exp", "model.py", 9)]
