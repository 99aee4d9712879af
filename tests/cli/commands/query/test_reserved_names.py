"""A query parameter cannot have the name of another option of its command."""

import re

import pytest

from xlagraph.cli.commands.canned import canned_command
from xlagraph.queries import load_catalogue
from xlagraph.queries.catalogue.header import RESERVED_NAMES


@pytest.mark.parametrize("query_id", ["peak/contributors", "graph/peak"])
def test_options_of_the_query_command_are_reserved(query_id):
    query = load_catalogue()[query_id]
    declared = {f"--{parameter.option}" for parameter in query.parameters}
    options = {
        option
        for parameter in canned_command(query).params
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--")
    }
    names = {_camel_case(option) for option in options - declared}
    assert names
    assert names <= set(RESERVED_NAMES)


def _camel_case(option: str) -> str:
    return re.sub("-([a-z])", lambda found: found[1].upper(), option.removeprefix("--"))
