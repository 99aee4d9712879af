"""Help is fast, plain off a terminal, and has an example for every command."""

import json
import re
import subprocess
import sys

import pytest

from xlagraph.cli.app import COMMANDS, GROUPS
from xlagraph.queries import load_catalogue

SLOW = ("pyarrow", "neo4j", "ladybug", "rich", "pydantic")


def test_help_lists_the_commands_in_groups_in_lines_of_a_terminal(run):
    ended = run("--help")
    assert ended.code == 0
    grouped = ended.out[ended.out.index("Load:") :]
    assert re.findall(r"^(\w+):", grouped, re.MULTILINE) == list(GROUPS)
    assert re.findall(r"^  (\w+)  ", grouped, re.MULTILINE) == list(COMMANDS)
    assert max(map(len, grouped.splitlines())) <= 78
    assert "…" not in grouped


def test_help_names_what_to_write_and_no_types_of_python(run):
    for command in COMMANDS:
        assert not re.search(r"<(list|str|int|float|bool|all)\b", run(command, "--help").out)


def test_an_argument_and_its_option_are_one_line_of_help(run):
    text = run("query", "peak/by-line", "--help").out
    assert "COMPILATION|RUN  A key" in text
    assert "--compilation" not in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(run, command):
    ended = run(command, "--help")
    assert ended.code == 0
    assert f"Example: xlagraph {command}" in ended.out


def test_help_off_a_terminal_has_no_boxes_no_colours_and_no_wrapping(run):
    for command in COMMANDS:
        text = run(command, "--help").out
        assert "\x1b" not in text
        assert not set(text) & set("─│╭╮╰╯")
    assert "(default: XLAGRAPH_GRAPH, NEO4J_URI, ./xlagraph.lbug)" in run("runs", "--help").out


def test_the_help_of_a_query_is_generated_from_its_header(run):
    query = load_catalogue()["peak/contributors"]
    text = run("query", query.id, "--help").out
    assert query.answers in text
    for parameter in query.parameters[1:]:
        assert re.search(rf"--{parameter.option} .*{re.escape(parameter.description)}", text)
    for column in query.columns:
        assert f"{column.name}: {column.description}" in text


def test_every_query_of_the_catalogue_has_its_command(run):
    for id_ in load_catalogue():
        assert run("query", id_, "--help").code == 0


@pytest.mark.parametrize("arguments", [["--help"], ["query"], ["runs", "--help"]], ids=" ".join)
def test_commands_without_a_graph_import_nothing_slow(arguments):
    statement = (
        "import json, sys\nfrom xlagraph.cli import main\n"
        f"main({arguments!r})\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", statement], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(ended.stderr))
    slow = SLOW if arguments != ["runs", "--help"] else SLOW[:4]  # typer converts flags with it
    assert not loaded & set(slow)
