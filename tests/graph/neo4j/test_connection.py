"""How a server is reached: encrypted, and by one command after another."""

import base64
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from tests.graph.made_rows import made_rows
from tests.graph_fixtures import own_server, skipped_without_neo4j
from xlagraph.graph import GraphUnreachable, open_graph

ENCRYPTED = """\
dbms.ssl.policy.bolt.enabled=true
dbms.ssl.policy.bolt.base_directory={certificates}
dbms.ssl.policy.bolt.client_auth=NONE
server.bolt.tls_level=OPTIONAL
"""


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A folder with a certificate that nobody has signed but its owner."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is missing")
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


@pytest.mark.usefixtures("no_connection_named")
def test_a_certificate_that_is_not_trusted_is_named_with_the_remedies(
    certificates, tmp_path, monkeypatch
):
    extra = ENCRYPTED.format(certificates=certificates)
    with (
        skipped_without_neo4j(),
        own_server(tmp_path / "home", is_brief=True, extra=extra) as (server, _),
    ):
        address = server.uri.partition("://")[2]
        with pytest.raises(GraphUnreachable, match=r"self-signed .* SSL_CERT_FILE.* bolt\+ssc://"):
            open_graph(f"bolt+s://{address}")
        with open_graph(f"bolt+ssc://{address}") as graph:
            assert graph.query("RETURN 1 AS one").rows == ((1,),)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "public.crt"))
        with open_graph(f"bolt+s://{address}") as graph:
            assert graph.query("RETURN 1 AS one").rows == ((1,),)


def test_a_server_that_speaks_no_tls_is_named_with_the_remedy(neo4j_server, neo4j_graph):
    del neo4j_graph
    scheme, _, address = neo4j_server.uri.partition("://")
    with pytest.raises(GraphUnreachable, match=f"in TLS: .*it is {scheme}://{address}"):
        open_graph(f"{scheme}+ssc://{address}")


@pytest.fixture
def routed(neo4j_server, neo4j_graph, tmp_path, monkeypatch):
    """The URI of the server as one of a cluster has it, and the file of its bookmarks."""
    del neo4j_graph
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    uri = f"neo4j://{neo4j_server.uri.partition('://')[2]}"
    with open_graph(uri) as graph, graph.load() as load:
        load.write(made_rows())
    (kept,) = (tmp_path / "state/xlagraph/bookmarks").iterdir()
    return uri, kept


def test_a_command_reads_what_the_one_before_wrote(routed, neo4j_server):
    """It waits for the transaction that the kept bookmark names: here one that is to come."""
    uri, kept = routed
    kept.write_text(f'["{following(kept)}"]')
    found: list[object] = []

    def ask():
        with open_graph(uri) as graph:
            found.extend(graph.query("MATCH (r:Run) RETURN r.tags AS tags").rows)

    asking = threading.Thread(target=ask)
    asking.start()
    with neo4j_server.driver() as driver:
        database = neo4j_server.database or "neo4j"
        driver.execute_query("MATCH (r:Run) SET r.tags = ['new=1']", database_=database)
    asking.join()
    assert found == [(["new=1"],)]


def following(kept: Path) -> str:
    """Return the bookmark of the transaction after that of a kept one, which ends in its number."""
    (bookmark,) = kept.read_text().strip('[]"').split('", "')
    version, _, coded = bookmark.partition(":")
    packed = base64.b64decode(coded)
    # a list of pairs: 16 bytes that name the database, and a number of as many bytes as it needs
    number, end = packed[19:-1], packed[-1:]
    grown = int.from_bytes(number[1:] or number) + 1
    size = len(number[1:])
    coded_number = number[:1] + grown.to_bytes(size) if size else grown.to_bytes(1)
    return f"{version}:{base64.b64encode(packed[:19] + coded_number + end).decode()}"


@pytest.mark.parametrize("text", ['["rubbish"]', "{", '{"a": 1}', "[1]"])
def test_kept_bookmarks_that_do_not_fit_are_forgotten(routed, text):
    uri, kept = routed
    kept.write_text(text)
    with open_graph(uri) as graph:
        assert graph.query("MATCH (r:Run) RETURN count(*) AS runs").rows == ((1,),)
