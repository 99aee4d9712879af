"""Evidence of a finding, grouped by source line or op."""

from tests.advice.small_compilations import facts
from xlagraph.advice.causes.cause import evidence_row
from xlagraph.advice.places import places


def row(saved, size, **place):
    return {"value": "v", "savedBytes": saved, "sizeBytes": size, **place}


def test_rows_of_one_line_are_one_place_with_the_sum_of_their_bytes():
    line = {"userFile": "/home/ann/train.py", "userLine": 7}
    (place,) = places([row(64, 100, **line), row(32, 100, **line)], "savedBytes")
    assert (place.source, place.bytes, place.values) == ("train.py:7", 96, 2)


def test_scopes_are_places_if_all_are_of_one_line():
    fit = {"userFile": "/home/ann/fit.py", "userLine": 7}
    ops = ["jvp(layer_0)/mul", "transpose(jvp(layer_1))/add", "jvp(head)/dot"]
    rows = [row(8 - at, 8, opName=f"jit(f)/{op}", **fit) for at, op in enumerate(ops)]
    assert [(each.source, each.values) for each in places(rows, "savedBytes")] == [
        ("fit.py:7", 2),
        ("fit.py:7", 1),
    ]
    other = row(8, 8, opName="jit(f)/jvp(loss)/add", userFile="/home/ann/fit.py", userLine=8)
    assert len(places([*rows, other], "savedBytes")) == 2


def test_ops_of_repeated_layers_are_one_place():
    rows = [row(8, 8, opName=f"jit(f)/layer_{number}/add") for number in range(3)]
    (place,) = places(rows, "savedBytes")
    assert (place.op, place.values) == ("jit(f)/layer_*/add", 3)


def test_sizes_are_shown_if_no_row_saves_anything_by_itself():
    (place,) = places([row(0, 100, opName="a")], "savedBytes")
    assert place.bytes == 100


def test_a_line_that_makes_every_op_is_no_place():
    library = "/opt/site-packages/tensorflow/python/framework/ops.py"
    value = facts(0, "f32[8]", attributed_file=library, attributed_line=1221)
    shown = evidence_row(value, "large")
    assert (shown["userFile"], shown["userLine"]) == (None, None)
