"""List, fetch and write the files below an address through fsspec, with retries."""

import random
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote
from uuid import uuid4

from xlagraph.ingest.errors import ExtraMissing
from xlagraph.ingest.files.addresses import without_credentials

FILES_AT_ONCE: Final = 16
"""Number of parallel requests; they wait for the network, not for the processor."""
_VERSION: Final = (
    "ETag", "etag", "md5Hash", "Content-MD5", "mtime", "LastModified", "last_modified",
    "Last-Modified", "updated", "created",
)  # fmt: skip
"""Facts that identify a state of a file; the first that a store has is used."""
_WEB: Final = ("http", "https")
MOST_TRIES: Final = 6
_FIRST_WAIT_SECONDS: Final = 0.1
"""First wait, doubled after each try: six tries wait about three seconds in total."""
_FINAL: Final = (
    FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, ImportError,
    NotImplementedError, MemoryError,
    AssertionError, AttributeError, LookupError, NameError, TypeError,
)  # fmt: skip
"""Errors for which a retry is useless; those of the last line are defects of a program."""
STORE_ERRORS: Final = (OSError, ImportError, NotImplementedError)
"""Errors of a store; any other one is a defect of this program."""

_Result = TypeVar("_Result")


class StoreFailed(OSError):
    """Raised if a store fails at each try; the message is that of its last error."""


class StoreStopped(OSError):
    """Raised instead of a retry after a request to stop."""


class StoredFile(NamedTuple):
    """A file of a store, in the state in which it was listed."""

    name: str
    """Name in the spelling of the store."""
    size: int | None
    """Size in bytes; None if the store does not tell it."""
    version: str = ""
    """Text that differs between states of the file, if the store distinguishes them."""


class Store:
    """The file or folder behind an address."""

    def __init__(self, address: str, stop: Event | None = None) -> None:
        """Open an address; raise `ExtraMissing` without fsspec or a package for the protocol."""
        self._stop = stop or Event()
        self.address = address
        self.shown = without_credentials(address)
        """The address without credentials."""
        self._files, self._root = _file_system(address)
        self._is_web = _protocol(address) in _WEB
        self._root = self._root if self._is_web else self._root.rstrip("/")

    def is_file(self) -> bool:
        """Return whether the address names a single file; on the web, if it has no final slash.

        Raises OSError if the address does not exist.
        """
        if self._is_web:
            return not self._root.endswith("/")
        return bool(self._repeated(lambda: self._files.info(self._root))["type"] == "file")

    def file(self) -> StoredFile:
        """Return the file that the address names."""
        return self.look_at(self._root)

    def beside(self) -> dict[str, StoredFile]:
        """Return the files in the folder of the file that the address names, by name."""
        folder = self._root.rpartition("/")[0] + ("/" if self._is_web else "")
        found = self._repeated(lambda: self._files.ls(folder, detail=True))
        return {
            name: _stored(info) for info in found for name in [self._below(folder, info)] if name
        }

    def folders(self) -> tuple[list[str], dict[str, StoredFile]]:
        """Return the folders directly below the address, and the files by name."""
        found = self._in_folder(self._root)
        files = {
            name: _stored(info)
            for info in found
            for name in [self._below(self._root, info)]
            if name is not None
        }
        root = self._root.rstrip("/") + "/"
        names = (
            str(info["name"]).rstrip("/").removeprefix(root)
            for info in found
            if info["type"] == "directory" and str(info["name"]).startswith(root)
        )
        return sorted(name for name in names if name and "/" not in name), files

    def below(self) -> Iterator[tuple[str, StoredFile]]:
        """Yield the files below the address, each with its path relative to it."""
        for info in self._all_below():
            path = self._below(self._root, info)
            if path is not None:
                yield path, _stored(info)

    def look_at(self, name: str) -> StoredFile:
        """Return the current state of a file."""
        info = self._repeated(lambda: self._files.info(name))
        return _stored({**info, "name": name})

    def fetch(self, file: StoredFile, path: Path) -> None:
        """Copy a file of the store to a path, completely or not at all.

        Raises the errors of the store, and OSError if the size differs from the listing.
        """
        part = path.with_name(f"{uuid4().hex}.part")

        def fetch() -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._files.get_file(file.name, str(part))
            size = part.stat().st_size
            if file.size is not None and size != file.size:
                raise OSError(f"expected {file.size:,} bytes, received {size:,}")
            part.replace(path)

        try:
            self._repeated(fetch)
        finally:
            part.unlink(missing_ok=True)

    def read_start(self, file: StoredFile, length: int) -> bytes:
        """Return the first bytes of a file."""
        content: bytes = self._repeated(
            lambda: self._files.cat_file(file.name, start=0, end=min(length, file.size or length))
        )
        return content[:length]

    def write(self, path: Path, name: str) -> None:
        """Write a file below the address, replacing a file of the same name."""
        target = f"{self._root.rstrip('/')}/{name}"

        def write() -> None:
            if not self._is_web:
                self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._files.put_file(str(path), target)
            size = self._files.info(target).get("size")
            if size not in (None, path.stat().st_size):
                raise OSError(f"expected {path.stat().st_size:,} bytes, stored {size:,}")

        self._repeated(write)

    def remove(self, names: list[str]) -> None:
        """Remove files below the address."""
        for name in names:
            self._repeated(lambda name=name: self._files.rm_file(f"{self._root}/{name}"))

    def _repeated(self, call: Any) -> Any:  # noqa: ANN401 - what fsspec returns
        return _repeated(call, self._stop)

    def _all_below(self) -> Iterator[Mapping[str, Any]]:
        if _lists_all(self._files):
            yield from self._repeated(lambda: self._files.find(self._root, detail=True)).values()
            return
        with ThreadPoolExecutor(FILES_AT_ONCE) as threads:
            seen = {self._root.rstrip("/")}
            pending = {threads.submit(self._in_folder, self._root)}
            while pending:
                done: set[Future[list[Any]]]
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for info in (info for future in done for info in future.result()):
                    if info["type"] != "directory":
                        yield info
                    elif (name := info["name"].rstrip("/")) not in seen:
                        seen.add(name)
                        pending.add(threads.submit(self._in_folder, info["name"]))

    def _in_folder(self, folder: str) -> list[Any]:
        return list(self._repeated(lambda: self._files.ls(folder, detail=True)))

    def _below(self, folder: str, info: Mapping[str, Any]) -> str | None:
        """Return the path of a file relative to a folder; None if it is not a file below it."""
        name = str(info["name"])
        folder = folder.rstrip("/") + "/"
        if info["type"] == "directory" or not name.startswith(folder):
            return None
        path = name.removeprefix(folder)
        if self._is_web:
            if "?" in path or "#" in path:  # a link that sorts an index page
                return None
            path = unquote(path)
        parts = path.split("/")
        return None if not path or "\0" in path or {"", ".", ".."} & set(parts) else path


def _repeated(call: Callable[[], _Result], stop: Event) -> _Result:
    """Return the result of a call, which is repeated up to `MOST_TRIES` times if it fails.

    Raises `StoreFailed` after the last try, and `StoreStopped` if ``stop`` is set between two.
    """
    wait = _FIRST_WAIT_SECONDS
    tries = 0
    while not stop.is_set():
        tries += 1
        try:
            return call()
        except _FINAL:
            raise
        except Exception as error:  # each store has other network errors
            if tries == MOST_TRIES:
                raise StoreFailed(str(error) or type(error).__name__) from error
            # jitter: many clients of one store must not retry at the same time
            stop.wait(wait * random.uniform(0.5, 1.5))  # noqa: S311
            wait *= 2
    raise StoreStopped("interrupted")


def _protocol(address: str) -> str:
    return address.rpartition("::")[2].partition("://")[0]


def _file_system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and its path there."""
    try:
        import fsspec
    except ImportError:
        raise ExtraMissing("fsspec is missing: pip install 'xlagraph[remote]'") from None
    options: dict[str, Any] = {"use_listings_cache": False}
    protocol = _protocol(address)
    try:
        if protocol in _WEB:
            import aiohttp

            # no limit for a large file in total, but one for a connection without data
            limit = aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=60)
            options["client_kwargs"] = {"timeout": limit}
        elif protocol in ("s3", "s3a"):
            options["max_concurrency"] = 1  # parts of one file; files are fetched in parallel
            options["config_kwargs"] = {"retries": {"max_attempts": 1}}
        files, root = fsspec.core.url_to_fs(address, **options)
        if hasattr(files, "retries"):
            files.retries = 1  # nested retries would take minutes
    except (ImportError, ValueError) as error:
        raise ExtraMissing(f"{error}: pip install 'xlagraph[remote]'") from None
    except Exception as error:  # each store has other errors of credentials
        raise StoreFailed(str(error) or type(error).__name__) from error
    return files, root


def _lists_all(files: Any) -> bool:  # noqa: ANN401 - a file system of fsspec
    """Return whether a store lists all files below a prefix at once, like an object store."""
    from fsspec.asyn import AsyncFileSystem

    return isinstance(files, AsyncFileSystem) and type(files)._find is not AsyncFileSystem._find


def _stored(info: Mapping[str, Any]) -> StoredFile:
    size = info.get("size")
    fact = next((info[fact] for fact in _VERSION if info.get(fact)), "")
    if isinstance(fact, datetime):  # some stores give seconds in lists and dates in details
        fact = fact.timestamp()
    version = f"{size} {fact}".replace('"', "")
    return StoredFile(str(info["name"]), None if size is None else int(size), version)
