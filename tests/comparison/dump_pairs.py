"""Pairs of dumps, and the sentences that say why the second reserves more or less memory."""

from typing import NamedTuple

from tests.comparison.small_dumps import PARAMETER, arguments, temporaries
from tests.tiny_dumps import tiny_dump


class Case(NamedTuple):
    """Two dumps, and the sentences about them."""

    before: str
    after: str
    sentences: list[str]
    devices: str = ""
    """Numbers of devices over which the two programs are split."""


REPLACED = "1 value replaced by 1 other at the peak, the largest new is exp f32[16]"
IN_LOOP = "transpose(jvp())/while/body/checkpoint/exp"
BODY = "jit(f)/jvp()/while/body/closed_call"
SHARDED = BODY.replace("while", "shard_map/while")
RECOMPUTED = "jit(f)/transpose(jvp(layer_0))/jvp(layer_0)/checkpoint/rematted_computation/tanh"
DOT = "jit(f)/dot_general @ f.py:1"
ONE = "t | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1\n"
ONE_AFTER_THE_OTHER = temporaries(
    64,
    """
    1 | a | f32[16]{0} | 0 | 64 | 1-1 | exp(x)    | jit(f)/exp @ f.py:1
    1 | b | f32[16]{0} | 0 | 64 | 2-3 | negate(x) | jit(f)/neg @ f.py:2
    """,
)
LAYERS = """
    1 | a | f32[16]{0} | 0  | 64 | 1-4 | exp(x)    | jit(f)/jvp(layer_0)/exp @ f.py:1
    1 | b | f32[16]{0} | 64 | 64 | 2-4 | exp(a)    | jit(f)/jvp(layer_1)/exp @ f.py:1
    1 | c | f32[8]{0} | 128 | 32 | 3-4 | negate(b) | jit(f)/loss/neg @ f.py:9
"""
REMATTED = "jit(f)/transpose(jvp(model))/jvp(model)/checkpoint/rematted_computation"
LOOP = "jit(f)/while/body/closed_call"
SAME_TYPE = """
    1 | a | f32[16]{0} | 0   | 64 | 1-3 | exp(x)    | jit(f)/exp @ f.py:1
    1 | b | f32[16]{0} | 64  | 64 | 2-3 | fusion(a) | jit(f)/tanh @ f.py:2
    1 | c | f32[16]{0} | 128 | 64 | 3-3 | fusion(b) | jit(f)/neg @ f.py:3
"""
UNROLLED = """
    t | a | f32[16]{0} | 0  | 64 | 1-3 | exp(x) | jit(f)/layer_0/exp @ f.py:1
    t | b | f32[16]{0} | 64 | 64 | 2-3 | exp(a) | jit(f)/layer_1/exp @ f.py:1
"""
ROLLED = f"t | s | f32[2,16]{{1,0}} | 0 | 128 | 1-3 | fusion(x) | {LOOP}/exp @ f.py:2"
LARGE = "1 | a | f32[16384]{0} | 0 | 65536 | 1-2 | exp(x) | jit(f)/exp @ f.py:1\n"
CASES = {
    "inputs no longer donated": Case(
        tiny_dump(
            f"{PARAMETER}, maybe-live-out",
            """
            0 | x   | f32[16]{0} | 0 | 64 | 0-1 | parameter(0) | w
            0 | out | f32[16]{0} | 0 | 64 | 1-2 | negate(x)    | jit(f)/sub @ f.py:1
            """,
        ),
        tiny_dump(
            f"{PARAMETER}\n1 | 64 | maybe-live-out",
            """
            0 | x   | f32[16]{0} | 0 | 64 | 0-2 | parameter(0) | w
            1 | out | f32[16]{0} | 0 | 64 | 1-2 | negate(x)    | jit(f)/sub @ f.py:1
            """,
        ),
        ["1 input is no longer donated (w): +64 B"],
    ),
    "element type": Case(
        temporaries(64, "1 | a | bf16[32]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(128, "1 | a | f32[32]{0} | 0 | 128 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        ["dtype of 1 value is now f32, was bf16 (mostly f.py:1): +64 B"],
    ),
    "batch": Case(
        temporaries(64, "1 | a | f32[2,8]{1,0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(128, "1 | a | f32[4,8]{1,0} | 0 | 128 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        [
            (
                "1 value has 2 times as many elements, such as f32[2,8] → f32[4,8]"
                " (mostly f.py:1): +64 B"
            )
        ],
    ),
    "checkpoint": Case(
        temporaries(
            128,
            f"""
            1 | a | f32[16]{{0}} | 0  | 64 | 1-1 | exp(x)  | jit(f)/jvp(layer_0)/exp @ f.py:1
            1 | d | f32[16]{{0}} | 0  | 64 | 2-4 | sine(x) | jit(f)/loss/sin @ f.py:3
            1 | r | f32[16]{{0}} | 64 | 64 | 3-4 | tanh(x) | {RECOMPUTED} @ f.py:2
            """,
        ),
        temporaries(
            192,
            """
            1 | a | f32[16]{0} | 0   | 64 | 1-4 | exp(x)  | jit(f)/jvp(layer_0)/exp @ f.py:1
            1 | t | f32[16]{0} | 64  | 64 | 2-4 | tanh(x) | jit(f)/jvp(layer_0)/tanh @ f.py:2
            1 | d | f32[16]{0} | 128 | 64 | 3-4 | sine(x) | jit(f)/loss/sin @ f.py:3
            """,
        ),
        ["checkpoint of layer_0 gone (mostly f.py:1): +64 B"],
    ),
    "a module of Flax without nn.remat": Case(
        temporaries(
            64,
            f"1 | a | f32[16]{{0}} | 0 | 64 | 1-2 | exp(x) |"
            f" {RECOMPUTED.replace('layer_0', 'CheckpointBlock_0')} @ f.py:1",
        ),
        temporaries(
            128,
            """
            1 | a | f32[16]{0} | 0  | 64 | 1-2 | exp(x)  | jit(f)/jvp(Block_0)/exp @ f.py:1
            1 | t | f32[16]{0} | 64 | 64 | 2-2 | tanh(x) | jit(f)/jvp(Block_0)/tanh @ f.py:1
            """,
        ),
        ["checkpoint of Block_0 gone (mostly f.py:1): +64 B"],
    ),
    "checkpoints of blocks of a model": Case(
        temporaries(
            64,
            """
            1 | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x)  | jit(f)/jvp(model)/block_0/exp @ f.py:1
            1 | b | f32[16]{0} | 0 | 64 | 3-3 | tanh(x) | jit(f)/jvp(model)/block_1/exp @ f.py:1
            """,
        ),
        temporaries(
            96,
            f"""
            1 | a | f32[16]{{0}} | 0  | 64 | 1-2 | exp(x)  | {REMATTED}/block_0/exp @ f.py:1
            1 | b | f32[8]{{0}}  | 64 | 32 | 2-2 | tanh(x) | {REMATTED}/block_1/exp @ f.py:1
            """,
        ),
        ["checkpoint of model/block_* added (mostly f.py:1): +32 B"],
    ),
    "checkpoint in a loop of each device": Case(
        temporaries(
            64,
            f"""
            1 | b | f32[8]{{0}}  | 0 | 32 | 1-1 | exp(x)   | {SHARDED}/exp @ f.py:2
            1 | s | f32[16]{{0}} | 0 | 64 | 2-3 | while(x) | jit(f)/jvp()/shard_map/while @ f.py:1
            """,
        ),
        temporaries(
            32,
            f"1 | b | f32[8]{{0}} | 0 | 32 | 1-2 | exp(x) | {SHARDED}/checkpoint/exp @ f.py:2",
        ),
        ["checkpoint in a loop added (mostly f.py:1): -32 B"],
    ),
    "values cast to a wider type": Case(
        temporaries(64, "1 | a | bf16[32]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(
            192,
            """
            1 | a | bf16[32]{0} | 0  | 64  | 1-3 | exp(x)     | jit(f)/exp @ f.py:1
            1 | b | f32[32]{0}  | 64 | 128 | 2-3 | convert(a) | jit(f)/convert_element_type @ f.py:2
            """,
        ),
        [
            (
                "1 of 2 computed values in f32 now, none before, with casts and what they replace"
                " (mostly f.py:2): +128 B"
            )
        ],
    ),
    "loops of another JAX version": Case(
        temporaries(
            64, "1 | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/jvp(while)/body/exp @ f.py:1"
        ),
        temporaries(128, f"1 | a | f32[32]{{0}} | 0 | 128 | 1-2 | exp(x) | {BODY}/exp @ f.py:1"),
        ["1 value has 2 times as many elements, such as f32[16] → f32[32] (mostly f.py:1): +64 B"],
    ),
    "copies": Case(
        temporaries(64, "1 | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(
            192,
            """
            1 | a | f32[16]{0} | 0   | 64 | 1-4 | exp(x)  | jit(f)/exp @ f.py:1
            1 | b | f32[16]{0} | 64  | 64 | 2-4 | copy(a) | jit(f)/exp @ f.py:1
            1 | c | f32[16]{0} | 128 | 64 | 3-4 | copy(a) | jit(f)/exp @ f.py:1
            """,
        ),
        ["2 copies more (mostly f.py:1): +128 B"],
    ),
    "packed worse": Case(
        temporaries(64, "1 | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(96, "1 | a | f32[16]{0} | 32 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        ["same values, packed worse: +32 B"],
    ),
    "one layer more": Case(
        temporaries(160, LAYERS),
        temporaries(
            224,
            LAYERS.replace("128 | 32 |", "192 | 32 |")
            + "1 | d | f32[16]{0} | 128 | 64 | 4-5 | exp(b) | jit(f)/jvp(layer_2)/exp @ f.py:1",
        ),
        ["1 value of layer_2 at the peak, none before (mostly f.py:1): +64 B"],
    ),
    "renamed": Case(
        temporaries(160, LAYERS),
        temporaries(
            160, LAYERS.replace("jit(f)", "jit(g)").replace("layer_", "block_").replace(":1", ":4")
        ),
        [],
    ),
    "renamed and one layer more": Case(
        temporaries(160, LAYERS),
        temporaries(
            224,
            LAYERS.replace("128 | 32 |", "192 | 32 |").replace("jit(f)", "jit(g)")
            + "1 | d | f32[16]{0} | 128 | 64 | 4-5 | exp(b) | jit(g)/jvp(layer_2)/exp @ f.py:1",
        ),
        ["1 value of layer_2 at the peak, none before (mostly f.py:1): +64 B"],
    ),
    "an input more": Case(
        temporaries(64, "1 | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(
            64,
            """
            1 | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1
            2 | y | f32[8]{0} | 0 | 32 | 0-2 | parameter(1) | y
            """,
            parameter=f"{PARAMETER}\n2 | 32 | parameter 1, shape |f32[8]| at ShapeIndex {{}}",
        ),
        ["1 new input: y: +32 B"],
    ),
    "one more element of a list of parameters": Case(
        arguments("w[0] f32[16], w[1] f32[16]", 64, ONE),
        arguments(
            "w[0] f32[16], w[1] f32[16], w[2] f32[16]",
            128,
            ONE + "t | b | f32[16]{0} | 64 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1",
        ),
        ["w[2] new, with 1 input of a repeated part and 1 value at the peak: +128 B"],
    ),
    "a new branch of the state": Case(
        arguments("opt['m']['a'] f32[16], opt['m']['b'] f32[16]", 64, ONE),
        arguments(
            "opt['m']['a'] f32[16], opt['m']['b'] f32[16], "
            "opt['v']['a'] f32[16], opt['v']['b'] f32[16]",
            64,
            ONE,
        ),
        ["2 new inputs: opt['v']: +128 B"],
    ),
    "larger input": Case(
        arguments("t f32[16]", 64, ONE),
        arguments("t f32[32]", 128, ONE.replace("f32[16]", "f32[32]").replace("| 64", "| 128")),
        [
            (
                "t f32[16] → f32[32]: 2 values have 2 times as many elements,"
                " such as f32[16] → f32[32] (most at f.py:1, +64 B): +128 B"
            )
        ],
    ),
    "element type of inputs": Case(
        arguments("p['a'] f32[16], p['b'] f32[16]", 64, ONE),
        arguments("p['a'] bf16[16], p['b'] bf16[16]", 64, ONE),
        ["dtype of 2 inputs (p) is now bf16, was f32: -64 B"],
    ),
    "element type of inputs that PyTorch/XLA gives one name": Case(
        arguments("xla__device_data f32[16], xla__device_data f32[16]", 64, ONE),
        arguments("xla__device_data bf16[16], xla__device_data bf16[16]", 64, ONE),
        ["dtype of 2 inputs is now bf16, was f32: -64 B"],
    ),
    "a size without a relation": Case(
        temporaries(
            96,
            """
            1 | a | f32[16]{0} | 0  | 64 | 1-3 | exp(x) | jit(f)/exp @ f.py:1
            1 | b | f32[8]{0}  | 64 | 32 | 2-3 | exp(a) | jit(f)/exp @ f.py:1
            """,
        ),
        temporaries(
            128,
            """
            1 | a | f32[16]{0} | 0  | 64 | 1-3 | exp(x) | jit(f)/exp @ f.py:1
            1 | b | f32[16]{0} | 64 | 64 | 2-3 | exp(a) | jit(f)/exp @ f.py:1
            """,
        ),
        [f"{REPLACED} (mostly f.py:1): +32 B"],
    ),
    "an element type that only one program computes with": Case(
        temporaries(192, SAME_TYPE),
        temporaries(
            160,
            """
            1 | a | bf16[16]{0} | 0  | 32 | 1-4 | exp(x)     | jit(f)/exp @ f.py:1
            1 | b | bf16[16]{0} | 32 | 32 | 2-4 | fusion(a)  | jit(f)/tanh @ f.py:2
            1 | c | bf16[16]{0} | 64 | 32 | 3-4 | fusion(b)  | jit(f)/convert_element_type @ f.py:3
            1 | d | f32[16]{0}  | 96 | 64 | 4-4 | convert(c) | jit(f)/convert_element_type @ f.py:3
            """,
        ),
        [
            (
                "3 of 4 computed values in bf16 now, none before, with casts and what they replace"
                " (mostly f.py:1): -32 B"
            )
        ],
    ),
    "layers in a loop": Case(
        arguments("t f32[8], w[0] f32[16], w[1] f32[16]", 128, UNROLLED),
        arguments("t f32[8], w f32[2,16]", 160, ROLLED),
        ["layer_* now in a loop, with w[*] in stacks: 0 B", "more fragmentation: +32 B"],
    ),
    "a part of the batch in each iteration": Case(
        temporaries(128, "1 | a | f32[32]{0} | 0 | 128 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(64, f"1 | a | f32[16]{{0}} | 0 | 64 | 1-2 | exp(x) | {LOOP}/exp @ f.py:1"),
        [
            (
                "1 value now computed in a loop, with 1/2 of the elements,"
                " such as f32[32] → f32[16] (mostly f.py:1): -64 B"
            )
        ],
    ),
    "split over devices": Case(
        arguments("t f32[16]", 64, ONE),
        arguments("t f32[8]", 32, ONE.replace("f32[16]", "f32[8]").replace("| 64", "| 32")),
        [
            (
                "split over 2 devices, was 1: t f32[16] → f32[8]: 2 values have"
                " 1/2 of the elements, such as f32[16] → f32[8] (most at f.py:1, -32 B): -64 B"
            )
        ],
        devices="1 2",
    ),
    "a loop's parameter in the bytes of an input": Case(
        arguments("t f32[16]", 64, ONE),
        arguments(
            "t f32[32]",
            128,
            ONE.replace("f32[16]", "f32[32]").replace("| 64", "| 128")
            + "0 | p | f32[32]{0} | 0 | 128 | 2-2 | parameter(0) | jit(f)/gather @ f.py:3",
        ),
        [
            (
                "t f32[16] → f32[32]: 2 values have 2 times as many elements,"
                " such as f32[16] → f32[32] (most at f.py:1, +64 B): +128 B"
            )
        ],
    ),
    "a small change is the only one": Case(
        temporaries(65536, LARGE),
        temporaries(65544, LARGE + "1 | c | f32[2]{0} | 65536 | 8 | 2-2 | sine(x) | jit(f)/sin"),
        ["1 new value at the peak: sin f32[2]: +8 B"],
    ),
    "an op that only one program has": Case(
        temporaries(128, ONE.replace("t |", "1 |")),
        temporaries(
            96,
            """
            1 | a | f32[16]{0} | 0  | 64 | 1-2 | exp(x)     | jit(f)/exp @ f.py:1
            1 | s | f32[8]{0}  | 64 | 32 | 3-3 | select(x)  | jit(f)/layer_0/_where/select_n
            """,
        ),
        ["less fragmentation: -32 B", "1 value made by _where/select_n, none before: 0 B"],
    ),
    "calls of a library": Case(
        temporaries(64, f"1 | dot.1 | f32[16]{{0}} | 0 | 64 | 1-2 | dot(x) | {DOT}"),
        temporaries(
            96,
            f"""
            1 | ynn_fusion.1 | f32[16]{{0}} | 0 | 64 | 1-3 | fusion(x), calls=%c | {DOT}
            1 | dot.2 | f32[8]{{0}} | 64 | 32 | 2-3 | reshape(x) | {DOT}
            """,
        ),
        [
            (
                "YNN now makes 1 value (XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type=invalid"
                " turns it off) (mostly f.py:1): +32 B"
            )
        ],
    ),
    "another order": Case(
        ONE_AFTER_THE_OTHER,
        temporaries(
            128,
            """
            1 | b | f32[16]{0} | 0  | 64 | 1-3 | negate(x) | jit(f)/neg @ f.py:2
            1 | a | f32[16]{0} | 64 | 64 | 2-3 | exp(x)    | jit(f)/exp @ f.py:1
            """,
        ),
        [
            "same values, other order: more of them are live together (mostly f.py:2): +64 B",
        ],
    ),
    "live for longer": Case(
        ONE_AFTER_THE_OTHER,
        temporaries(
            128,
            """
            1 | a | f32[16]{0} | 0  | 64 | 1-3 | exp(x)    | jit(f)/exp @ f.py:1
            1 | b | f32[16]{0} | 64 | 64 | 2-3 | negate(x) | jit(f)/neg @ f.py:2
            """,
        ),
        ["same values, but more of them live at the peak (mostly f.py:2): +64 B"],
    ),
}
