"""A graph over HTTP for a browser, and over the Model Context Protocol for assistants.

`create_app` makes the ASGI application that `xlagraph serve` runs; it only reads.
"""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.serve.app import create_app
    from xlagraph.serve.guard import Access

__all__ = ["Access", "create_app"]

__getattr__ = lazy_names(__name__)
