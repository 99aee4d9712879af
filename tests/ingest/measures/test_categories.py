"""Categories of values, each with the smallest program that shows it."""

import pytest

from tests.ingest.rows.small_dump import nodes, pairs, rows_of
from xlagraph.ingest.measures.input_categories import category_of_input_name


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("params['Dense_0']['kernel']", "weight"),
        ("model.states[0][1]", "weight"),
        ("state.params['linear']['w']", "weight"),
        ("opt_state[0].mu['params']['Dense_0']['kernel']", "optimizerState"),
        ("optimizer.states[0][3]", "optimizerState"),
        ("state.batch_stats['mean']", "state"),
        ("grads['w']", "gradient"),
        ("batch['x']", "batch"),
        ("state[0]", None),
        ("o[0].mu['Dense_0']['kernel']", "optimizerState"),
        ("o[0].mu['params']['Dense_0']['kernel']", "optimizerState"),
        ("params['layers'][0]['mu']", "weight"),
        ("x", None),
        ("jit(f)/jvp(model)/dot", None),
    ],
)
def test_the_name_of_an_input_shows_its_category(name, category):
    assert category_of_input_name(name) == category


def dump_of(*lines, end):
    """Return a dump of lines: allocation, its facts, value, first, last step, text, op name.

    The op name may end with ` @ FILE`.
    """
    out, used, ranges, schedule = ["BufferAssignment:"], ["Used values:"], [], {}
    allocations: dict[tuple[int, str], list[tuple[int, str]]] = {}
    for number, (allocation, facts, name, first, last, text, op_name) in enumerate(lines):
        allocations.setdefault((allocation, facts), []).append((number, name))
        readers = [(each[2], text_of(each)) for each in lines if f"%{name}," in text_of(each)]
        used += [f"<{number} {name} @0>", " positions:", f"  {name}", " uses:"]
        used += [f"  {reader}, operand 0" for reader, _ in readers]
        op, _, file = op_name.partition(" @ ")
        place = f' source_file="{file}" source_line=7' if file else ""
        metadata = f', metadata={{op_name="{op}"{place}}}' if op else ""
        used += [f" from instruction: %{name} = f32[4]{{0}} {text.replace(',)', ')')}{metadata}"]
        ranges.append(f"    {name}{{}}:{first}-{last}")
        schedule[first] = name
    for (allocation, facts), values in allocations.items():
        out += [f"allocation {allocation}: size 16, {facts}:"]
        out += [f" value: <{n} {name} @0> (size=16,offset=0): f32[4]{{0}}" for n, name in values]
    out += ["", "Total bytes used: 1 (1B)", "", *used, "", f"HloLiveRange (max {end}):"]
    out += [
        "  InstructionSequence:",
        *(f"    {step}:{schedule[step]}" for step in sorted(schedule)),
    ]
    out += ["  BufferLiveRange:", *ranges, "  Live ranges at 0 (peak):"]
    out += [f"    {lines[0][2]}: 16 bytes"]
    return "\n".join(out) + "\n"


def text_of(line):
    return line[5]


def categories_of(*lines, end, patterns=()):
    rows = rows_of(dump_of(*lines, end=end), patterns=patterns)
    return dict(pairs(nodes(rows, "Value", "name", "category")))


P = "parameter {}, shape |f32[4]| at ShapeIndex {{}}"
TEMP = "preallocated-temp"
STEP = (
    (0, P.format(0) + ", maybe-live-out", "w", 0, 6, "parameter(0)", "s[0]"),
    (1, P.format(1) + ", maybe-live-out", "m", 1, 6, "parameter(1)", "s[1]"),
    (2, P.format(2), "x", 2, 8, "parameter(2)", "x"),
    (3, TEMP, "copied", 3, 4, "copy(%w,)", "s[0]"),
    (4, TEMP, "hidden", 4, 5, "tanh(%copied,)", "jit(f)/jvp(a)/tanh"),
    (5, TEMP, "slope", 5, 6, "negate(%hidden,)", "jit(f)/transpose(jvp(a))/mul"),
    (1, P.format(1) + ", maybe-live-out", "moment", 6, 8, "add(%m, %slope,)", "jit(f)/add"),
    (0, P.format(0) + ", maybe-live-out", "new", 7, 8, "add(%w, %moment,)", "jit(f)/sub"),
)


def test_a_training_step_has_categories_by_what_is_returned_and_who_reads_it():
    assert categories_of(*STEP, end=8) == {
        "w": "weight",  # read in the forward pass, through a copy
        "new": "weight",
        "m": "optimizerState",
        "moment": "optimizerState",
        "x": "batch",
        "copied": "forward",
        "hidden": "activation",
        "slope": "gradient",
    }


def test_a_temporary_in_the_bytes_of_an_input_has_a_category_of_its_own():
    early = (2, P.format(2), "early", 3, 3, "tanh(%w,)", "jit(f)/jvp(a)/exp")
    lines = (*STEP[:3], early, *STEP[4:])
    assert categories_of(*lines, end=8)["early"] == "forward"


def test_a_statistic_that_no_gradient_changes_is_state():
    statistic = (0, P.format(0) + ", maybe-live-out", "mean", 0, 3, "parameter(0)", "s[0]")
    updated = (
        *(0, P.format(0) + ", maybe-live-out", "tracked", 3, 7),
        *("add(%mean, %x,)", "jit(f)/jvp(norm)/add"),
    )
    weight = (9, P.format(9) + ", maybe-live-out", "w", 1, 6, "parameter(9)", "s[1]")
    trained = (9, P.format(9) + ", maybe-live-out", "new", 6, 7, "add(%w, %slope,)", "jit(f)/sub")
    hidden = (3, TEMP, "hidden", 4, 5, "tanh(%w,)", "jit(f)/jvp(a)/tanh")
    batch = (2, P.format(2), "x", 2, 7, "parameter(2)", "x")
    lines = (statistic, weight, batch, updated, hidden, STEP[5], trained)
    found = categories_of(*lines, end=7)
    assert (found["mean"], found["tracked"]) == ("state", "state")
    assert (found["w"], found["new"]) == ("weight", "weight")


def test_a_copy_that_several_phases_read_has_the_category_of_the_input():
    copied = (3, TEMP, "copied", 3, 5, "copy(%w,)", "")
    slope = (4, TEMP, "slope", 5, 6, "mul(%hidden, %copied,)", "jit(f)/transpose(jvp(a))/mul")
    lines = (*STEP[:3], copied, STEP[4], slope, *STEP[6:])
    assert categories_of(*lines, end=8)["copied"] == "weight"


def test_an_input_is_followed_through_a_slice_whose_computation_is_not_printed():
    # as xla_syntax_sugar_async_ops prints it: the operand of the slice is in no text
    sliced = (3, TEMP, "sliced", 3, 4, "slice(%param_0.5,), reads={%w,}", "")
    joined = (6, TEMP, "joined", 4, 5, "custom-call(%sliced,)", "")
    hidden = (4, TEMP, "hidden", 5, 6, "tanh(%joined,)", "jit(f)/jvp(a)/tanh")
    slope = (5, TEMP, "slope", 6, 7, "negate(%hidden,)", "jit(f)/transpose(jvp(a))/mul")
    moment = (*STEP[6][:3], 7, 9, *STEP[6][5:])
    new = (*STEP[7][:3], 8, 9, *STEP[7][5:])
    lines = (*STEP[:3], sliced, joined, hidden, slope, moment, new)
    assert categories_of(*lines, end=9)["w"] == "weight"


def test_patterns_of_the_user_win():
    patterns = (("ring", "s[0]"), ("taps", "jvp(a)/*nh"))
    found = categories_of(*STEP, end=8, patterns=patterns)
    assert found["w"] == found["new"] == found["copied"] == "ring"
    assert found["hidden"] == "taps"


def test_without_names_and_gradients_everything_is_other():
    lines = (
        (0, P.format(0), "a", 0, 1, "parameter(0)", "a"),
        (1, TEMP, "b", 1, 1, "negate(%a,)", "jit(f)/neg"),
    )
    assert categories_of(*lines, end=2) == {"a": "other", "b": "other"}


def test_a_program_that_reads_weights_and_has_no_gradients_is_a_forward_pass():
    lines = (
        (0, P.format(0), "a", 0, 1, "parameter(0)", "params['a']"),
        (1, P.format(1), "x", 1, 2, "parameter(1)", "x"),
        (2, TEMP, "b", 2, 2, "negate(%a,)", "jit(f)/neg"),
    )
    assert categories_of(*lines, end=3) == {"a": "weight", "x": "batch", "b": "forward"}


def test_an_average_of_weights_that_no_weight_is_made_of_is_state():
    average = (8, P.format(8) + ", maybe-live-out", "ema", 8, 9, "parameter(5)", "s[2]")
    averaged = (
        *(8, P.format(8) + ", maybe-live-out", "averaged", 9, 10),
        *("add(%ema, %new,)", "jit(f)/add"),
    )
    extended = [(*line[:4], line[4] + 2 * (line[4] == 8), *line[5:]) for line in STEP]
    found = categories_of(*extended, average, averaged, end=10)
    assert (found["ema"], found["averaged"], found["m"]) == ("state", "state", "optimizerState")


def test_an_update_has_weights_and_gradients_by_the_shape_of_the_state():
    lines = (
        (0, P.format(0) + ", maybe-live-out", "w", 0, 4, "parameter(0)", "p"),
        (1, P.format(1), "g", 1, 3, "parameter(1)", "g"),
        (2, P.format(2) + ", maybe-live-out", "m", 2, 3, "parameter(2)", "s[0].mu['w']"),
        (2, P.format(2) + ", maybe-live-out", "moment", 3, 5, "add(%m, %g,)", "jit(f)/add"),
        (0, P.format(0) + ", maybe-live-out", "new", 4, 5, "add(%w, %moment,)", "jit(f)/add"),
    )
    found = categories_of(*lines, end=5)
    assert (found["w"], found["g"], found["m"]) == ("weight", "gradient", "optimizerState")


VALUE_OF_U = ("v", 1, 2, "negate(%u,)", "jit(f)/neg")


@pytest.mark.parametrize("is_donated", [True, False])
def test_an_input_that_a_result_overwrites_is_state_without_gradients(is_donated):
    facts = P.format(0) + (", maybe-live-out" if is_donated else "")
    lines = (
        (0, facts, "u", 0, 1, "parameter(0)", "u"),
        (int(not is_donated), facts if is_donated else "maybe-live-out", *VALUE_OF_U),
    )
    assert categories_of(*lines, end=2)["u"] == ("state" if is_donated else "other")


def test_an_input_whose_gradient_is_returned_is_a_weight():
    lines = (
        (0, P.format(0), "w", 0, 3, "parameter(0)", "s[0]"),
        (4, TEMP, "hidden", 1, 2, "tanh(%w,)", "jit(f)/jvp(a)/tanh"),
        (7, "maybe-live-out", "slope", 2, 3, "negate(%hidden,)", "jit(f)/transpose(jvp(a))/mul"),
    )
    found = categories_of(*lines, end=3)
    assert (found["w"], found["slope"]) == ("weight", "output")


def test_a_copy_of_an_input_of_tensorflow_is_of_no_phase():
    lines = (
        (0, P.format(0), "w", 0, 4, "parameter(0)", "XLA_Args"),
        (3, TEMP, "copied", 1, 3, "copy(%w,)", ""),
        (4, TEMP, "hidden", 2, 3, "tanh(%copied,)", "Tanh"),
        (5, TEMP, "slope", 3, 4, "mul(%copied, %hidden,)", "gradient_tape/MatMul"),
    )
    assert categories_of(*lines, end=4)["copied"] == "batch"


@pytest.mark.parametrize(
    ("op_name", "category"), [("AddN_7", "activation"), ("sub", "forward"), ("a/MyAddN", "forward")]
)
def test_tensorflow_adds_up_gradients_in_the_backward_pass(op_name, category):
    lines = (
        (0, P.format(0), "x", 0, 4, "parameter(0)", "XLA_Args"),
        (4, TEMP, "hidden", 1, 3, "tanh(%x,)", "Tanh"),
        (5, TEMP, "slope", 2, 3, "negate(%x,)", "gradient_tape/MatMul"),
        (6, TEMP, "sum", 3, 4, "add(%slope, %hidden,)", op_name),
    )
    assert categories_of(*lines, end=4)["hidden"] == category


def test_autograd_of_pytorch_has_no_lines():
    lines = (
        (0, P.format(0), "w", 0, 6, "parameter(0)", "xla__device_data @ train.py"),
        (4, TEMP, "hidden", 1, 3, "tanh(%w,)", "aten__tanh @ model.py"),
        (5, TEMP, "loss", 2, 3, "negate(%hidden,)", "aten__mse_loss @ train.py"),
        (6, TEMP, "slope", 3, 4, "mul(%hidden, %loss,)", "aten__mse_loss_backward"),
        (7, TEMP, "again", 4, 5, "add(%w, %slope,)", "aten__relu @ model.py"),
        (8, TEMP, "grad", 5, 6, "mul(%slope, %again,)", "aten__mm"),
        (9, TEMP, "step", 6, 7, "sub(%w, %grad,)", "aten__add @ adam.py"),
        (10, TEMP, "other", 7, 8, "negate(%step,)", "aten__add @ adam.py"),
    )
    found = categories_of(*lines, end=8)
    phases = {"activation": "hidden", "backward": "slope again grad", "update": "step other"}
    for category, names in phases.items():
        assert {found[name] for name in names.split()} == {category}


def test_a_line_that_is_missing_makes_no_backward_pass_of_pytorch():
    lines = (
        (0, P.format(0), "x", 0, 3, "parameter(0)", "xla__device_data @ serve.py"),
        (4, TEMP, "hidden", 1, 2, "tanh(%x,)", "aten__tanh @ model.py"),
        (5, TEMP, "result", 2, 3, "negate(%hidden,)", "aten__permute"),
    )
    found = categories_of(*lines, end=3)
    assert {"activation", "backward", "gradient"}.isdisjoint(found.values())


@pytest.mark.parametrize(
    ("shape", "reader", "category"),
    [
        ("f32[9,2]", "jit(f)/jvp(a)/dot_general", "weight"),
        ("f32[4,2]", "jit(f)/jvp(a)/dot_general", "batch"),  # the dimension of the batch
        ("f32[9,2]", "jit(f)/jvp(a)/add", "batch"),  # not multiplied, such as a mask
        ("s32[9,2]", "jit(f)/jvp(a)/dot_general", "batch"),
    ],
)
def test_a_matrix_that_is_multiplied_and_has_no_batch_dimension_is_a_frozen_weight(
    shape, reader, category
):
    text = dump_of(
        (0, P.format(0), "x", 0, 2, "parameter(0)", "x"),
        (1, P.format(1), "table", 1, 2, "parameter(1)", "base['w']"),
        (2, TEMP, "hidden", 2, 3, "dot(%x, %table,)", reader),
        (3, TEMP, "slope", 3, 4, "negate(%hidden,)", "jit(f)/transpose(jvp(a))/mul"),
        end=4,
    ).replace("f32[4]{0}", "f32[4,4]{1,0}")
    lines = [
        line.replace("f32[4,4]", shape) if "table @" in line or "%table = " in line else line
        for line in text.splitlines()
    ]
    rows = rows_of("\n".join(lines) + "\n")
    assert dict(pairs(nodes(rows, "Value", "name", "category")))["table"] == category
