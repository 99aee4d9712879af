"""Variants are compiled and compared, and the largest size that fits is found."""

import jax
import jax.numpy as jnp
import pytest

from xlagraph.jax import explore, largest
from xlagraph.jax.exploration import COLUMNS


def shape(count: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((count,), jnp.float32)


def add_one(x):
    return x + 1


def twice(x):
    return x + 1, x - 1


def test_each_variant_has_a_row_with_what_it_saves_and_what_was_predicted():
    explored = explore(
        add_one,
        shape(256),
        variants={
            "donated": {"donate_argnums": 0},
            "two outputs": twice,
            "half": {"arguments": (shape(128),)},
            "broken": lambda x: x @ jnp.zeros((3, 3)),
        },
    )
    rows = {row["variant"]: row for row in explored.result.mappings()}
    assert explored.result.columns == COLUMNS
    assert [(name, row["reservedBytes"], row["savedBytes"]) for name, row in rows.items()] == [
        ("base", 2048, None),
        ("donated", 1024, 1024),
        ("two outputs", rows["two outputs"]["reservedBytes"], -1040),
        ("half", 1024, 1024),
        ("broken", None, None),
    ]
    assert (rows["donated"]["predictedBytes"], rows["donated"]["predictedBy"]) == (
        1024,
        "whatif donate",
    )
    assert rows["half"]["predictedBytes"] is None  # another shape is another program
    assert "TypeError: " in str(rows["broken"]["error"])
    assert "donated" in repr(explored)
    assert "50.0%" in explored._repr_html_()


def test_a_variant_is_a_function_or_options():
    with pytest.raises(TypeError, match="expected a function, or a mapping such as"):
        explore(add_one, shape(4), variants={"wrong": 3})  # type: ignore[dict-item]


def test_the_largest_size_that_fits_is_found_by_bisection():
    found = largest(add_one, lambda count: [shape(count)], "1000B", multiple_of=8)
    assert (found.size, found.plan.reserved) == (120, 960)
    assert [(tried.size, tried.fits) for tried in found.tried] == [
        (8, True), (16, True), (32, True), (64, True), (96, True), (112, True), (120, True),
        (128, False),
    ]  # fmt: skip
    assert repr(found).startswith("120 is the largest that fits into 1000 B\n")


def test_if_not_even_the_least_size_fits_there_is_none():
    found = largest(add_one, lambda count: [shape(count)], "1000B", least=500)
    assert (found.size, found.plan.reserved) == (None, 4000)
    assert repr(found).startswith("500 does not fit into 1000 B\n")


def test_the_range_ends_at_the_given_size():
    assert largest(add_one, lambda count: [shape(count)], "1GiB", least=3, most=4).size == 4
    with pytest.raises(ValueError, match="no positive multiple of 8 from 9 to 15"):
        largest(add_one, lambda count: [shape(count)], "1GiB", least=9, most=15, multiple_of=8)


def test_without_a_capacity_a_compiler_must_decide():
    with pytest.raises(ValueError, match="expected a capacity such as '16GiB', or a topology"):
        largest(add_one, lambda count: [shape(count)])
