"""`advise` names weights to which a low-rank product is added before they are used."""

import pytest

from xlagraph.advice.causes.merged_weights import merged_weights
from xlagraph.advice.causes.peak_values import JOINED_PARTS


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        pytest.param({}, ["p", "s"], id="adapters"),
        pytest.param({"made": "dot(w, a, b)"}, ["s"], id="in one fusion"),
        pytest.param({"rank": 8}, [], id="a product of full rank"),
        pytest.param({"reader": "tanh(s)"}, [], id="another reader"),
        pytest.param({"added": "x"}, [], id="no weights"),
        pytest.param({"factor": "c"}, [], id="a factor that is computed"),
    ],
)
def test_a_sum_of_weights_and_a_thin_product_that_only_products_read_is_named(
    programs, changed, named
):
    known = {"rank": 1, "reader": "dot(x, s)", "added": "w", "factor": "b", "made": None, **changed}
    made = known["made"] or f"add(p, {known['added']})"
    rank = known["rank"]
    program = programs(
        "0 | 64 | parameter 0\n1 | 64 | parameter 1\n2 | 64 | parameter 2\n3 | 64 | parameter 3\n"
        "4 | 1024 | preallocated-temp",
        f"""
        0 | w | s8[8,8]      | 0   | 64 | 0-5 | parameter(0) | base['w'][0]
        1 | a | s8[8,{rank}] | 0   | 64 | 0-5 | parameter(1)
        2 | b | s8[{rank},8] | 0   | 64 | 0-5 | parameter(2)
        3 | x | s8[4,8]      | 0   | 32 | 0-5 | parameter(3)
        4 | c | s8[{rank},8] | 512 | 64 | 1-3 | tanh(b)
        4 | p | s8[8,8]      | 0   | 64 | 2-3 | dot(a, {known["factor"]})
        4 | s | s8[8,8]      | 64  | 64 | 3-4 | {made} | jit(f)/add @ f.py:2
        4 | y | s8[4,8]      | 128 | 32 | 4-5 | {known["reader"]}
        """,
    )
    if known["made"]:
        program.instructions["s"] = program.instructions["s"]._replace(fused_opcodes=("dot", "add"))
    rows = [row for cause in merged_weights(program) for row in cause.rows]
    assert sorted(str(row["value"]) for row in rows) == named
    assert all("rank 1 is added to all of base['w'][0]" in str(row["reason"]) for row in rows)


@pytest.mark.parametrize(("space", "named"), [("color 1, ", ["s"]), ("", [])])
def test_a_tpu_multiplies_with_parts_that_it_takes_to_vmem(programs, space, named):
    program = programs(
        "0 | 64 | parameter 0\n1 | 64 | parameter 1\n2 | 64 | parameter 2\n3 | 64 | parameter 3\n"
        f"4 | 256 | preallocated-temp\n5 | 256 | {space}preallocated-temp",
        """
        0 | w   | s8[8,8] | 0   | 64 | 0-6 | parameter(0)
        1 | a   | s8[8,1] | 0   | 8  | 0-6 | parameter(1)
        2 | b   | s8[1,8] | 0   | 8  | 0-6 | parameter(2)
        3 | x   | s8[4,8] | 0   | 32 | 0-6 | parameter(3)
        4 | s   | s8[8,8] | 0   | 64 | 1-4 | fusion(w, a, b) | jit(f)/add @ f.py:2
        5 | low | s8[4,8] | 0   | 32 | 2-5 | slice(s)
        5 | end | s8[4,8] | 64  | 32 | 3-5 | slice(s)
        5 | all | s8[8,8] | 128 | 64 | 4-6 | custom-call(low, end)
        4 | y   | s8[4,8] | 64  | 32 | 5-6 | fusion(x, all)
        """,
    )
    program.instructions |= {
        "s": program.instructions["s"]._replace(fused_opcodes=("convolution", "add")),
        "y": program.instructions["y"]._replace(fused_opcodes=("convolution",)),
        "all": program.instructions["all"]._replace(target=JOINED_PARTS),
    }
    rows = [row for cause in merged_weights(program) for row in cause.rows]
    assert [row["value"] for row in rows] == named


@pytest.mark.parametrize(("target", "named"), [("__cublas$lt$matmul", ["s"]), ("callback", [])])
def test_a_library_adds_the_weights_in_its_product(programs, target, named):
    program = programs(
        "0 | 64 | parameter 0\n1 | 64 | parameter 1\n2 | 64 | parameter 2\n3 | 64 | parameter 3\n"
        "4 | 256 | preallocated-temp",
        """
        0 | w | s8[8,8] | 0  | 64 | 0-3 | parameter(0)
        1 | a | s8[8,1] | 0  | 8  | 0-3 | parameter(1)
        2 | b | s8[1,8] | 0  | 8  | 0-3 | parameter(2)
        3 | x | s8[4,8] | 0  | 32 | 0-3 | parameter(3)
        4 | s | s8[8,8] | 0  | 64 | 1-3 | custom-call(a, b, w) | jit(f)/add @ f.py:2
        4 | y | s8[4,8] | 64 | 32 | 2-3 | custom-call(x, s)
        """,
    )
    for name in ("s", "y"):
        program.instructions[name] = program.instructions[name]._replace(target=target)
    rows = [row for cause in merged_weights(program) for row in cause.rows]
    assert [row["value"] for row in rows] == named
