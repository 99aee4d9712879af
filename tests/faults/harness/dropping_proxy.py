"""A proxy to a server whose connections can be dropped."""

import contextlib
import socket
import threading
from urllib.parse import urlsplit


class DroppingProxy:
    """A proxy on loopback that passes bytes on, until all connections are to be dropped."""

    def __init__(self, uri: str) -> None:
        self.lead_to(uri)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._left: int | None = None
        self.drops = 0
        """Number of times that connections were dropped."""
        self._turn_away = 0
        self._is_over = False
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def lead_to(self, uri: str) -> None:
        """Connect to this server, from the next connection on."""
        address = urlsplit(uri)
        self._target = (str(address.hostname), address.port or 7687)

    def drop_after(self, sent_bytes: int, *, turn_away: int) -> None:
        """Drop everything after this many more bytes, then reject some connections."""
        with self._lock:
            self._left = sent_bytes
            self._turn_away = turn_away

    def close(self) -> None:
        """Stop, and drop everything."""
        self._is_over = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            self._drop()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while not self._is_over:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._turn_away and self._left is None and self.drops:
                    self._turn_away -= 1
                    client.close()
                    continue
                try:
                    server = socket.create_connection(self._target)
                except OSError:
                    client.close()
                    continue
                self._open += [client, server]
            for source, target, counts in ((client, server, True), (server, client, False)):
                thread = threading.Thread(target=self._pass_on, args=(source, target, counts))
                thread.start()
                self._threads.append(thread)

    def _pass_on(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(65536):
                if counts and self._left is not None:
                    with self._lock:
                        if self._left is not None:
                            self._left -= len(content)
                            if self._left <= 0:
                                # half of it arrives: a message is cut in two
                                target.sendall(content[: len(content) // 2])
                                self._left = None
                                self.drops += 1
                                self._drop()
                                return
                target.sendall(content)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _drop(self) -> None:
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open.clear()
