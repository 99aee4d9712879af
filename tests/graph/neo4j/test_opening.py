"""Opening a server that hangs up, is too old, or does not use TLS."""

import socket
import threading
from contextlib import suppress

import pytest

from xlagraph.graph import GraphUnreachable, open_graph

pytestmark = pytest.mark.usefixtures("no_connection_named")


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


def answer(listener, protocol, agent):
    """Answer the Bolt messages of an opening; every request succeeds."""
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
def test_a_server_that_is_too_old_is_refused_with_the_required_version(protocol, agent):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, args=(listener, protocol, agent), daemon=True).start()
        uri = f"bolt://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(GraphUnreachable, match=f"{uri} is .*needs 5.26 or later"):
            open_graph(uri)
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # ends the thread


def test_a_server_that_speaks_no_tls_is_named_with_the_remedy(neo4j_server, neo4j_graph):
    del neo4j_graph
    scheme, _, address = neo4j_server.uri.partition("://")
    with pytest.raises(GraphUnreachable, match=f"in TLS: .*it is {scheme}://{address}"):
        open_graph(f"{scheme}+ssc://{address}")
