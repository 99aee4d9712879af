"""A canned query as one statement to paste, and as a link that opens it in Neo4j Browser."""

import io
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.tiny_dumps import BEFORE_F, write_runs
from xlagraph.graph import open_graph, remove
from xlagraph.ingest import ingest

BY_LINE = """\
MATCH (c:Compilation {key: 'run/f', state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: 0})
"""


def arguments(link: str) -> dict[str, str]:
    """Return the arguments of a link as the page reads them."""
    return {name: values[0] for name, values in parse_qs(urlsplit(link.strip()).query).items()}


def test_show_prints_one_statement_with_the_parameters_filled_in(run):
    ended = run("query", "peak/by-line", "--compilation", "run/f", "--limit", 5, "--show")
    title, statement = ended.out.split("\n", 1)
    assert title == "// peak/by-line: Source lines that hold the most memory at the peak"
    assert statement.startswith(BY_LINE)
    assert statement.endswith("LIMIT 5\n")
    assert "$" not in statement


def test_text_is_written_so_that_both_engines_read_the_original(run, graph):
    odd = 'it\'s "#1" & \\, é\t100 %\n'
    shown = run("query", "trend/op", "--op-name", odd, "--show").out
    (literal,) = [line for line in shown.splitlines() if "it\\'s" in line]
    text = re.findall(r"'it(?:[^'\\]|\\.)*'", literal)[0]
    with open_graph(graph) as opened:
        assert opened.query(f"RETURN {text} AS text").rows == ((odd,),)


def test_a_missing_parameter_stays_open_and_is_named(run, graph):
    ended = run("query", "alias/chain", "--show")
    assert "WHERE v.label = $value" in ended.out
    assert ended.err.splitlines()[-1].startswith("$value must still be set: value label")


def test_an_empty_graph_does_not_prevent_it(run, tmp_path):
    asked = ("query", "peak/by-line", "--compilation", "run/f", "--show")
    without_graph = run(*asked)
    with open_graph(tmp_path / "empty.lbug", create=True) as opened:
        ingest(opened, write_runs(tmp_path / "runs"), jobs=1)
        for name in ("before", "after"):
            remove(opened, name)
    ended = run(*asked, "--graph", tmp_path / "empty.lbug")
    assert (ended.code, ended.out) == (0, without_graph.out)
    message = "without a lookup in the graph: the graph contains no compilation"
    assert message in ended.err.replace("\n", " ")


def test_the_statement_can_be_written_to_a_file(run, graph, tmp_path):
    shown = run("query", "alias/chain", "--show")
    ended = run("query", "alias/chain", "--show", "--output", tmp_path / "chain.cypher")
    assert (ended.code, ended.out) == (0, "")
    assert (tmp_path / "chain.cypher").read_text() == shown.out


@pytest.mark.parametrize("option", ["--show", "--browser"])
def test_a_part_of_a_key_is_completed(run, graph, option):
    asked = ("query", "peak/by-op", option, "--compilation")
    assert run(*asked, "before/module_0001").out == run(*asked, BEFORE_F).out
    ambiguous = run(*asked, "jit_f")
    assert (ambiguous.code, ambiguous.out) == (1, "")


@pytest.mark.parametrize("option", ["--show", "--browser"])
def test_the_default_compilation_is_the_one_that_a_run_would_use(run, graph, option):
    ended = run("query", "peak/by-op", option)
    assert (ended.code, "the largest of" in ended.err) == (0, True)
    assert "$compilation" not in ended.out


def test_without_a_graph_a_key_is_shown_as_it_was_typed(run):
    ended = run("query", "peak/by-op", "--show", "--compilation", "run/f")
    assert "{key: 'run/f'" in ended.out
    assert ended.err.startswith("names are used as typed")


def test_the_shown_statement_runs(run, graph, monkeypatch):
    asked = ("query", "peak/by-line", "--compilation", BEFORE_F)
    monkeypatch.setattr("sys.stdin", io.StringIO(run(*asked, "--show").out))
    assert run("cypher", "--format", "csv").out == run(*asked, "--format", "csv").out


def test_a_link_names_page_server_user_and_database(run, monkeypatch):
    monkeypatch.setenv("NEO4J_DATABASE", "plans")
    asked = ("query", "peak/by-op", "--browser", "-q", "--compilation", "run/f", "--graph")
    link = run(*asked, "neo4j://localhost:1").out
    assert link.startswith("http://localhost:7474/browser/?dbms=")
    assert len(link.splitlines()) == 1
    handed = arguments(link)
    assert handed["dbms"] == "neo4j://neo4j@localhost:1"
    assert (handed["db"], handed["cmd"]) == ("plans", "edit")
    assert handed["arg"].startswith("MATCH (c:Compilation {key: 'run/f', state: 'complete'})\n")


def test_another_page_can_be_named(run, graph):
    link = run("query", "peak/by-op", "--browser-url", "https://here:1/browser/").out
    assert link.startswith("https://here:1/browser/?dbms=neo4j%3A%2F%2Fneo4j%40localhost%3A7687&")


@pytest.mark.parametrize(
    "asked", [("query", "peak/by-op", "--browser"), ("query", "--browser-style")]
)
def test_a_link_to_a_server_that_nobody_named_says_so(run, graph, monkeypatch, asked):
    warning = "no server is configured: the link connects to the one on this machine"
    ended = run(*asked)
    assert warning in ended.err
    assert "NEO4J_URI sets the server, --browser-url its page" in ended.err
    monkeypatch.setenv("NEO4J_URI", "neo4j://db.example")
    ended = run(*asked, "--graph", graph)
    assert warning not in ended.err
    assert arguments(ended.out.splitlines()[0])["dbms"] == "neo4j://neo4j@db.example:7687"


def test_signs_that_end_an_argument_of_a_page_are_escaped_and_comments_are_omitted(run, graph):
    link = run("query", "trend/op", "--op-name", "a&b#c//d", "--browser").out
    text = arguments(link)["arg"]
    assert "'a\\u0026b\\u0023c//d'" in text
    assert not {"&", "#"} & set(text)
    assert "// " not in text


def test_a_statement_too_long_for_a_link_says_what_to_do(run, graph):
    ended = run("query", "trend/op", "--op-name", "x" * 20_000, "--browser")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].endswith("print the statement with --show, and paste it")


def test_a_link_needs_the_same_arguments_as_the_query(run, graph):
    ended = run("query", "alias/chain", "--browser")
    assert (ended.code, ended.out) == (2, "")
    assert "alias/chain needs --value" in ended.err


@pytest.mark.parametrize(
    ("server", "page"),
    [
        ("neo4j+ssc://db.example:7687", "https://db.example:7473/browser/"),
        ("bolt://[::1]:7687", "http://[::1]:7474/browser/"),
        ("neo4j+s://0123.databases.neo4j.io", "https://browser.neo4j.io/"),
    ],
)
def test_the_page_is_where_such_a_server_has_it(monkeypatch, server, page):
    from xlagraph.graph.neo4j.browser import browser_page

    monkeypatch.delenv("NEO4J_USERNAME", raising=False)
    link = browser_page(server)
    assert link.page == page
    assert link.server.startswith(server.split("://")[0].replace("ssc", "s") + "://neo4j@")


@pytest.mark.parametrize("uri", ["neo4j://h:99999", "neo4j://[::1", "neo4j://me:secret@h"])
def test_a_server_that_cannot_be_named_in_a_link_is_reported(run, graph, monkeypatch, uri):
    monkeypatch.setenv("NEO4J_URI", uri)
    ended = run("query", "peak/by-line", "--compilation", BEFORE_F, "--browser")
    assert ended.code == 3
    assert "the URI of the graph" in ended.err
    assert "secret" not in ended.err


@pytest.mark.parametrize(
    ("settings", "page"),
    [
        ({"http.enabled": "true", "http.listen_address": "0.0.0.0:7480"}, "http://db:7480"),
        ({"http.enabled": "true", "http.listen_address": "[::]:7474"}, "http://db:7474"),
        (
            {
                "http.enabled": "true",
                "http.listen_address": ":7474",
                "http.advertised_address": "plans.example:80",
            },
            "http://plans.example:80",
        ),
        (
            {
                "http.enabled": "false",
                "https.enabled": "true",
                "https.listen_address": "localhost:7473",
            },
            "https://db:7473",
        ),
        ({"http.enabled": "true", "http.listen_address": "localhost:0"}, None),
        ({}, None),
    ],
)
def test_the_settings_of_a_server_say_where_its_page_is(settings, page):
    from xlagraph.graph.neo4j.browser import page_of_settings

    values = {f"server.{name}": value for name, value in settings.items()}
    assert page_of_settings(values, "neo4j://db:7687") == (page and f"{page}/browser/")


def test_the_format_of_a_picture_may_precede_its_id(run, graph):
    asked = ("graph/peak", "--compilation", BEFORE_F, "-q")
    drawn = run("query", "--format", "dot", *asked)
    assert drawn.out.startswith("digraph {")
    assert drawn == run("query", *asked, "--format", "dot")
    rows = run("query", "--format", "json", *asked)
    assert rows == run("query", *asked, "--format", "json")


def test_a_format_of_pictures_does_not_apply_to_rows(run, graph):
    listed = run("query", "--format", "mermaid")
    assert (listed.code, listed.out) == (2, "")
    assert "xlagraph query graph/peak --format mermaid" in listed.err
    rows = run("query", "--format", "mermaid", "peak/by-line")
    assert (rows.code, rows.out) == (2, "")
    assert "'mermaid' is not one of 'table'" in rows.err
