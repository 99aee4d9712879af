"""The advice part of a query header, and messages about its errors."""

from textwrap import dedent

import pytest

from xlagraph.queries import CatalogueError
from xlagraph.queries.catalogue import header
from xlagraph.queries.catalogue.header import parse_header

REMEDIES = "// @remedy jax a\n// @remedy tensorflow b\n// @remedy pytorch c\n"
HEADER = """\
// Values that are padded
// @kind table
// @answers How much is padding?
// @param compilation STRING key of a compilation
// @param memorySpace INTEGER = 0 number of the memory space
// @column value STRING the value
// @column places INTEGER how many
// @column paddingBytes INTEGER the padding
// @measure physical
// @status stable
"""


def test_advice_names_the_potential_savings_their_evidence_and_the_changes():
    text = "// @advice paddingBytes physical Padding fills the peak\n// @evidence value\n"
    advice = parse_header(HEADER + text + "// @once value places\n" + REMEDIES, "f").advice
    assert advice is not None
    assert (advice.column, advice.measure) == ("paddingBytes", "physical")
    assert (advice.evidence, advice.once) == (("value",), ("value", "places"))
    assert advice.remedies == {"jax": "a", "tensorflow": "b", "pytorch": "c"}


def test_a_change_applies_to_the_values_of_each_row_or_to_those_in_a_column():
    text = "// @advice paddingBytes physical Padding\n// @change without"
    own = parse_header(HEADER + text + "\n" + REMEDIES, "f").advice
    listed = "// @column repeated LIST names of them\n"
    others = parse_header(HEADER + listed + text + " repeated\n" + REMEDIES, "f").advice
    assert own is not None
    assert others is not None
    assert (own.change, own.changed) == ("without", "value")
    assert (others.change, others.changed) == ("without", "repeated")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("// @evidence value\n", "f:11: a @evidence without @advice"),
        (
            "// @advice places physical Padding\n" + REMEDIES,
            "'places' is not a @column that counts",
        ),
        ("// @advice paddingBytes physical Padding\n", "advice without a fix for jax"),
        (
            "// @advice paddingBytes physical Padding\n// @evidence size\n" + REMEDIES,
            "f:12: 'size' is not a @column",
        ),
        (
            "// @advice paddingBytes physical Padding\n// @once value\n" + REMEDIES,
            "f:12: expected a line like '@once shape freeOutputs'",
        ),
        (
            "// @advice paddingBytes physical Padding\n// @change without size\n" + REMEDIES,
            "f:12: 'size' is not a @column; name the one with the values that change",
        ),
        (
            "// @advice paddingBytes physical Padding\n// @change gone\n" + REMEDIES,
            "f:12: expected one of donate, without",
        ),
        (
            "// @param value STRING a label\n// @advice paddingBytes physical Padding\n" + REMEDIES,
            "f:12: advice applies to one compilation",
        ),
    ],
)
def test_an_error_in_advice_is_reported_with_its_line(lines, message):
    with pytest.raises(CatalogueError) as error:
        parse_header(HEADER + lines, "f")
    assert message in str(error.value)


def test_the_header_in_the_message_is_valid():
    shown = str(header.__doc__).partition("\n\n")[2].partition("\n\n")[0]
    parsed = parse_header(dedent(shown), "f")
    assert parsed.title == "Values that hold the most memory at a compilation's peak"
    assert parsed.advice is not None


def test_advice_is_about_one_memory_space():
    without = HEADER.replace("// @param memorySpace INTEGER = 0 number of the memory space\n", "")
    advice = "// @advice paddingBytes physical Padding\n" + REMEDIES
    with pytest.raises(CatalogueError, match="f:10: advice is about one memory space"):
        parse_header(without + advice, "f")
    returned = "// @column memorySpace INTEGER its number\n"
    assert parse_header(without + returned + advice, "f").advice is not None
