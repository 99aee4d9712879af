"""Positions and readers of a value follow from the operands that each opcode forwards."""

import pytest

from tests.ingest.carriers.proto.small_protos import hlo, positions, problems, read, uses
from xlagraph.ingest.errors import UnreadableDump

P = "main:\n  p = f32[4] parameter(0) <1>\n"
PAIR = "main:\n  p = (f32[4], f32[4]) parameter(0) <1{} 2{0} 3{1}>\n"


@pytest.mark.parametrize(
    ("text", "value", "where", "readers"),
    [
        (f"{P}  ROOT b = s32[4] bitcast(p)\n", 1, "p b", "b.0"),
        (f"{P}  ROOT t = (f32[4], f32[4]) tuple(p, p) <2{{}}>\n", 1, "p t{0} t{1}", "t.0 t.1"),
        (f"{PAIR}  ROOT g = f32[4] get-tuple-element(p) calls=1\n", 3, "p{1} g", "g.0{1}"),
        (f"{PAIR}  ROOT g = f32[4] get-tuple-element(p) calls=1\n", 2, "p{0}", ""),
        (f"{PAIR}  ROOT g = f32[4] get-tuple-element(p) calls=1\n", 1, "p{}", "g.0{}"),
        (f"{PAIR}  ROOT c = (f32[4], f32[4]) copy(p) <4{{}}>\n", 2, "p{0} c{0}", "c.0{0}"),
        (f"{PAIR}  ROOT c = (f32[4], f32[4]) copy(p) <4{{}}>\n", 1, "p{}", "c.0{}"),
        (f"{P}  ROOT a = f32[4] add(p, p) <2>\n", 1, "p", "a.0 a.1"),
        (
            (f"{P}  s = (f32[4], f32[4], s32[]) copy-start(p) <2{{}} 3{{0}} 4{{2}}>\n"
            "  ROOT d = f32[4] copy-done(s)\n"),
            1, "p s{1}", "s.0 d.0{1}",
        ),
        (
            (f"{P}  s = (f32[4], f32[4], s32[]) copy-start(p) <2{{}} 3{{0}} 4{{2}}>\n"
            "  ROOT d = f32[4] copy-done(s)\n"),
            3, "s{0} d", "d.0{0}",
        ),
        (
            (f"{P}  s = (f32[4], f32[8]) all-gather-start(p) <2{{}} 3{{1}}>\n"
            "  ROOT d = f32[8] all-gather-done(s)\n"),
            3, "s{1} d", "d.0{1}",
        ),
        (
            (f"{P}  q = f32[4] parameter(1) <5>\n"
            "  s = ((f32[4], f32[4]), (f32[8], f32[8])) all-gather-start(p, q)"
            " <2{} 3{0} 4{1} 6{1,0} 7{1,1}>\n"
            "  ROOT d = (f32[8], f32[8]) all-gather-done(s) <8{}>\n"),
            5, "q s{0,1}", "s.1 d.0{0,1}",
        ),
        (
            (f"{P}  s = (f32[4], f32[4], s32[]) collective-permute-start(p) <2{{}} 3{{1}} 4{{2}}>\n"
            "  ROOT d = f32[4] collective-permute-done(s)\n"),
            3, "s{1} d", "d.0{1}",
        ),
        (
            (f"{P}  s = (f32[4], s32[], token[]) send(p) <2{{}} 3{{1}} 4{{2}}>\n"
            "  ROOT d = token[] send-done(s) <5>\n"),
            1, "p s{0}", "s.0 d.0{0}",
        ),
        (
            (f"{P}  r = (f32[4], s32[], token[]) recv(p) <2{{}} 3{{0}} 4{{1}} 6{{2}}>\n"
            "  ROOT d = (f32[4], token[]) recv-done(r) <5{} 7{1}>\n"),
            3, "r{0} d{0}", "d.0{0}",
        ),
    ],
)  # fmt: skip
def test_an_opcode_forwards_values(text: str, value: int, where: str, readers: str):
    plan, _ = read(hlo(text))
    assert positions(plan)[value] == where
    assert uses(plan)[value] == readers


def test_a_loop_passes_its_operand_to_condition_and_body():
    plan, _ = read(
        hlo(
            "cond:\n"
            "  c = (f32[4], s32[]) parameter(0) <1{1}>\n"
            "  ROOT l = pred[] constant() <2>\n"
            "body:\n"
            "  b = (f32[4], s32[]) parameter(0) <3{1}>\n"
            "  x = f32[4] get-tuple-element(b) calls=0\n"
            "  i = s32[] constant() <4>\n"
            "  ROOT n = (f32[4], s32[]) tuple(x, i) <5{}>\n"
            "main:\n"
            "  p = (f32[4], s32[]) parameter(0) <6{} 7{0} 8{1}>\n"
            "  ROOT w = (f32[4], s32[]) while(p) calls=body,cond <9{1}>\n"
        )
    )
    assert positions(plan)[7] == "p{0} c{0} b{0} x n{0} w{0}"
    assert uses(plan)[7] == "n.0 w.0{0}"
    assert positions(plan)[9] == "w{1}"
    assert [value.is_phi for value in plan.values if value.value_id in (1, 3, 7, 9)] == [
        True, True, False, True,
    ]  # fmt: skip


def test_a_branch_gets_the_operand_of_its_number():
    plan, _ = read(
        hlo(
            "one:\n  ROOT a = f32[4] parameter(0) <1>\n"
            "two:\n  b = f32[4] parameter(0) <2>\n  ROOT n = f32[4] negate(b) <3>\n"
            "main:\n"
            "  i = s32[] parameter(0) <4>\n  p = f32[4] parameter(1) <5>\n"
            "  ROOT c = f32[4] conditional(i, p, p) calls=one,two <6>\n"
        )
    )
    assert positions(plan)[5] == "p"
    assert (uses(plan)[5], uses(plan)[2]) == ("c.1 c.2", "n.0")
    assert [value.label for value in plan.values if value.is_phi] == ["a", "b", "c"]


def test_a_call_returns_the_values_of_its_root():
    plan, _ = read(
        hlo(
            "f:\n  a = f32[4] parameter(0)\n  ROOT n = f32[4] negate(a) <1>\n"
            "main:\n  p = f32[4] parameter(0) <2>\n  ROOT c = f32[4] call(p) calls=f\n"
        )
    )
    assert positions(plan) == {1: "n c", 2: "p a"}
    assert uses(plan) == {1: "", 2: "n.0 c.0"}


def test_an_asynchronous_computation_forwards_only_arrays():
    plan, program = read(
        hlo(
            "f:\n  a = f32[4] parameter(0)\n  ROOT n = f32[2] slice(a) <1>\n"
            "main:\n  p = f32[4] parameter(0) <2>\n"
            "  s = ((f32[4]), f32[2], s32[]) async-start(p) calls=f <3{} 4{0} 5{2}>\n"
            "  ROOT d = f32[2] async-done(s)\n"
        )
    )
    assert positions(plan)[1] == "n s{1} d"
    assert positions(plan)[2] == "p a s{0,0}"
    assert program.instructions["s"].opcode == "slice-start"


def test_a_root_uses_the_values_that_it_returns():
    plan, _ = read(
        hlo(
            f"{PAIR}  g = f32[4] get-tuple-element(p) calls=0\n"
            "  ROOT t = (f32[4]) tuple(g) <4{}>\n"
        )
    )
    assert uses(plan)[2] == "t.0"


def test_a_computation_run_by_two_calls_is_reported():
    assert problems(
        hlo(
            "f:\n  a = f32[4] parameter(0)\n  ROOT n = f32[4] negate(a) <1>\n"
            "main:\n  p = f32[4] parameter(0) <2>\n  c = f32[4] call(p) calls=f\n"
            "  ROOT d = f32[4] call(c) calls=f\n"
        )
    ) == [
        (
            "jit_f(8).hlo_proto.pb: several instructions run f; its parameters are taken "
            "from the first one"
        )
    ]


def test_a_reducer_is_outside_of_the_schedule():
    plan, _ = read(
        hlo(
            "add:\n  x = f32[] parameter(0) <1>\n  y = f32[] parameter(1) <2>\n"
            "  ROOT z = f32[] add(x, y) <3>\n"
            "main:\n  p = f32[4] parameter(0) <4>\n  k = f32[] constant() <5>\n"
            "  ROOT r = f32[] reduce(p, k) calls=add <6>\n"
        )
    )
    assert positions(plan) == {1: "x", 2: "y", 3: "z", 4: "p", 5: "k", 6: "r"}
    assert uses(plan)[1] == "z.0"
    assert [name for name, *_ in plan.live_ranges.ranges] == ["p", "k", "r"]  # type: ignore[union-attr]


def test_a_program_that_runs_itself_is_refused():
    text = "f:\n  a = f32[4] parameter(0) <1>\n  ROOT n = f32[4] call(a) calls=f\n"
    with pytest.raises(UnreadableDump, match="expected a program that ends, but f runs itself"):
        read(
            hlo(f"{text}main:\n  p = f32[4] parameter(0) <2>\n  ROOT c = f32[4] call(p) calls=f\n")
        )
