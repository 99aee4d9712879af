"""Errors of the driver as errors of a graph; no message contains a password."""

import ssl
from typing import Final

from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    UnsupportedServerProduct,
)

from xlagraph.graph.errors import (
    GraphError,
    GraphMissing,
    GraphUnreachable,
    GraphUnwritable,
    QueryFailed,
    QueryRefused,
)

TESTED_FROM: Final = "5.26"
"""The oldest release that is tested."""


def graph_error(
    error: Exception,
    *,
    where: str,
    timeout_seconds: float | None = None,
    writes: bool = False,
) -> GraphError:
    """Return the GraphError for a driver error; its message never contains a password."""
    if isinstance(error, ServiceUnavailable | SessionExpired):
        return GraphUnreachable(f"no Neo4j answers at {where}: {_first_line(error)}")
    if isinstance(error, ConfigurationError | UnsupportedServerProduct):
        return GraphUnreachable(
            f"{where} is too old or not Neo4j, xlagraph needs {TESTED_FROM} or later: "
            f"{_first_line(error)}"
        )
    if isinstance(error, OSError | ValueError):
        return GraphUnreachable(f"cannot connect to {where}: {_first_line(error)}")
    if isinstance(error, Neo4jError):
        code = error.code or ""
        message = error.message or _first_line(error)
        if "CredentialsExpired" in code:
            return GraphUnreachable(
                f"the password at {where} must be changed before it can be used: "
                "log in once in Neo4j Browser"
            )
        if "AuthenticationRateLimit" in code:
            return GraphUnreachable(
                f"{where} allows no login for a while, after too many wrong passwords"
            )
        if isinstance(error, AuthError) or "Security.Token" in code:
            return GraphUnreachable(f"{where} rejects the login: {message}")
        if "DatabaseNotFound" in code or "DatabaseUnavailable" in code:
            return GraphMissing(f"no database at {where}: {message}")
        if code.endswith(".AccessMode"):
            return QueryRefused("a statement only reads the graph; this one would write")
        if ".TransactionTimedOut" in code:
            return QueryFailed(f"the statement took longer than {timeout_seconds:g} s")
        if "Security." in code:
            return QueryRefused(f"the user may not do this at {where}: {message}")
        if writes:
            return GraphUnwritable(f"{where} rejects the data: {message}")
        if isinstance(error, ClientError):
            return QueryFailed(message)
    if writes:
        return GraphUnwritable(f"{where} rejects the data: {_first_line(error)}")
    return QueryFailed(_first_line(error))


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(":")


def login_error(uri: str, user: str, *, given: bool) -> GraphUnreachable:
    """Return the error for a login without a password, or with one that is wrong."""
    if given:
        return GraphUnreachable(f"{uri} rejects the password of user {user}")
    return GraphUnreachable(f"{uri} asks user {user} for a password: set NEO4J_PASSWORD")


def encryption_error(error: BaseException, where: str) -> GraphUnreachable | None:
    """Return why a connection could not be encrypted; None for other errors."""
    cause = _cause(error)
    if cause is None:
        return None
    plain, _, rest = where.partition("://")
    plain = plain.partition("+")[0]
    if isinstance(cause, ssl.SSLCertVerificationError):
        return GraphUnreachable(
            f"the certificate of {where} is not trusted: {cause.verify_message}; name the file "
            f"of the authority that signed it in SSL_CERT_FILE, or, if you trust the network, "
            f"take any certificate with {plain}+ssc://{rest}"
        )
    return GraphUnreachable(
        f"{where} does not answer in TLS: {cause.reason or cause}; "
        f"without encryption it is {plain}://{rest}"
    )


def _cause(error: BaseException) -> ssl.SSLError | None:
    """Find the TLS error inside the errors and error groups of the driver."""
    left: list[BaseException | None] = [error]
    while left:
        found = left.pop()
        if isinstance(found, ssl.SSLError):
            return found
        if isinstance(found, BaseExceptionGroup):
            left.extend(found.exceptions)
        if found is not None:
            left.append(found.__cause__ or found.__context__)
    return None
