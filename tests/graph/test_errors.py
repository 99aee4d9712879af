"""All driver errors become errors of xlagraph, and none shows a secret."""

import neo4j.exceptions
import pytest
from neo4j.exceptions import AuthError, ClientError, CypherSyntaxError, DatabaseError, Forbidden

from xlagraph.graph import GraphError, GraphUnreachable, QueryFailed, QueryRefused
from xlagraph.graph.neo4j.driver_errors import graph_error


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
    ("kind", "code", "expected", "says"),
    [
        (ClientError, "Statement.AccessMode", QueryRefused, "would write"),
        (CypherSyntaxError, "Statement.SyntaxError", QueryFailed, "server says"),
        (AuthError, "Security.Unauthorized", GraphUnreachable, "login"),
        (ClientError, "Security.AuthenticationRateLimit", GraphUnreachable, "for a while"),
        (ClientError, "Security.CredentialsExpired", GraphUnreachable, "must be changed"),
        (Forbidden, "Security.Forbidden", QueryRefused, "may not"),
        (
            ClientError,
            "Transaction.TransactionTimedOutClientConfiguration",
            QueryFailed,
            "longer than 3 s",
        ),
        (DatabaseError, "General.UnknownError", QueryFailed, "server says"),
    ],
)
def test_a_code_of_the_server_says_what_is_wrong(kind, code, expected, says):
    error = type(kind.__name__, (kind,), {"code": code, "message": "server says"})("server says")
    mapped = graph_error(error, where="bolt://host", timeout_seconds=3)
    assert type(mapped) is expected
    assert says in str(mapped)
