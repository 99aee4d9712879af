"""Search remote folders by file names, and fetch a few dumps at a time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Final, NamedTuple

from xlagraph.ingest.carriers.carrier import Need
from xlagraph.ingest.errors import ExtraMissing, Problem
from xlagraph.ingest.files.addresses import address_name, without_credentials, without_secrets
from xlagraph.ingest.files.discovery import CARRIERS, ENDINGS, find_dumps
from xlagraph.ingest.files.dump_files import DumpFiles, DumpOrigin, FoundDumps, Listing
from xlagraph.ingest.files.packed_dumps import UnpackedFolders
from xlagraph.ingest.files.store import (
    FILES_AT_ONCE,
    MOST_TRIES,
    STORE_ERRORS,
    Store,
    StoredFile,
    StoreFailed,
)

_SNIFFED_BYTES: Final = 512


class _Remote(NamedTuple):
    """A file and its store."""

    store: Store
    file: StoredFile


class LentDumps(NamedTuple):
    """Dumps with all that another machine needs to fetch their files; picklable."""

    dumps: tuple[DumpFiles, ...]
    files: Mapping[str, tuple[str, StoredFile]]
    """Address (with credentials) and stored file of each path."""
    folders: Mapping[str, str]
    """Address that each temporary folder in these paths replaces."""


class RemoteFolders(ExitStack):
    """Remote folders, each with a temporary folder into which files are fetched when needed."""

    def __init__(self, unpacked: UnpackedFolders | None = None, *, as_listed: bool = False) -> None:
        """Take the folders for archives; ``as_listed`` rejects files changed since listing."""
        super().__init__()
        self._as_listed = as_listed
        self._stop = Event()
        self._unpacked = unpacked or self.enter_context(UnpackedFolders())
        self._files: dict[str, _Remote] = {}
        self._addresses: dict[str, str] = {}
        """Address of each temporary folder."""
        self._profiles: set[str] = set()
        self._threads: ThreadPoolExecutor | None = None

    def find_listed(
        self, address: str, files: Mapping[str, StoredFile], run: str | None
    ) -> FoundDumps:
        """Search a folder whose files were already listed, by their paths below it."""
        of_dumps = {path: file for path, file in files.items() if path.endswith(ENDINGS)}
        return self._find(Store(address, self._stop), of_dumps, None, run)

    def lend(self, dumps: Sequence[DumpFiles]) -> LentDumps:
        """Return dumps for another machine, which must share the disk of local dumps."""
        paths = {str(part.path) for dump in dumps for each in dump.sources for part in each.parts}
        files = {path: self._files[path] for path in paths if path in self._files}
        return LentDumps(
            tuple(dumps),
            {path: (remote.store.address, remote.file) for path, remote in files.items()},
            dict(self._addresses),
        )

    def borrow(self, lent: LentDumps) -> list[DumpFiles]:
        """Return dumps from another machine, with paths in temporary folders of this machine."""
        stores = {address: Store(address, self._stop) for address, _ in lent.files.values()}
        folders = {old: self._folder(address) for old, address in lent.folders.items()}

        def moved(path: Path) -> Path:
            old = next((old for old in folders if path.is_relative_to(old)), None)
            return path if old is None else folders[old] / path.relative_to(old)

        for path, (address, file) in lent.files.items():
            self._files[str(moved(Path(path)))] = _Remote(stores[address], file)
        self._fetch_what_decides([moved(Path(path)) for path in lent.files])
        return [
            replace(
                dump,
                sources=tuple(
                    replace(
                        source,
                        parts=tuple(part._replace(path=moved(part.path)) for part in source.parts),
                    )
                    for source in dump.sources
                ),
            )
            for dump in lent.dumps
        ]

    def find_dumps(self, address: str, run: str | None) -> FoundDumps:
        """Search an address; an address that cannot be listed is a problem.

        Below a folder, only ``….txt`` and ``….pb`` files are considered, packed or not.
        """
        shown = without_credentials(address)
        try:
            store = Store(address, self._stop)
            if not store.is_file():
                return self._find_in_folder(store, run)
            if shown.endswith(ENDINGS):
                return self._find_file(store, run)
            return self._find_unpacked(store, run)
        except FileNotFoundError:
            message = "cannot be read: it does not exist"
        except ExtraMissing as error:
            message = str(error)
        except STORE_ERRORS as error:
            message = f"cannot be listed: {_reason(error)}"
        return FoundDumps((), (Problem(shown, None, message),), frozenset())

    def fetch(self, dumps: Sequence[DumpFiles]) -> Mapping[str, Problem]:
        """Fetch the files of dumps; return, by key, the problems of dumps that are incomplete.

        A dump's files are checked for changes after the last one was fetched. If one differs
        from the listing, which may be old, all of them are listed and fetched once more.
        """
        paths = {dump.key: self._missing_paths(dump) for dump in dumps}
        problems = self._fetch_unchanged(paths)
        if not self._as_listed and (changed := {key: paths[key] for key in problems}):
            problems = self._for_each(changed, self._list_again)
            again = {key: found for key, found in changed.items() if key not in problems}
            problems |= self._fetch_unchanged(again)
        return problems

    def _fetch_unchanged(self, paths: Mapping[str, Sequence[Path]]) -> dict[str, Problem]:
        problems = self._for_each(paths, self._fetch)
        whole = {key: found for key, found in paths.items() if key not in problems}
        return problems | self._for_each(whole, self._compare)

    def _list_again(self, path: Path) -> None:
        store, file = self._files[str(path)]
        self._files[str(path)] = _Remote(store, store.look_at(file.name))

    def release(self, dumps: Iterable[DumpFiles]) -> None:
        """Remove the fetched files of dumps, except profiles, which contain several dumps."""
        for path in (part.path for dump in dumps for each in dump.sources for part in each.parts):
            if str(path) in self._files and str(path) not in self._profiles:
                path.unlink(missing_ok=True)

    def stop(self) -> None:
        """Stop fetching after the current tries."""
        self._stop.set()

    def versions(self, dump: DumpFiles) -> list[tuple[str, str]]:
        """Return the names and versions of the remote files of a dump; empty if it is local."""
        paths = (str(part.path) for source in dump.sources for part in source.parts)
        files = [self._files[path].file for path in paths if path in self._files]
        return [(file.name, file.version) for file in files]

    def name_origins(self, problem: Problem) -> Problem:
        """Return a problem with the address in place of its temporary folder."""
        for folder, address in self._addresses.items():
            if problem.file.startswith(folder):
                return problem._replace(file=address + problem.file.removeprefix(folder))
        return problem

    def _folder(self, address: str) -> Path:
        """Create the temporary folder of an address, which exists until this object is closed."""
        folder = Path(self.enter_context(TemporaryDirectory(prefix="xlagraph-"))).resolve()
        self._addresses[str(folder)] = address
        return folder

    def _find_in_folder(self, store: Store, run: str | None) -> FoundDumps:
        files = {path: file for path, file in store.below() if path.endswith(ENDINGS)}
        return self._find(store, files, None, run)

    def _find_file(self, store: Store, run: str | None) -> FoundDumps:
        """Search a single file, with its companions if the store lists them."""
        file = store.file()
        name = address_name(store.shown)
        try:
            beside = store.beside()
        except STORE_ERRORS:  # a web server need not list its folders
            beside = {}
        files = {path: each for path, each in beside.items() if path.endswith(ENDINGS)}
        return self._find(store, {**files, name: file}, name, run)

    def _find(
        self, store: Store, files: Mapping[str, StoredFile], only: str | None, run: str | None
    ) -> FoundDumps:
        """Search listed files, or only the file of this name with its companions."""
        address = store.shown if only is None else store.shown.rpartition("/")[0]
        folder = self._folder(address)
        paths = {folder / path: file for path, file in files.items()}
        unsized = [path for path, file in paths.items() if file.size is None]
        paths |= zip(unsized, self._look_at(store, [paths[path] for path in unsized]), strict=True)
        self._files |= {str(path): _Remote(store, file) for path, file in paths.items()}
        problems = self._fetch_what_decides(list(paths))
        found = find_dumps(
            folder if only is None else folder / only,
            run,
            origin=DumpOrigin(address_name(address), address),
            listing=Listing((path, file.size or 0) for path, file in paths.items()),
        )
        unread = {problem.file for problem in problems}
        return FoundDumps(
            found.dumps,
            (
                *(self.name_origins(each) for each in problems),
                *(self.name_origins(each) for each in found.problems if each.file not in unread),
            ),
            frozenset() if problems else found.searched,
        )

    def _find_unpacked(self, store: Store, run: str | None) -> FoundDumps:
        path = self._folder(store.shown.rpartition("/")[0]) / address_name(store.shown)
        store.fetch(store.file(), path)
        found = self._unpacked.find_unpacked(path, run, address=store.shown)
        path.unlink(missing_ok=True)
        return found

    def _look_at(self, store: Store, files: Sequence[StoredFile]) -> list[StoredFile]:
        return list(self._pool().map(lambda file: store.look_at(file.name), files))

    def _fetch_what_decides(self, paths: Sequence[Path]) -> list[Problem]:
        """Fetch what finding dumps requires: whole profiles, the first bytes of some text files."""
        wanted: dict[Need, dict[str, list[Path]]] = {need: {} for need in Need}
        for path in paths:
            needs = {each.needs(path.name) for each in CARRIERS}
            need = next(each for each in (Need.ALL, Need.START, Need.NOTHING) if each in needs)
            wanted[need][str(path)] = [path]
        self._profiles |= wanted[Need.ALL].keys()
        problems = self._for_each(wanted[Need.ALL], self._fetch)
        problems |= self._for_each(wanted[Need.START], self._fetch_start)
        return list(problems.values())

    def _fetch_start(self, path: Path) -> None:
        store, file = self._files[str(path)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(store.read_start(file, _SNIFFED_BYTES))

    def _missing_paths(self, dump: DumpFiles) -> list[Path]:
        """Return the remote files of a dump that must be fetched."""
        paths = (part.path for source in dump.sources for part in source.parts)
        return [
            path
            for path in dict.fromkeys(paths)
            if str(path) in self._files and str(path) not in self._profiles
        ]

    def _fetch(self, path: Path) -> None:
        store, file = self._files[str(path)]
        store.fetch(file, path)

    def _compare(self, path: Path) -> None:
        """Raise `_Changed` if a file differs from the listing."""
        store, file = self._files[str(path)]
        if file.version and store.look_at(file.name).version != file.version:
            raise _Changed

    def _for_each(
        self, paths_by_key: Mapping[str, Sequence[Path]], act: Callable[[Path], None]
    ) -> dict[str, Problem]:
        """Apply a function to files in parallel; return the first problem of each key.

        Errors that are not those of a store are raised: they are defects.
        """
        pending = [
            (key, path, self._pool().submit(act, path))
            for key, paths in paths_by_key.items()
            for path in paths
        ]
        problems: dict[str, Problem] = {}
        for key, path, future in pending:
            try:
                future.result()
            except (_Changed, *STORE_ERRORS) as error:
                problems.setdefault(key, Problem(str(path), None, _what_is_wrong(error)))
        return problems

    def _pool(self) -> ThreadPoolExecutor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(FILES_AT_ONCE)
            self.callback(self._threads.shutdown, wait=True, cancel_futures=True)
        return self._threads


class _Changed(Exception):
    """Raised if a file differs from the listing."""


def _what_is_wrong(error: Exception) -> str:
    if isinstance(error, _Changed):
        return "changed while it was read; ingest it again once it is complete"
    if isinstance(error, FileNotFoundError):
        return "cannot be read: it no longer exists"
    tries = f" after {MOST_TRIES} tries" if isinstance(error, StoreFailed) else ""
    return f"cannot be read{tries}: {_reason(error)}"


def _reason(error: Exception) -> str:
    """Return the first line of an error without credentials."""
    text = without_secrets(str(error) or type(error).__name__).splitlines()
    return text[0] if text else type(error).__name__
