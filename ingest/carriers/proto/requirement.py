"""The check that protobuf is installed, before messages are read."""

from importlib.util import find_spec

__all__ = ["missing_protobuf"]

_INSTALL = "pip install 'xlagraph[proto]'"


def missing_protobuf() -> str | None:
    """Return how to install protobuf; None if it is installed.

    The C version is required, because the Python version takes 100 times as long.
    """
    try:
        if find_spec("google.protobuf") is None:
            return _INSTALL
    except ModuleNotFoundError:
        return _INSTALL
    from google.protobuf.internal import api_implementation

    if api_implementation.Type() == "python":
        return f"{_INSTALL}, without PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python"
    return None
