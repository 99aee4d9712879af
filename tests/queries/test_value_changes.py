"""Which value of one side is which of the other: new, gone, grown, shrunk or reshaped."""

from xlagraph.queries.comparison.value_changes import ValueTraits, match_values


def made(op, shape, size_bytes, opcode="fusion", index=None):
    return ValueTraits(op, opcode, index, shape, shape[:3], size_bytes)


def changes(a, b):
    return sorted(match_values(a, b), key=str)


def test_equal_values_are_the_same_and_add_up():
    dot = made("f/dot", "f32[4]", 16)
    assert changes({dot: 3}, {dot: 3}) == [
        (("same", "f/dot", "fusion", None, "f32[4]", "f32[4]"), 48, 48)
    ]


def test_a_change_of_shape_is_one_change_not_one_gone_and_one_new():
    before, after = made("f/dot", "f32[4]", 16), made("f/dot", "f32[8]", 32)
    assert changes({before: 1}, {after: 1}) == [
        (("grown", "f/dot", "fusion", None, "f32[4]", "f32[8]"), 16, 32)
    ]
    assert changes({after: 1}, {before: 1})[0][0][0] == "shrunk"


def test_another_shape_of_the_same_size_is_reshaped():
    found = changes({made("f", "f32[2,8]", 64): 1}, {made("f", "f32[8,2]", 64): 1})
    assert found == [(("reshaped", "f", "fusion", None, "f32[2,8]", "f32[8,2]"), 64, 64)]


def test_another_rank_or_element_type_is_another_value():
    flat, square = made("f", "f32[16]", 64), made("f", "f32[4,4]", 64)
    assert [change[0][0] for change in changes({flat: 1}, {square: 1})] == ["gone", "new"]
    half = made("f", "f16[16]", 32)
    assert [change[0][0] for change in changes({flat: 1}, {half: 1})] == ["gone", "new"]


def test_counters_in_op_names_do_not_matter_but_equal_names_come_first():
    a = {made("net/dense_1/dot_3", "f32[4]", 16): 1, made("net/dense/dot", "f32[8]", 32): 1}
    b = {made("net/dense_2/dot_7", "f32[4]", 16): 1, made("net/dense/dot", "f32[9]", 36): 1}
    assert [(change[0][0], change[0][1]) for change in changes(a, b)] == [
        ("grown", "net/dense/dot"),
        ("same", "net/dense_2/dot_7"),
    ]


def test_of_those_that_are_alike_the_largest_goes_with_the_largest():
    a = {made("f", "f32[8]", 32): 1, made("f", "f32[2]", 8): 1}
    b = {made("f", "f32[9]", 36): 1, made("f", "f32[3]", 12): 1}
    assert [(change[0][4], change[0][5]) for change in changes(a, b)] == [
        ("f32[2]", "f32[3]"),
        ("f32[8]", "f32[9]"),
    ]


def test_what_is_left_over_is_new_or_gone_and_all_bytes_are_told():
    dot = made("f", "f32[4]", 16)
    assert changes({dot: 1}, {dot: 3}) == [
        (("new", "f", "fusion", None, None, "f32[4]"), 0, 32),
        (("same", "f", "fusion", None, "f32[4]", "f32[4]"), 16, 16),
    ]
    assert changes({dot: 1}, {}) == [(("gone", "f", "fusion", None, "f32[4]", None), 16, 0)]


def test_a_tuple_has_no_rank_and_a_nameless_value_no_op():
    table = ValueTraits(None, "tuple", "{}", "(f32[4], f32[4])", "tuple", 16)
    wider = table._replace(shape="(f32[4], f32[4], f32[4])", size_bytes=24)
    assert changes({table: 1}, {wider: 1}) == [
        (("grown", None, "tuple", "{}", table.shape, wider.shape), 16, 24)
    ]
