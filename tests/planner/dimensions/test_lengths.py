"""Lengths that change together."""

from fractions import Fraction

from xlagraph.planner.dimensions.lengths import Lengths


def test_two_factors_of_a_product_change_and_the_third_does_not():
    lengths = Lengths()
    batch, height, width, channels, whole = map(lengths.add, (2, 4, 6, 3, 144))
    lengths.products([batch, height, width, channels], [whole])
    found = lengths.scaled({height: Fraction(2), width: Fraction(3)}, ()).lengths
    assert batch not in found
    assert found[whole] == 36
