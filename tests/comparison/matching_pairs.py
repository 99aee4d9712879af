"""Pairs of dumps whose values are easily taken for others, and the sentences about them."""

from tests.comparison.dump_pairs import IN_LOOP, LOOP, ONE, Case
from tests.comparison.small_dumps import PARAMETER, arguments, temporaries
from tests.tiny_dumps import tiny_dump

SCATTER = "1 | a | {0} | 0 | {1} | 1-2 | scatter(x) | jit(f)/scatter @ f.py:1"
EXP = "1 | a | f32[{0}]{{0}} | 0 | {1} | 1-2 | exp(x) | jit(f)/exp @ {2}"
EXP_OF_X = f"""
0 | x | f32[16]{{0}} | 0 | 64 | 0-2 | parameter(0) | x
{EXP.format(16, 64, "f.py:1")}
"""
TASKS = "t | a | {0} | 0 | {1} | 1-2 | exp(x) | jit(f)/vmap(exp)/exp @ f.py:1\n"
FUSED = "".join(
    f"1 | v{at} | f32[16]{{0}} | {64 * at} | 64 | 1-6 | fusion(x) | jit(f)/op{at} @ f.py:1\n"
    for at in range(5)
)
UNFUSED = "1 | w | f32[16]{0} | 320 | 64 | 2-6 | negate(x) | jit(f)/neg @ f.py:2\n"
CHECKPOINTED = (
    "1 | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x)"
    " | jit(f)/transpose(jvp())/checkpoint/rematted_computation/exp @ f.py:1\n"
)

MATCHING: dict[str, Case] = {
    "indices are not floats": Case(
        temporaries(64, SCATTER.format("s32[16]{0}", 64)),
        temporaries(32, SCATTER.format("bf16[16]{0}", 32)),
        [
            (
                "1 value replaced by 1 other at the peak, the largest gone is scatter s32[16]"
                " (mostly f.py:1): -32 B"
            )
        ],
    ),
    "a dimension of one element is left out": Case(
        arguments("y f32[4,8]", 128, TASKS.format("f32[4,8]{1,0}", 128)),
        arguments("y f32[1,8]", 32, TASKS.format("f32[8]{0}", 32)),
        [
            (
                "y f32[4,8] → f32[1,8]: 2 values have 1/4 of the elements,"
                " such as f32[4,8] → f32[1,8] (most at f.py:1, -96 B): -192 B"
            )
        ],
    ),
    "an argument of another size, and one less": Case(
        arguments("y f32[8], e['w'] f32[2]", 64, TASKS.format("f32[8]{0}", 32)),
        arguments("y f32[16]", 64, TASKS.format("f32[16]{0}", 64)),
        [
            (
                "y f32[8] → f32[16]: 2 values have 2 times as many elements,"
                " such as f32[8] → f32[16] (most at f.py:1, +32 B): +64 B"
            ),
            "less fragmentation: -32 B",
            "1 input is gone: e: -8 B",
        ],
    ),
    "more inputs of which the old ones are renamed": Case(
        arguments(
            "y f32[8], p['gru']['w'] f32[8], m['gru']['w'] f32[8]",
            64,
            TASKS.format("f32[8]{0}", 32),
        ),
        arguments(
            "y f32[8], p['gru_1']['w'] f32[8], p['gru_2']['w'] f32[8],"
            " m['gru_1']['w'] f32[8], m['gru_2']['w'] f32[8]",
            64,
            TASKS.format("f32[8]{0}", 32),
        ),
        ["2 new inputs: m['gru_2'], p['gru_2']: +64 B"],
    ),
    "values of one line replaced by those of another": Case(
        temporaries(64, "1 | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(96, "1 | b | f32[24]{0} | 0 | 96 | 1-2 | sine(x) | jit(f)/sin @ f.py:2"),
        [
            (
                "1 value replaced by 1 other at the peak, the largest gone is exp f32[16] (f.py:1),"
                " the largest new is sin f32[24] (f.py:2): +32 B"
            )
        ],
    ),
    **{
        f"a line in another folder: {line}": Case(
            temporaries(64, EXP.format(16, 64, f"/old/{line}")),
            temporaries(128, EXP.format(32, 128, f"/new/{line}")),
            [
                (
                    "1 value has 2 times as many elements, such as f32[16] → f32[32]"
                    f" (mostly {line.removeprefix('site-packages/')}): +64 B"
                )
            ],
        )
        for line in ("f.py:1", "site-packages/q/f.py:1")
    },
    "a value that leaves another memory space": Case(
        tiny_dump(f"{PARAMETER}\n1 | 64 | color 1, preallocated-temp", EXP_OF_X),
        tiny_dump(f"{PARAMETER}\n1 | 64 | preallocated-temp", EXP_OF_X),
        ["1 value no longer in another memory space (mostly f.py:1): +64 B"],
    ),
    "a branch gone next to a loop that both programs have": Case(
        temporaries(
            128,
            f"""
            1 | a | f32[16]{{0}} | 0  | 64 | 1-3 | exp(x) | {LOOP}/exp @ f.py:1
            1 | b | f32[16]{{0}} | 64 | 64 | 2-3 | tanh(x) | {LOOP}/cond/branch_0_fun/tanh @ f.py:2
            """,
        ),
        temporaries(64, f"1 | a | f32[16]{{0}} | 0 | 64 | 1-2 | exp(x) | {LOOP}/exp @ f.py:1"),
        ["1 value of cond gone, none left (mostly f.py:2): -64 B"],
    ),
    "repeated parts that a loop of both programs computes too": Case(
        temporaries(
            128,
            f"""
            1 | a | f32[16]{{0}} | 0  | 64 | 1-2 | exp(x)  | {LOOP}/part_0/exp @ f.py:1
            1 | b | f32[16]{{0}} | 64 | 64 | 2-2 | exp(x)  | jit(f)/part_0/exp @ f.py:1
            1 | c | f32[16]{{0}} | 0  | 64 | 3-4 | tanh(x) | {LOOP}/tanh @ f.py:2
            """,
        ),
        temporaries(
            384,
            f"""
            1 | a | f32[16]{{0}} | 0   | 64 | 1-7 | exp(x) | {LOOP}/part_0/exp @ f.py:1
            1 | b | f32[16]{{0}} | 64  | 64 | 2-7 | exp(x) | jit(f)/part_0/exp @ f.py:1
            1 | d | f32[16]{{0}} | 128 | 64 | 3-7 | exp(x) | jit(f)/part_1/exp @ f.py:1
            1 | e | f32[16]{{0}} | 192 | 64 | 4-7 | exp(x) | jit(f)/part_2/exp @ f.py:1
            1 | g | f32[16]{{0}} | 256 | 64 | 5-7 | exp(x) | {LOOP}/part_1/exp @ f.py:1
            1 | c | f32[16]{{0}} | 320 | 64 | 6-7 | tanh(x) | jit(f)/tanh @ f.py:2
            """,
        ),
        [
            "3 values of part_* at the peak, besides others (mostly f.py:1): +192 B",
            "1 value no longer computed in a loop (mostly f.py:2): +64 B",
        ],
    ),
    "a name that all inputs share is none of one of them": Case(
        arguments(
            "y f32[2], XLA_Args f32[4,4], XLA_Args f32[8,8], XLA_Args f32[4,4]",
            32,
            TASKS.format("f32[8]{0}", 32),
        ),
        arguments(
            "y f32[2], XLA_Args f32[8,8], XLA_Args f32[4,4]", 32, TASKS.format("f32[8]{0}", 32)
        ),
        ["1 input is gone: -64 B"],
    ),
    "values of ops without a name grow as inputs do": Case(
        arguments("y f32[4,8]", 128, "t | a | s32[4,8]{1,0} | 0 | 128 | 1-2 | iota() | \n"),
        arguments("y f32[8,8]", 256, "t | a | s32[8,8]{1,0} | 0 | 256 | 1-2 | iota() | \n"),
        [
            (
                "y f32[4,8] → f32[8,8]: 2 values have 2 times as many elements,"
                " such as f32[4,8] → f32[8,8]: +256 B"
            )
        ],
    ),
    "parameters in a deeper tree, and no moments of them": Case(
        arguments(
            "y f32[8], o[0].mu['a']['w'] f32[4], p['a']['w'] f32[4]",
            32,
            TASKS.format("f32[8]{0}", 32),
        ),
        arguments("y f32[8], v['b']['a']['w'] f32[4]", 32, TASKS.format("f32[8]{0}", 32)),
        ["1 input is gone: o: -16 B"],
    ),
    "moments of each parameter are no repeated part": Case(
        arguments(
            "y f32[8], s[0][0] f32[8], s[0][1] f32[8], s[1][0] f32[8], s[1][1] f32[8]",
            32,
            TASKS.format("f32[8]{0}", 32),
        ),
        arguments("y f32[8], s[0][0] f32[8], s[1][0] f32[8]", 32, TASKS.format("f32[8]{0}", 32)),
        ["2 inputs are gone: s[*][1]: -64 B"],
    ),
    "states of parameters in one list are no repeated part": Case(
        arguments("s[0] f32[8], s[1] f32[4]", 64, ONE),
        arguments(
            "s[0] f32[8], s[1] f32[4], s[2] f32[8], s[3] f32[4]",
            128,
            ONE + "t | b | f32[16]{0} | 64 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1",
        ),
        [
            "2 new inputs: s[*]: +48 B",
            "1 new value at the peak: exp f32[16] (mostly f.py:1): +64 B",
        ],
    ),
    "one more layer in a list of parameters": Case(
        arguments("s[0] f32[8], s[1] f32[4], s[2] f32[2]", 64, ONE),
        arguments(
            "s[0] f32[8], s[1] f32[4], s[2] f32[2], s[3] f32[8], s[4] f32[4]",
            128,
            ONE + "t | b | f32[16]{0} | 64 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1",
        ),
        ["s[*] new, with 2 inputs of a repeated part and 1 value at the peak: +112 B"],
    ),
    "one more part of a list, before the last one": Case(
        arguments(
            "y f32[8], p[0]['w'] f32[8], p[1]['w'] f32[4]", 32, TASKS.format("f32[8]{0}", 32)
        ),
        arguments(
            "y f32[8], p[0]['w'] f32[8], p[1]['w'] f32[8], p[2]['w'] f32[4]",
            32,
            TASKS.format("f32[8]{0}", 32),
        ),
        ["1 new input: p[2]: +32 B"],
    ),
    "one more block, which changes the size of the head": Case(
        arguments(
            "y f32[8], p['block_0']['w'] f32[8], p['head']['w'] f32[8]",
            32,
            TASKS.format("f32[8]{0}", 32),
        ),
        arguments(
            "y f32[8], p['block_0']['w'] f32[8], p['block_1']['w'] f32[8], p['head']['w'] f32[16]",
            32,
            TASKS.format("f32[8]{0}", 32),
        ),
        [
            "p['block_1'] new, with 1 input of a repeated part: +32 B",
            (
                "p['head']['w'] f32[8] → f32[16]: 1 value has 2 times as many elements,"
                " such as f32[8] → f32[16]: +32 B"
            ),
        ],
    ),
    "one more block in the middle, which gives the last one another name": Case(
        arguments(
            "p['block_0']['w'] f32[8], p['block_1']['skip'] f32[4], p['block_1']['w'] f32[16]",
            32,
            TASKS.format("f32[8]{0}", 32),
        ),
        arguments(
            "p['block_0']['w'] f32[8], p['block_1']['w'] f32[8],"
            " p['block_2']['skip'] f32[4], p['block_2']['w'] f32[16]",
            32,
            TASKS.format("f32[8]{0}", 32),
        ),
        ["p['block_2'] new, with 1 input of a repeated part: +32 B"],
    ),
    "a flattened dimension is of another op": Case(
        arguments(
            "y f32[2,4]",
            64,
            """
            t | a | f32[8,2]{1,0} | 0 | 64 | 1-2 | exp(x) | jit(f)/mlp/exp @ f.py:1
            """,
        ),
        arguments(
            "y f32[4,4]",
            384,
            """
            t | b | f32[8,8]{1,0}  | 0   | 256 | 1-2 | exp(x) | jit(f)/mlp/exp @ f.py:1
            t | a | f32[16,2]{1,0} | 256 | 128 | 1-2 | exp(x) | jit(f)/mlp/exp @ f.py:1
            """,
        ),
        [
            (
                "y f32[2,4] → f32[4,4]: 2 values have 2 times as many elements,"
                " such as f32[8,2] → f32[16,2] (mostly f.py:1): +96 B"
            ),
            "1 new value at the peak: exp f32[8,8] (mostly f.py:1): +256 B",
        ],
    ),
    "ops of another rank that moved into a loop": Case(
        temporaries(
            192,
            """
            1 | a | f32[2,16]{1,0} | 0   | 128 | 1-3 | exp(x)    | jit(f)/vmap(net)/exp @ f.py:1
            1 | b | f32[16]{0}     | 128 | 64  | 2-3 | negate(x) | jit(f)/neg @ f.py:2
            """,
        ),
        temporaries(
            128,
            f"""
            1 | a | f32[16]{{0}} | 0  | 64 | 1-3 | exp(x)    | {LOOP}/net/exp @ f.py:9
            1 | b | f32[16]{{0}} | 64 | 64 | 2-3 | negate(x) | jit(f)/neg @ f.py:2
            """,
        ),
        ["1 value now computed in a loop (mostly f.py:1): -64 B"],
    ),
    "a loop around a loop and what is outside of it": Case(
        temporaries(
            192,
            """
            1 | a | f32[4,8]{1,0} | 0   | 128 | 1-3 | exp(x) | jit(f)/jvp()/while/body/exp @ f.py:1
            1 | b | f32[16]{0}    | 128 | 64  | 2-3 | exp(x) | jit(f)/jvp()/exp @ f.py:2
            """,
        ),
        temporaries(
            96,
            f"""
            1 | a | f32[4,4]{{1,0}} | 0  | 64 | 1-3 | exp(x) | {LOOP}/jvp()/while/body/exp @ f.py:1
            1 | b | f32[8]{{0}}     | 64 | 32 | 2-3 | exp(x) | {LOOP}/jvp()/exp @ f.py:2
            """,
        ),
        [
            (
                "1 value now computed in one loop more, with 1/2 of the elements,"
                " such as f32[4,8] → f32[4,4] (mostly f.py:1): -64 B"
            ),
            (
                "1 value now computed in a loop, with 1/2 of the elements,"
                " such as f32[16] → f32[8] (mostly f.py:2): -32 B"
            ),
        ],
    ),
    "one example at a time": Case(
        temporaries(64, "1 | a | f32[8,2]{1,0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(
            128,
            """
            1 | a | f32[8,1,2]{2,1,0} | 0  | 64 | 1-2 | exp(x) | jit(f)/vmap()/exp @ f.py:1
            1 | b | f32[8,2]{1,0}     | 64 | 64 | 1-2 | dot(x) | jit(f)/vmap()/dot_general @ f.py:2
            """,
        ),
        [
            (
                "2 values made by jax.vmap, none before; 1 new value at the peak: dot_general"
                " f32[8,2] (mostly f.py:2): +64 B"
            )
        ],
    ),
    "no fusions": Case(
        temporaries(320, FUSED),
        temporaries(384, FUSED.replace("fusion(", "exp(") + UNFUSED),
        [
            (
                "no fusion of several instructions now, 5 before,"
                " with what they replace (mostly f.py:2): +64 B"
            )
        ],
    ),
    "a checkpoint keeps more": Case(
        temporaries(64, CHECKPOINTED),
        temporaries(
            128,
            f"{CHECKPOINTED}1 | b | f32[16]{{0}} | 64 | 64 | 1-2 | exp(x)"
            " | jit(f)/reduce_precision @ f.py:2",
        ),
        [
            (
                "1 new value at the peak, which the policy of a checkpoint keeps:"
                " reduce_precision f32[16] (mostly f.py:2): +64 B"
            )
        ],
    ),
    "a loop less around a checkpoint": Case(
        temporaries(
            32,
            f"1 | b | f32[8]{{0}} | 0 | 32 | 1-2 | exp(x) | jit(f)/while/body/{IN_LOOP} @ f.py:2",
        ),
        temporaries(
            64, f"1 | b | f32[16]{{0}} | 0 | 64 | 1-2 | exp(x) | jit(f)/{IN_LOOP} @ f.py:2"
        ),
        [
            (
                "1 value now computed in one loop less, with 2 times as many elements, such as"
                " f32[8] → f32[16] (mostly f.py:2): +32 B"
            )
        ],
    ),
    "values cast to complex numbers": Case(
        temporaries(64, "1 | a | f32[16]{0} | 0 | 64 | 1-2 | exp(x) | jit(f)/exp @ f.py:1"),
        temporaries(
            192,
            """
            1 | a | f32[16]{0} | 0  | 64  | 1-3 | exp(x)     | jit(f)/exp @ f.py:1
            1 | b | c64[16]{0} | 64 | 128 | 2-3 | convert(a) | jit(f)/convert_element_type @ f.py:2
            """,
        ),
        ["1 more value cast to c64 at the peak (mostly f.py:2): +128 B"],
    ),
    "an output in the bytes of a temporary value": Case(
        tiny_dump(
            f"{PARAMETER}, maybe-live-out\n1 | 64 | preallocated-temp",
            """
            0 | x   | f32[16]{0} | 0 | 64 | 0-1 | parameter(0) | w
            1 | a   | f32[16]{0} | 0 | 64 | 1-2 | exp(x)       | jit(f)/exp @ f.py:1
            0 | out | f32[16]{0} | 0 | 64 | 2-3 | negate(a)    | jit(f)/sub @ f.py:2
            """,
        ),
        tiny_dump(
            f"{PARAMETER}\n1 | 64 | maybe-live-out",
            """
            0 | x   | f32[16]{0} | 0 | 64 | 0-3 | parameter(0) | w
            1 | a   | f32[16]{0} | 0 | 64 | 1-1 | exp(x)       | jit(f)/exp @ f.py:1
            1 | out | f32[16]{0} | 0 | 64 | 2-3 | negate(a)    | jit(f)/sub @ f.py:2
            """,
        ),
        [
            (
                "1 input is no longer donated (w) (64 B of outputs, less 64 B of temporary values"
                " that share them): 0 B"
            )
        ],
    ),
}
