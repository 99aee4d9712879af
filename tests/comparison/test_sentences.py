"""Sentences that say why one compilation reserves more than another; each dump pair is a case."""

from math import prod
from typing import NamedTuple

import pytest

from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import compare


class Case(NamedTuple):
    """Two dumps, and the sentences about them."""

    before: str
    after: str
    sentences: list[str]
    devices: str = ""
    """Numbers of devices over which the two programs are split."""


PARAMETER = "0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {}"
BODY = "jit(f)/jvp()/while/body/closed_call"
RECOMPUTED = "jit(f)/transpose(jvp(layer_0))/jvp(layer_0)/checkpoint/rematted_computation/tanh"


def temporaries(size: int, values: str, *, parameter: str = PARAMETER) -> str:
    """Write a dump with a parameter, and values in a single temporary allocation."""
    steps = len(values.strip().splitlines()) + 1
    x = f"0 | x | f32[16]{{0}} | 0 | 64 | 0-{steps} | parameter(0) | x"
    return tiny_dump(f"{parameter}\n1 | {size} | preallocated-temp", f"{x}\n{values}")


def arguments(inputs: str, size: int, values: str) -> str:
    """Write a dump with named inputs, `x` first, and values in allocation `t` for temporaries."""
    lines, blocks = [], []
    for number, (name, shape) in enumerate(each.split(" ") for each in inputs.split(", ")):
        count = prod(map(int, shape.partition("[")[2].rstrip("]").split(",")))
        size_bytes = count * (2 if shape.startswith("bf16") else 4)
        label = f"p{number}" if number else "x"
        blocks.append(
            f"{number} | {size_bytes} | parameter {number}, shape |{shape}| at ShapeIndex {{}}"
        )
        made = f"parameter({number}) | {name}"
        lines.append(f"{number} | {label} | {shape}{{0}} | 0 | {size_bytes} | 0-2 | {made}")
    blocks.append(f"{len(blocks)} | {size} | preallocated-temp")
    table = values.replace("t |", f"{len(lines)} |")
    return tiny_dump("\n".join(blocks), "\n".join([*lines, *table.strip().splitlines()]))


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
    "checkpoint in a loop": Case(
        temporaries(
            64,
            f"""
            1 | b | f32[8]{{0}}  | 0 | 32 | 1-1 | exp(x)   | {BODY}/exp @ f.py:2
            1 | s | f32[16]{{0}} | 0 | 64 | 2-3 | while(x) | jit(f)/jvp()/while @ f.py:1
            """,
        ),
        temporaries(
            32, f"1 | b | f32[8]{{0}} | 0 | 32 | 1-2 | exp(x) | {BODY}/checkpoint/exp @ f.py:2"
        ),
        ["checkpoint in a loop added (mostly f.py:1): -32 B"],
    ),
    "a loop less around a checkpoint": Case(
        temporaries(
            32,
            """
            1 | b | f32[8]{0} | 0 | 32 | 1-2 | exp(x) | \
jit(f)/while/body/transpose(jvp())/while/body/checkpoint/exp @ f.py:2
            """,
        ),
        temporaries(
            64,
            """
            1 | b | f32[16]{0} | 0 | 64 | 1-2 | exp(x) | \
jit(f)/transpose(jvp())/while/body/checkpoint/exp @ f.py:2
            """,
        ),
        [
            (
                "1 value replaced by 1 other at the peak, the largest new is exp f32[16]"
                " (mostly f.py:2): +32 B"
            ),
        ],
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
        ["1 more value cast to f32 at the peak (mostly f.py:2): +128 B"],
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
        ["layer_2 new, with 1 value at the peak (mostly f.py:1): +64 B"],
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
        ["layer_2 new, with 1 value at the peak (mostly f.py:1): +64 B"],
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
        [
            (
                "1 value replaced by 1 other at the peak, the largest new is exp f32[16]"
                " (mostly f.py:1): +32 B"
            )
        ],
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


MODULE = """HloModule jit_f, is_scheduled=true

ENTRY %main (x: f32[16,16]) -> f32[16,16] {{
  %x = f32[16,16]{{1,0}} parameter(0)
  %a = f32[8,16]{{1,0}} {a}, metadata={{op_name="jit(f)/jvp(ode)/tanh"}}
  %b = f32[8,16]{{1,0}} tanh(%a), metadata={{op_name="jit(f)/transpose(jvp(ode))/mul"}}
{g}  ROOT %r = f32[16,16]{{1,0}} {r}, metadata={{op_name="jit(f)/reduce_sum"}}
}}
"""
PRODUCTS = '  %g = f32[8,16,16]{2,1,0} multiply(%a, %b), metadata={op_name="jit(f)/add"}\n'
OF_MODULE = """
    0 | x | f32[16,16]{{1,0}} | 0   | 1024 | 0-4 | parameter(0) | x
    1 | a | f32[8,16]{{1,0}}  | {at} | 512  | 1-3 | {a} | jit(f)/jvp(ode)/tanh @ f.py:1
    1 | b | f32[8,16]{{1,0}}  | 0   | 512  | 2-3 | tanh(a) | jit(f)/transpose(jvp(ode))/mul @ f.py:2
{g}    2 | r | f32[16,16]{{1,0}} | 0   | 1024 | {end} | {r} | jit(f)/reduce_sum @ f.py:4
"""
HELD = "    1 | g | f32[8,16,16]{2,1,0} | 0 | 8192 | 3-4 | multiply(a, b) | jit(f)/add @ f.py:3\n"


def test_a_cause_that_only_one_side_has_is_named_with_its_values(tmp_path):
    for run, size, r, end in (
        ("before", 1024, "dot(a, b)", "3-4"),
        ("after", 8704, "reduce(g)", "4-5"),
    ):
        is_after = run == "after"
        temporary = (
            "0 | 1024 | parameter 0, shape |f32[16,16]| at ShapeIndex {}\n"
            f"1 | {size} | preallocated-temp\n2 | 1024 | maybe-live-out"
        )
        values = OF_MODULE.format(a="broadcast(x)", g=HELD * is_after, r=r, end=end, at=size - 512)
        path = write_dump(tmp_path / "runs" / run, 1, "jit_f", tiny_dump(temporary, values))
        module = path.with_name(path.name.replace("-buffer-assignment", ""))
        read = r.replace("(", "(%").replace(", ", ", %")
        module.write_text(MODULE.format(a="broadcast(%x)", g=PRODUCTS * is_after, r=read))
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        found = compare(graph, "before", "after").sentences
        back = compare(graph, "after", "before").sentences
    text = "gradients are kept for each example (f.py:3); 1 new value at the peak: add f32[8,16,16]"
    assert (found[0].text, sum(each.growth_bytes for each in found)) == (text, 7680)
    assert back[0].text.startswith("no longer: gradients are kept for each example (f.py:3); ")


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Return a graph with the dumps of each case, one run before and one after."""
    folder = tmp_path_factory.mktemp("cases")
    for name, case in CASES.items():
        for side, text in (("before", case.before), ("after", case.after)):
            path = write_dump(folder / "runs" / name / side, 1, "jit_f", text)
            if case.devices:
                devices = case.devices.split()[side == "after"]
                module = path.with_name(path.name.replace("-buffer-assignment", ""))
                module.write_text(f"HloModule jit_f, num_partitions={devices}\n")
    with open_graph(folder / "cases.lbug", create=True) as graph:
        assert ingest(graph, folder / "runs", jobs=1).ok
        yield graph


@pytest.mark.parametrize("name", CASES)
def test_the_sentences_of_a_change(cases, name):
    found = compare(cases, f"{name}/before", f"{name}/after")
    assert [sentence.line for sentence in found.sentences] == CASES[name].sentences
    growth = sum(sentence.growth_bytes for sentence in found.sentences)
    assert growth == found.reserved.growth_bytes


def test_a_reverted_change_has_the_reverse_sentences(cases):
    def told(name):
        found = compare(cases, f"{name}/after", f"{name}/before")
        return [sentence.line for sentence in found.sentences]

    assert told("inputs no longer donated") == ["1 input is now donated (w): -64 B"]
    assert told("checkpoint") == ["checkpoint of layer_0 added (mostly f.py:1): -64 B"]
    assert told("packed worse") == ["same values, packed better: -32 B"]
    assert told("copies") == ["2 copies fewer (mostly f.py:1): -128 B"]


def test_each_sentence_names_the_query_that_shows_the_details(cases):
    def command(name):
        (sentence,) = compare(cases, f"{name}/before", f"{name}/after").sentences
        return sentence.command

    stem = "module_0001.jit_f.cpu_after_optimizations"
    assert command("batch") == "xlagraph compare batch/before batch/after --by value"
    assert command("inputs no longer donated") == (
        f"xlagraph query alias/not-donated 'inputs no longer donated/after/{stem}'"
    )
    assert command("packed worse") == (
        f"xlagraph query reuse/fragmentation 'packed worse/after/{stem}'"
    )


def test_a_value_with_a_part_of_each_iteration_is_said_to_be_stacked():
    stack = HeldValue(
        ReservedPart.LIVE,
        640,
        is_donated=False,
        name="while.1",
        shape_index="{2}",
        opcode="while",
        op_name=f"{LOOP}/add",
        user_line=("f.py", 7),
        source_line=("f.py", 7),
        shape="f32[10,16]",
        dtype="f32",
        size_bytes=640,
        live_from=3,
        stack_turns=10,
    )
    state = stack._replace(
        held_bytes=0, shape_index="{0}", shape="f32[16]", op_name=f"{LOOP}/mul", stack_turns=None
    )
    reasons = explain_pair(Reserved((state,)), Reserved((state, stack)))
    (reason,) = [each for each in reasons if each.growth_bytes]
    assert (reason_text(reason, ("a", "b")), reason.growth_bytes) == (
        "loops now stack 1 more value of each iteration: add f32[10,16] (mostly f.py:7)",
        640,
    )
