"""Driver errors become ours: none gets through, none shows a secret."""

import neo4j.exceptions
import pytest

from xlagraph.graph import GraphError, GraphUnreachable, QueryFailed, QueryRefused
from xlagraph.graph.neo4j.engine import graph_error


def classes(root):
    yield root
    for child in root.__subclasses__():
        yield from classes(child)


ALL = sorted(
    {*classes(neo4j.exceptions.Neo4jError), *classes(neo4j.exceptions.DriverError)},
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("writes", [False, True])
def test_every_error_of_the_driver_is_mapped(kind, writes):
    mapped = graph_error(kind("what the driver says"), where="bolt://host", writes=writes)
    assert isinstance(mapped, GraphError)
    assert type(mapped) is not GraphError


@pytest.mark.parametrize(
    ("code", "expected", "says"),
    [
        ("Neo.ClientError.Statement.AccessMode", QueryRefused, "would write"),
        ("Neo.ClientError.Statement.SyntaxError", QueryFailed, "server says"),
        ("Neo.ClientError.Security.Unauthorized", GraphUnreachable, "log in"),
        ("Neo.ClientError.Security.AuthenticationRateLimit", GraphUnreachable, "for a while"),
        ("Neo.ClientError.Security.CredentialsExpired", GraphUnreachable, "must be changed"),
        ("Neo.ClientError.Security.Forbidden", QueryRefused, "may not"),
        (
            "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
            QueryFailed,
            "longer than 3 s",
        ),
        ("Neo.DatabaseError.General.UnknownError", QueryFailed, "server says"),
    ],
)
def test_a_code_of_the_server_says_what_is_wrong(code, expected, says):
    error = neo4j.exceptions.Neo4jError._hydrate_neo4j(code=code, message="server says")
    mapped = graph_error(error, where="bolt://host", timeout_seconds=3)
    assert type(mapped) is expected
    assert says in str(mapped)
