"""The first line of a module text states its name, donations and partitions."""

from xlagraph.hlo.module_text import parse_module_header
from xlagraph.hlo.program import EntryParameter, Program

HEADER = (
    "HloModule jit_step, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias), "
    "{1,0}: (2, {3}, must-alias) }, buffer_donor={ (0, {}), (2, {0, 1}) }, "
    "entry_computation_layout={(f32[2]{0})->f32[2]{0}}, num_partitions=8"
)


def test_donated_inputs_are_paired_with_an_output_or_unpaired():
    assert parse_module_header(HEADER) == Program(
        name="jit_step",
        output_by_donated={EntryParameter(1, "{}"): "{0}", EntryParameter(2, "{3}"): "{1,0}"},
        unpaired_donors=frozenset({EntryParameter(0, "{}"), EntryParameter(2, "{0,1}")}),
        partitions=8,
    )


def test_the_kind_of_an_alias_is_optional():
    header = parse_module_header("HloModule m, input_output_alias={ {}: (0, {}) }")
    assert header.output_by_donated == {EntryParameter(0, "{}"): "{}"}


def test_a_plain_or_malformed_header_states_nothing():
    for line in ("HloModule m", "HloModule m, input_output_alias={ {0}: (x }, buffer_donor={"):
        assert parse_module_header(line) == Program("m", partitions=1)
