"""`advise` names logits of TPUs: products that are convolutions, or that lie in VMEM."""

import pytest

from xlagraph.advice.causes.peak_values import JOINED_PARTS
from xlagraph.advice.causes.softmax_logits import logits


def test_a_tpu_computes_products_as_convolutions_with_a_table_that_it_fetches_in_parts(programs):
    program = programs(
        """
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {}
        1 | 131072 | parameter 1, shape |s8[8192,16]| at ShapeIndex {}
        2 | 1179840 | preallocated-temp
        """,
        """
        0 | head  | s8[8192,16] | 0       | 131072 | 0-6 | parameter(0)
        1 | state | s8[8192,16] | 0       | 131072 | 0-6 | parameter(1)
        2 | low   | s8[4096,16] | 524288  | 65536  | 1-3 | slice(head)
        2 | high  | s8[4096,16] | 589824  | 65536  | 2-3 | slice(head)
        2 | whole | s8[8192,16] | 1048704 | 131072 | 3-4 | custom-call(low, high)
        2 | rows  | s8[64,8192] | 0       | 524288 | 4-5 | convolution(whole)
        2 | exp   | s8[64,8192] | 524288  | 524288 | 5-6 | exponential(rows)
        2 | sum   | s8[64]      | 1048576 | 64     | 6-7 | reduce(exp) | jit(f)/sum @ f.py:8
        2 | out   | s8[64]      | 1048640 | 64     | 7-8 | divide(sum, exp)
        """,
    )
    joined = program.instructions["whole"]._replace(target=JOINED_PARTS)
    program.instructions |= {"whole": joined}
    (cause,) = logits(program)
    assert cause.rows[0]["reason"] == "64 × 8192 products with head, which f.py:8 reduces"


@pytest.mark.parametrize("is_in_hbm", [True, False])
def test_logits_in_vmem_are_found_by_their_gradient_in_hbm(programs, is_in_hbm):
    gradient = "" if is_in_hbm else "color 1, "
    program = programs(
        f"""
        0 | 131072 | parameter 0, shape |s8[8192,16]| at ShapeIndex {{}}
        1 | 524416 | color 1, preallocated-temp
        2 | 524288 | {gradient}preallocated-temp
        """,
        """
        0 | head  | s8[8192,16] | 0      | 131072 | 0-5 | parameter(0)
        1 | rows  | s8[64,8192] | 0      | 524288 | 1-4 | convolution(head)
        1 | max   | s8[64]      | 524288 | 64     | 2-3 | reduce(rows) | jit(f)/max @ f.py:8
        1 | sum   | s8[64]      | 524352 | 64     | 3-4 | fusion(rows, max) | jit(f)/sum @ f.py:8
        2 | grad  | s8[64,8192] | 0      | 524288 | 4-5 | fusion(rows, sum)
        """,
    )
    for name, opcodes in (("sum", ("exponential", "reduce")), ("grad", ("exponential", "divide"))):
        fused = program.instructions[name]._replace(fused_opcodes=opcodes)
        program.instructions |= {name: fused}
    causes = list(logits(program))
    assert [[row["value"] for row in each.rows] for each in causes] == [["grad"]] * is_in_hbm
    reasons = {row["reason"] for each in causes for row in each.rows}
    assert reasons <= {"64 × 8192 products with head, which f.py:8 reduces"}
