"""A web server over a folder that can drop connections or change files."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, AnyStr

if TYPE_CHECKING:
    from _typeshed import SupportsRead, SupportsWrite


class WebStore:
    """Faults of the server, and a record of its requests."""

    def __init__(self) -> None:
        self.drops_each = 0
        """Number of times that the content of each file is cut off."""
        self.dropped: set[str] = set()
        """Suffixes of names whose content is always cut off."""
        self.while_sending: dict[str, Callable[[], object]] = {}
        """Action before a file with this suffix ends, so that its reader waits for it."""
        self.gets: Counter[str] = Counter()
        """Number of requests for each path."""
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.address = ""

    def cuts(self, path: str) -> bool:
        """Count a request for a file; return True if its answer is cut off."""
        self.gets[path] += 1
        always = any(path.endswith(end) for end in self.dropped)
        return always or self.gets[path] <= self.drops_each


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *given: object, store: WebStore, **named: object) -> None:
        self.store = store
        super().__init__(*given, **named)  # type: ignore[arg-type]  # the class of a request

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            super().do_GET()
            return
        store = self.store
        with store.lock:
            store.at_once += 1
            store.most_at_once = max(store.most_at_once, store.at_once)
            is_cut = store.cuts(self.path)
        try:
            if is_cut:
                content = path.read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2])
            else:
                super().do_GET()
        finally:
            with store.lock:
                store.at_once -= 1

    def copyfile(self, source: "SupportsRead[AnyStr]", outputfile: "SupportsWrite[AnyStr]") -> None:
        content = source.read()
        outputfile.write(content[:-1])
        for end, act in self.store.while_sending.items():
            if self.path.endswith(end):
                act()
        outputfile.write(content[-1:])

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def web_store(folder: Path) -> Iterator[WebStore]:
    """Serve a folder on a free port of this machine."""
    store = WebStore()
    handler = partial(_Handler, store=store, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    store.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
