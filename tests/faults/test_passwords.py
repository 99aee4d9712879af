"""A password is in the environment or typed; it is never printed, stored or passed on."""

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.harness.changing_dumps import ChangingDumps
from tests.faults.harness.forked_commands import Commands, Ended
from tests.graph_fixtures import StartServer
from tests.neo4j_server.server import ASK_FOR_PASSWORD, Neo4jServer, with_password
from tests.ports import reserved_port
from xlagraph.graph import GraphUnreachable, open_graph

SECRET = "s3cret-Pa55w0rd"
COMMANDS = (
    ["ingest", "runs"],
    ["runs"],
    ["compilations"],
    ["query", "peak/contributors"],
    ["cypher", "RETURN 1 AS one"],
    ["compare", "a", "b"],
    ["check"],
    ["remove", "a", "--yes"],
)

pytestmark = pytest.mark.usefixtures("no_connection_named")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """A folder with a self-signed certificate; None without openssl."""
    if shutil.which("openssl") is None:
        return None
    folder = tmp_path_factory.mktemp("certificates")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", "private.key", "-out", "public.crt", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def locked_server(
    certificates: Path | None,
    tmp_path_factory: pytest.TempPathFactory,
    start_server: StartServer,
) -> Iterator[Neo4jServer]:
    """A server that requires a password and accepts TLS."""
    settings = dict(ASK_FOR_PASSWORD)
    if certificates:
        settings |= {
            "dbms.ssl.policy.bolt.enabled": "true",
            "dbms.ssl.policy.bolt.base_directory": str(certificates),
            "dbms.ssl.policy.bolt.client_auth": "NONE",
            "server.bolt.tls_level": "OPTIONAL",
        }
    home = tmp_path_factory.mktemp("locked")
    with start_server(home, settings) as server:
        yield with_password(server, SECRET)


def assert_secret_is_not_told(ended: Ended) -> None:
    assert SECRET not in ended.out + ended.err
    assert "Traceback (most recent call last)" not in ended.out


def test_a_wrong_password_is_tried_once_and_locks_no_account(
    commands: Commands, locked_server: Neo4jServer
):
    right = locked_server.environment()
    wrong = right | {"NEO4J_PASSWORD": "wr0ng-Pa55w0rd"}
    for _ in range(2):
        # the server locks the account after the third wrong password in a row
        for _ in range(2):
            ended = commands.run("runs", "--graph", locked_server.uri, environment=wrong)
            assert ended.code == 3
            assert f"{locked_server.uri} rejects the password of user neo4j" in ended.err
            assert "wr0ng" not in ended.err
        ended = commands.run(
            "cypher", "RETURN 1 AS one", "--graph", locked_server.uri, environment=right
        )
        assert ended.code == 0, ended


def test_a_missing_password_is_asked_for_on_a_terminal_only(
    commands: Commands, locked_server: Neo4jServer
):
    ended = commands.run("runs", "--graph", locked_server.uri)
    assert ended.code == 3
    assert "set NEO4J_PASSWORD" in ended.err
    asked = []

    def answer(user: str) -> str:
        asked.append(user)
        return SECRET

    with open_graph(locked_server.uri, ask_password=answer) as graph:
        assert graph.query("RETURN 1 AS one").rows == ((1,),)
    assert asked == ["neo4j"]


def test_an_untrusted_certificate_is_named_with_the_remedies(
    certificates: Path | None, locked_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
):
    if certificates is None:
        pytest.skip("openssl is missing")
    monkeypatch.setenv("NEO4J_PASSWORD", SECRET)
    address = locked_server.uri.partition("://")[2]
    with pytest.raises(GraphUnreachable, match=r"self-signed .* SSL_CERT_FILE.* bolt\+ssc://"):
        open_graph(f"bolt+s://{address}")
    with open_graph(f"bolt+ssc://{address}") as graph:
        assert graph.query("RETURN 1 AS one").rows == ((1,),)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "public.crt"))
    with open_graph(f"bolt+s://{address}") as graph:
        assert graph.query("RETURN 1 AS one").rows == ((1,),)


def test_a_password_is_printed_and_stored_nowhere(
    commands: Commands, locked_server: Neo4jServer, tmp_path: Path
):
    dumps = ChangingDumps(tmp_path / "runs", random.Random(7), wide=20)
    environment = locked_server.environment()
    to_file = ["--format", "json", "--output", tmp_path / "rows.json"]
    for arguments, code in (
        (["ingest", dumps.folder], 0),
        (["query", "peak/contributors"], 0),
        (["query", "peak/contributors", *to_file], 0),
        (["query", "peak/contributors", "--browser"], 0),
        (["cypher", "RETURN nonsense"], 1),
        (["cypher", "CREATE (:Run)"], 1),
        (["compare", "alpha", "beta"], 0),
        (["remove", "alpha", "--yes"], 0),
        (["runs"], 0),
    ):
        graph = ["--graph", locked_server.uri]
        ended = commands.run(*arguments, *graph, "--verbose", environment=environment)
        assert ended.code == code, ended
        assert_secret_is_not_told(ended)
    with open_graph_with(environment, locked_server.uri) as graph:
        assert SECRET not in repr(graph) + repr(vars(graph)) + graph.location
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


def open_graph_with(environment: dict[str, str], uri: str):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        return open_graph(uri)


def test_a_password_in_the_uri_is_refused_without_an_echo(commands: Commands):
    for uri in (
        f"neo4j://neo4j:{SECRET}@localhost",
        f"bolt://neo4j:{SECRET}@localhost:7687",
        f"neo4j+s://neo4j:{SECRET}@localhost:70000",
        f"neo4j://:{SECRET}@localhost",
        f"http://neo4j:{SECRET}@localhost:7474",
        f"neo4j://neo4j:{SECRET}@[::1",
        f"neo4j:/neo4j:{SECRET}@localhost",
        f"neo4j:neo4j:{SECRET}@localhost",
        f"BOLT+SSC:neo4j:{SECRET}@localhost",
        f"bolt//neo4j:{SECRET}@localhost",
        f"neo4j://localhost/?password={SECRET}",
        f"bolt://localhost/#{SECRET}",
    ):
        for named, environment in (
            (["--graph", uri], {}),
            ([], {"NEO4J_URI": uri}),
            ([], {"XLAGRAPH_GRAPH": uri}),
        ):
            ended = commands.run("runs", *named, "--verbose", environment=environment)
            assert ended.code == 3, ended
            assert_secret_is_not_told(ended)
    for command in COMMANDS:
        ended = commands.run(*command, "--graph", f"neo4j://neo4j:{SECRET}@localhost", "-v")
        assert ended.code == 3, ended
        assert_secret_is_not_told(ended)


def test_the_traceback_of_a_lost_connection_has_no_password(commands: Commands):
    environment = {"NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": SECRET}
    with reserved_port() as port:
        ended = commands.run(
            "runs", "--graph", f"bolt://127.0.0.1:{port}", "--verbose", environment=environment
        )
    assert ended.code == 3
    assert "Traceback" in ended.err  # the traceback that --verbose shows
    assert SECRET not in ended.err


def test_a_password_that_the_driver_cannot_use_is_not_printed(commands: Commands):
    environment = {"NEO4J_PASSWORD": f"{SECRET}\udcff", "NEO4J_URI": "bolt://127.0.0.1:1"}
    ended = commands.run("runs", "-v", environment=environment)
    assert ended.code == 3
    assert_secret_is_not_told(ended)


def test_no_command_takes_a_password_as_an_argument(commands: Commands):
    for command in COMMANDS:
        options = re.findall(r"--[a-z-]+", commands.run(command[0], "--help").out)
        assert not [option for option in options if re.search("pass|user|auth|secret", option)]


def test_the_log_of_the_driver_has_no_password(locked_server: Neo4jServer):
    """The driver logs no password even if a program turns on all logging."""
    script = (
        "import logging; logging.basicConfig(level=logging.DEBUG)\n"
        "from xlagraph.graph import open_graph\n"
        f"open_graph({locked_server.uri!r}).query('RETURN 1 AS one')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | locked_server.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "DEBUG" in ended.stderr
    assert SECRET not in ended.stdout + ended.stderr


def test_the_error_of_an_open_server_has_no_password(
    locked_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NEO4J_PASSWORD", "wr0ng-Pa55w0rd")
    with pytest.raises(GraphUnreachable) as refused:
        open_graph(locked_server.uri)
    error: BaseException | None = refused.value
    while error is not None:
        assert "wr0ng" not in repr(error) + str(error)
        error = error.__cause__ or error.__context__
