"""The savings of donating an input, planned for each row, and where a called computation writes."""

from dataclasses import replace

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from tests.tiny_dumps import tiny_dump
from xlagraph.advice.planned_donations import best_donation, eager_operation, naming_arguments
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.records import StoredFrame
from xlagraph.planner.edits.donating import Donate
from xlagraph.planner.edits.edit import replan
from xlagraph.planner.planned_program import Overwrite, PlannedAllocation
from xlagraph.queries import Changes, run, whatif, with_planned_donations
from xlagraph.queries.catalogue.declarations import Advice, ChangeKind

MODULE = """HloModule jit_f, is_scheduled=true

%parallel_dot (p: f32[16], q: f32[16]) -> f32[16] {
  %p = f32[16]{0} parameter(0)
  %q = f32[16]{0} parameter(1)
  ROOT %dot.clone = f32[16]{0} dot(%p, %q)
}

ENTRY %main (x: f32[16], y: f32[16]) -> (f32[4,4], f32[]) {
  %x = f32[16]{0} parameter(0)
  %y = f32[16]{0} parameter(1)
  %call = f32[16]{0} call(%x, %y), to_apply=%parallel_dot
  %shaped = f32[4,4]{1,0} bitcast(%call)
  %loose = f32[] reduce(%y)
  ROOT %tuple = (f32[4,4]{1,0}, f32[]) tuple(%shaped, %loose)
}
"""
ALLOCATIONS = """
    0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {}
    1 | 64 | parameter 1, shape |f32[16]| at ShapeIndex {}
    2 | 64 | maybe-live-out
    3 | 4  | maybe-live-out
    4 | 16 | output shape is |(f32[4,4], f32[])|, maybe-live-out
"""
VALUES = """
    0 | x, p | f32[16]{0} | 0 | 64 | 0-5 | parameter(0)
    1 | y, q | f32[16]{0} | 0 | 64 | 0-5 | parameter(1)
    2 | dot.clone, call, shaped, tuple{0} | f32[16]{0} | 0 | 64 | 2-5 | dot(x, y)
    3 | loose, tuple{1} | f32[] | 0 | 4 | 3-5 | reduce(y)
    4 | tuple | (f32[16]{0}, f32[]) | 0 | 16 | 4-5 | tuple(shaped, loose)
"""


def write(folder, module, values, allocations=ALLOCATIONS):
    folder.mkdir(parents=True)
    stem = "module_0001.jit_f.cpu_after_optimizations"
    if module:
        (folder / f"{stem}.txt").write_text(module)
    (folder / f"{stem}-buffer-assignment.txt").write_text(tiny_dump(allocations, values))


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """A result of a called computation: returned in another shape, and unchanged."""
    folder = tmp_path_factory.mktemp("donations")
    flat = MODULE.replace("f32[4,4]{1,0} bitcast", "f32[16]{0} bitcast")
    flat = flat.replace("(f32[4,4]{1,0}, f32[]) tuple", "(f32[16]{0}, f32[]) tuple")
    shaped = VALUES.replace("(f32[16]{0}, f32[])", "(f32[4,4]{1,0}, f32[])")
    write(folder / "runs" / "shaped", MODULE, shaped)
    write(folder / "runs" / "flat", flat, VALUES)
    write(folder / "runs" / "bare", None, VALUES)
    with open_graph(folder / "g.lbug", create=True) as graph:
        ingest(graph, folder / "runs", jobs=1)
        yield graph


def outcomes(graph, number):
    found = whatif(graph, "flat", Changes(donate=[number]))
    return [each.outcome for each in found.donated]


def test_the_writer_of_a_result_is_found_inside_the_called_computation(graph):
    # a product reads its operands in another order than it writes,
    assert outcomes(graph, "0") == ["copied last"]
    # and `loose` may read `y` later
    assert outcomes(graph, "1") == ["copied first"]


SORT = """HloModule jit_f, is_scheduled=true

%less (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %lt = pred[] compare(%a, %b), direction=LT
}

ENTRY %main (x: f32[16]) -> f32[16] {
  %x = f32[16]{0} parameter(0)
  ROOT %made = f32[16]{0} sort(%x), dimensions={0}, to_apply=%less
}
"""


def test_a_sort_is_not_written_over_the_parameter_that_it_sorts(tmp_path):
    allocations = """
        0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {}
        1 | 64 | maybe-live-out
    """
    values = """
        0 | x    | f32[16]{0} | 0 | 64 | 0-2 | parameter(0)
        1 | made | f32[16]{0} | 0 | 64 | 1-2 | OP(x)
    """
    ops = {"sort": "sort(%x), dimensions={0}, to_apply=%less", "negate": "negate(%x)"}
    for opcode, text in ops.items():
        module = SORT.replace(ops["sort"], text)
        write(tmp_path / "runs" / opcode, module, values.replace("OP", opcode), allocations)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        ingest(graph, tmp_path / "runs", jobs=1)
        found = {
            opcode: whatif(graph, opcode, Changes(donate=["0"])).donated[0].outcome
            for opcode in ops
        }
    assert found == {"sort": "copied last", "negate": "in place"}


def test_a_result_takes_the_bytes_of_inputs_of_the_returned_shape(graph):
    (donated,) = whatif(graph, "shaped", Changes(donate=["0"])).donated
    assert (donated.output, donated.outcome) == (None, "no output")


def test_rows_of_inputs_have_the_savings_that_whatif_predicts(graph):
    answer = with_planned_donations(graph, run(graph, "alias/not-donated", compilation="flat"))
    rows = answer.result.mappings()
    assert [row["parameterNumber"] for row in rows] == [0, 1]
    for row in rows:
        planned = whatif(graph, "flat", Changes(donate=[str(row["parameterNumber"])]))
        assert row["savedBytes"] == planned.saved_bytes


def test_without_a_module_the_savings_stay_an_estimate_and_a_note_says_so(graph):
    asked = run(graph, "alias/not-donated", compilation="bare")
    answer = with_planned_donations(graph, asked)
    assert answer.result.rows == asked.result.rows
    assert answer.notes[-1] == (
        "savedBytes is an estimate: without module text nothing can be replanned"
    )
    other = run(graph, "alias/donated", compilation="flat")
    assert with_planned_donations(graph, other) is other


def argument_and_result(*, is_read_late):
    """A parameter whose copy for a late reader needs as many bytes as donating it saves."""
    given = PlannedAllocation(0, 64, "parameter", 0, parameter_number=0, shape_index="{}")
    return compilation(
        (
            value(0, 0, 5, 64, allocation=0, is_stored=True, instruction="v0"),
            value(
                1, 3, 5, 64, lives_out=True, reads=() if is_read_late else (2,), instruction="v1"
            ),
            value(2, 4 if is_read_late else 2, 5, 4, lives_out=True, reads=(0,), instruction="v2"),
        ),
        (
            facts(0, "f32[16]{0}", "parameter", "state['w']", size_bytes=64, needed_until=4),
            facts(1, "f32[16]{0}", size_bytes=64),
            facts(2, "f32[]", size_bytes=4),
        ),
        allocations=(given,),
        results=(1,),
        parameters={0: (0, "{}")},
        platform="cpu",
    )


def test_the_best_donation_takes_whole_arguments():
    edit, note = best_donation(argument_and_result(is_read_late=False), ["v0"], 0)
    assert edit is not None
    assert (edit.names, note) == (("state[*]*",), None)


def test_a_donation_that_costs_memory_is_a_note_and_no_finding():
    edit, note = best_donation(argument_and_result(is_read_late=True), ["v0"], 0)
    assert edit is None
    assert note is not None
    assert note.startswith("donating all inputs that fit outputs costs")


def test_a_donation_whose_plan_has_larger_holes_is_not_said_to_cost_memory():
    """The donation needs no more bytes at the peak, but they are packed with a larger hole."""
    given = PlannedAllocation(0, 16, "parameter", 0, parameter_number=0, shape_index="{}")
    held = ((2, 4, 64), (3, 6, 16), (3, 6, 64), (4, 5, 32), (5, 6, 32), (6, 7, 48))
    compiled = compilation(
        (
            value(0, 0, 9, 16, allocation=0, is_stored=True, instruction="v0"),
            value(1, 7, 9, 16, lives_out=True, instruction="v1"),
            value(2, 8, 9, 4, lives_out=True, reads=(0,), instruction="v2"),
            *(
                value(number, first, last, size, offset_bytes=64 * number, instruction=f"v{number}")
                for number, (first, last, size) in enumerate(held, 3)
            ),
        ),
        (
            facts(0, "f32[4]{0}", "parameter", "state['w']", size_bytes=16, needed_until=8),
            facts(1, "f32[4]{0}", size_bytes=16),
            facts(2, "f32[]", size_bytes=4),
        ),
        allocations=(given,),
        results=(1,),
        parameters={0: (0, "{}")},
        platform="cpu",
    )
    assert replan(compiled, [Donate.of(compiled, ["v0"])]).saved_bytes() < 0
    assert best_donation(compiled, ["v0"], 0) == (None, None)


def test_a_state_that_is_donated_alone_is_paired_anew_with_the_parameters():
    """The new weights took the bytes of the state, which was copied, and the new state has none."""
    given = {"is_stored": True, "instruction": "given"}
    stored = {"op_name": "", "size_bytes": 64, "needed_until": 2}
    weights, state = (
        PlannedAllocation(number, 64, "parameter", 0, number, "{}", maybe_live_out=number == 1)
        for number in (0, 1)
    )
    compiled = compilation(
        (
            value(0, 0, 6, 64, allocation=0, **given),
            value(1, 0, 1, 64, allocation=1, buffer_set=1, **given),
            value(2, 1, 5, 64, is_copy=True, reads=(1,), operands=(1,), instruction="copy"),
            value(
                3,
                4,
                6,
                64,
                buffer_set=1,
                allocation=1,
                lives_out=True,
                reads=(0, 2),
                instruction="w",
            ),
            value(4, 5, 6, 64, lives_out=True, reads=(2, 3), instruction="m"),
        ),
        (
            facts(0, "f32[16]{0}", "parameter", **stored | {"op_name": "w"}),
            facts(1, "f32[16]{0}", "parameter", **stored | {"op_name": "m"}),
            facts(2, "f32[16]{0}", "copy", size_bytes=64),
            facts(3, "f32[16]{0}", size_bytes=64),
            facts(4, "f32[16]{0}", size_bytes=64),
        ),
        allocations=(weights, state),
        results=(3, 4),
        parameters={0: (0, "{}"), 1: (1, "{}")},
        platform="cpu",
    )
    taken = {
        3: (Overwrite(0, is_operand=True, may_share_block=True),),
        4: (Overwrite(2, is_operand=True, may_share_block=True),),
    }
    compiled = replace(compiled, program=replace(compiled.program, overwrites=taken))
    replanned = replan(compiled, [Donate.matching(compiled, ["w"])])
    assert replanned.edited is not None
    assert [(each.parameter, each.output) for each in replanned.edited.donated] == [("v0", "v3")]
    sets = {each.value_id: each.buffer_set for each in replanned.program.values}
    assert 2 not in sets
    assert (sets[0], sets[1]) == (sets[3], sets[4])
    assert replanned.saved_bytes() == 64


@pytest.mark.parametrize(
    ("op_name", "text"),
    [
        ("dynamic_nodonate['rest'][3]", 'equinox.filter_jit(donate="all")'),
        ("flat_args[3]", "positions in jax.pmap(..., donate_argnums=...)"),
        ("args[3]", "because *args have no names"),
    ],
)
def test_arguments_that_a_wrapper_names_are_donated_as_it_donates(op_name, text):
    advice = Advice("savedBytes", "reserved", "", (), None, {}, ChangeKind.DONATE)
    compiled = compilation((), (), allocations=(), parameters={})
    remedy = naming_arguments(advice, [{"opName": op_name}], compiled).remedies["jax"]
    assert text in remedy
    assert "donate_argnames" not in remedy


def test_what_is_donated_already_stays_among_the_arguments_to_donate():
    given = PlannedAllocation(0, 64, "parameter", 0, maybe_live_out=True, parameter_number=0)
    compiled = compilation(
        (value(0, 0, 5, 64, allocation=0, is_stored=True),),
        (facts(0, "f32[16]{0}", "parameter", "momentum['w']"),),
        allocations=(given,),
        parameters={0: (0, "{}")},
    )
    advice = Advice("savedBytes", "reserved", "", (), None, {}, ChangeKind.DONATE)
    named = naming_arguments(advice, [{"opName": "weights['w']"}], compiled)
    assert 'donate_argnames=("weights", "momentum")' in named.remedies["jax"]


@pytest.mark.parametrize(
    ("functions", "name"),
    [
        pytest.param({"a": ("main", None)}, "add", id="one call of jnp.add"),
        pytest.param({"a": ("main.<locals>.add", None)}, None, id="a function of that name"),
        pytest.param({"a": ("<lambda>", None)}, None, id="a lambda function"),
        pytest.param({"a": ("main", "b"), "b": ("add", None)}, None, id="called by it"),
        pytest.param({}, None, id="no call stacks"),
    ],
)
def test_an_operation_of_jax_alone_has_no_jitted_function_to_donate_to(programs, functions, name):
    program = programs(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | maybe-live-out
        """,
        """
        0 | x   | f32[1024] | 0 | 4096 | 0-1 | parameter(0) | x
        1 | add | f32[1024] | 0 | 4096 | 1-1 | add(x, x) | jit(add)/add
        """,
    )
    program.stored.frame_by_value = dict.fromkeys(range(1, 2), "a") if functions else {}
    program.stored.frames = {
        key: StoredFrame(key, caller, function, "main.py", 3)
        for key, (function, caller) in functions.items()
    }
    assert eager_operation(program.stored) == name
    advice = Advice("savedBytes", "reserved", "", (), None, {}, ChangeKind.DONATE)
    named = naming_arguments(advice, [{"opName": "x"}], program.compilation, eager=name)
    is_said = "The program is one operation of JAX, add:" in named.remedies["jax"]
    assert is_said == (name is not None)
