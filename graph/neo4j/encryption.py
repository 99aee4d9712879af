"""What goes wrong where a connection is to be encrypted, with the remedy."""

import ssl

from xlagraph.graph.errors import GraphUnreachable


def encryption_error(error: BaseException, where: str) -> GraphUnreachable | None:
    """Return why a connection could not be encrypted; None if that is not what went wrong."""
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
    """Find the error of TLS that the driver wraps in its own, or in groups of them."""
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
