"""The parts of an array on several devices are read from both notations."""

import pytest

from xlagraph.hlo.shardings import split_dimensions


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{replicated}", ()),
        ("{devices=[8,1]<=[8]}", (8, 1)),
        ("{devices=[4,1,2]<=[8] last_tile_dim_replicate}", (4, 1)),
        ("{devices=[2,4,1]<=[4,2]T(1,0) last_tile_dims={manual, replicated}}", (2,)),
        ("{mesh[], replicated}", ()),
        ("{mesh['d'=4,'t'=2], replicated}", ()),
        ("{mesh['d'=4,'t'=2], [{'t', 'd'}, {}]}", (8, 1)),
        ("{mesh['d'=4,'t'=2], device_ids=(1,0,2,3,4,5,6,7), [{}, {'t', ?}]}", (1, 2)),
        ("{mesh['d'=4,'t'=2], [{}], replicated={'d'}}", (1,)),
        ("{mesh['d'=8], [{'d':(2)4}]}", (4,)),
        ("{mesh['d'=8], [{}], unreduced={'d'}}", None),
        ("{maximal device=0}", None),
        ("{{replicated}, {manual}}", None),
    ],
)
def test_a_sharding_says_into_how_many_parts_each_dimension_is_split(text, parts):
    assert split_dimensions(text) == parts
