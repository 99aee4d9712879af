"""How a server is opened: not there, too old, of another schema, guarded, encrypted."""

import shutil
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import neo4j
import pytest

from tests.graph.made_rows import made_rows
from tests.graph.neo4j.left_over import cells
from tests.graph_fixtures import own_server, skipped_without_neo4j
from xlagraph.graph import GraphMissing, GraphTooNew, GraphUnreachable, open_graph

OPENER = """
import sys
from xlagraph.graph import GraphUnreachable, open_graph
try:
    open_graph(sys.argv[1])
except GraphUnreachable as error:
    print("told:", error)
"""
ENCRYPTED = """\
dbms.ssl.policy.bolt.enabled=true
dbms.ssl.policy.bolt.base_directory={certificates}
dbms.ssl.policy.bolt.client_auth=NONE
server.bolt.tls_level=OPTIONAL
"""
PASSWORD = "right-password"

pytestmark = pytest.mark.usefixtures("no_connection_named")


def test_a_server_that_is_not_there_is_named():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(GraphUnreachable, match=f"bolt://127.0.0.1:{port}"):
        open_graph(f"bolt://127.0.0.1:{port}")


def test_a_server_that_does_not_answer_is_asked_once():
    asked = []

    def hang_up(listener):
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                asked.append(connection)
                connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=hang_up, args=(listener,), daemon=True).start()
        with pytest.raises(GraphUnreachable):
            open_graph(f"bolt://127.0.0.1:{listener.getsockname()[1]}")
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # ends the thread
    assert len(asked) == 1


def test_something_else_that_listens_is_no_graph():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(180)
        port = server.getsockname()[1]
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                OPENER,
                f"bolt://127.0.0.1:{port}",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        accepted, _ = server.accept()
        with accepted:
            accepted.recv(100)
            accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        said, _ = process.communicate(timeout=180)
    assert said.startswith("told:")


def answer(listener, protocol, agent):
    """Speak Bolt as far as an opening needs it: all is well, whatever is asked."""
    told = {"server": agent, "connection_id": "bolt-1"}
    cells = b"".join(
        bytes([0x80 + len(name)]) + name.encode() + bytes([0xD0, len(text)]) + text.encode()
        for name, text in told.items()
    )
    success = bytes([0xB1, 0x70, 0xA0 + len(told)]) + cells
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rwb") as stream:
                stream.read(20)
                stream.write(protocol)
                stream.flush()
                while length := int.from_bytes(stream.read(2)):
                    while length:
                        stream.read(length)
                        length = int.from_bytes(stream.read(2))
                    stream.write(len(success).to_bytes(2) + success + b"\0\0")
                    stream.flush()


@pytest.mark.parametrize(
    ("protocol", "agent"),
    [
        pytest.param(b"\0\0\4\5", "Neo4j/5.22.0", id="5.22"),
        pytest.param(b"\0\0\4\4", "Neo4j/4.4.40", id="4.4"),
        pytest.param(b"\0\0\0\0", "", id="no protocol of the driver"),
    ],
)
def test_a_server_that_is_too_old_is_told_what_is_needed(protocol, agent):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, args=(listener, protocol, agent), daemon=True).start()
        uri = f"bolt://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(GraphUnreachable, match=f"{uri} is .*needs 5.26 or later"):
            open_graph(uri)
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # ends the thread


def test_a_graph_of_a_newer_schema_is_refused_with_the_remedy(neo4j_graph, neo4j_server):
    with neo4j_graph.load() as load:
        load.write(made_rows())
    neo4j_server.execute("MATCH (r:Run) SET r.schemaVersion = 99")
    with pytest.raises(GraphTooNew, match="upgrade xlagraph"):
        open_graph(neo4j_server.uri)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A folder with a certificate that nobody has signed but its owner; None without openssl."""
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
def guarded_server(certificates, tmp_path_factory):
    """A server that asks for a password, and may be spoken to in TLS."""
    extra = ENCRYPTED.format(certificates=certificates) if certificates else ""
    home = tmp_path_factory.mktemp("guarded")
    with (
        skipped_without_neo4j(),
        own_server(home, auth=True, is_brief=True, extra=extra) as (server, _),
    ):
        with neo4j.GraphDatabase.driver(server.uri, auth=("neo4j", "neo4j")) as driver:
            driver.execute_query(
                "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password",
                password=PASSWORD,
                database_="system",
            )
        yield server


def test_a_wrong_password_is_tried_once_and_never_shown(guarded_server, monkeypatch):
    with pytest.raises(GraphUnreachable, match="set NEO4J_PASSWORD"):
        open_graph(guarded_server.uri)
    for _ in range(2):
        monkeypatch.setenv("NEO4J_PASSWORD", "wrong-password")
        with pytest.raises(GraphUnreachable, match="refuses the password") as told:
            open_graph(guarded_server.uri)
        assert "wrong-password" not in str(told.value)
    monkeypatch.delenv("NEO4J_PASSWORD")
    asked = []

    def answer(user):
        asked.append(user)
        return PASSWORD

    with open_graph(guarded_server.uri, ask_password=answer) as graph:
        assert cells(graph, "RETURN 1 AS one") == [1]
    assert asked == ["neo4j"]
    monkeypatch.setenv("NEO4J_PASSWORD", PASSWORD)
    monkeypatch.setenv("NEO4J_DATABASE", "nowhere")
    with pytest.raises(GraphMissing, match="nowhere"):
        open_graph(guarded_server.uri)


def test_a_certificate_that_is_not_trusted_is_named_with_the_remedies(
    certificates, guarded_server, monkeypatch
):
    if certificates is None:
        pytest.skip("openssl is missing")
    monkeypatch.setenv("NEO4J_PASSWORD", PASSWORD)
    address = guarded_server.uri.partition("://")[2]
    with pytest.raises(GraphUnreachable, match=r"self-signed .* SSL_CERT_FILE.* bolt\+ssc://"):
        open_graph(f"bolt+s://{address}")
    with open_graph(f"bolt+ssc://{address}") as graph:
        assert cells(graph, "RETURN 1 AS one") == [1]
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "public.crt"))
    with open_graph(f"bolt+s://{address}") as graph:
        assert cells(graph, "RETURN 1 AS one") == [1]


def test_a_server_that_speaks_no_tls_is_named_with_the_remedy(neo4j_server, neo4j_graph):
    del neo4j_graph
    scheme, _, address = neo4j_server.uri.partition("://")
    with pytest.raises(GraphUnreachable, match=f"in TLS: .*it is {scheme}://{address}"):
        open_graph(f"{scheme}+ssc://{address}")
