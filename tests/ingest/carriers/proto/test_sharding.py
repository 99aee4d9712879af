"""Shardings are printed in the notation of XLA."""

import pytest
from google.protobuf.text_format import Parse

from xlagraph.hlo.proto_messages import HloProto
from xlagraph.ingest.carriers.proto.sharding import sharding_text

MESH = "mesh { axes { name: 'd' size: 8 } axes { name: 'm' size: 2 } }"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("type: REPLICATED", "{replicated}"),
        ("type: MANUAL", "{manual}"),
        ("type: UNREDUCED", "{unreduced}"),
        ("type: MAXIMAL tile_assignment_devices: 3", "{maximal device=3}"),
        (
            (
                "type: OTHER tile_assignment_dimensions: 2 tile_assignment_dimensions: 1"
                " tile_assignment_devices: 0 tile_assignment_devices: 1"
            ),
            "{devices=[2,1]0,1}",
        ),
        (
            (
                "type: OTHER tile_assignment_dimensions: [4, 1, 2] iota_reshape_dims: 8"
                " iota_transpose_perm: 0 replicate_on_last_tile_dim: true"
            ),
            "{devices=[4,1,2]<=[8] last_tile_dim_replicate}",
        ),
        (
            (
                "type: OTHER tile_assignment_dimensions: [2, 4, 1] iota_reshape_dims: [4, 2]"
                " iota_transpose_perm: [1, 0] last_tile_dims: [MANUAL, REPLICATED]"
            ),
            "{devices=[2,4,1]<=[4,2]T(1,0) last_tile_dims={manual, replicated}}",
        ),
        ("type: REPLICATED is_shard_group: true shard_group_id: 2", "{replicated shard_as 2}"),
        (
            "type: TUPLE tuple_shardings { type: REPLICATED } tuple_shardings { type: MANUAL }",
            "{{replicated}, {manual}}",
        ),
        (
            (
                f"named_sharding {{ {MESH} dim_shardings {{ axes {{}} is_closed: true }}"
                " dim_shardings { is_closed: true } }"
            ),
            "{mesh['d'=8, 'm'=2], [{'d'}, {}]}",
        ),
        (f"named_sharding {{ {MESH} }}", "{mesh['d'=8, 'm'=2], replicated}"),
    ],
)
def test_a_sharding_is_printed_with_its_braces(message: str, text: str):
    instruction = HloProto().hlo_module.computations.add().instructions.add()
    assert sharding_text(Parse(message, instruction.sharding)) == text
