"""The folder of an export that all machines of a cluster share: a path or an address."""

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from xlagraph.graph.errors import GraphUnwritable
from xlagraph.graph.neo4j.manifest import MANIFEST, Manifest, read_manifest
from xlagraph.graph.neo4j.merge import merge_exports
from xlagraph.graph.schema import SHARED_TABLES
from xlagraph.ingest.errors import ExtraMissing
from xlagraph.ingest.files.addresses import is_address, without_credentials, without_secrets
from xlagraph.ingest.files.store import FILES_AT_ONCE, Store

PARTS: Final = "parts"
_READ_BY_A_MERGE: Final = (*SHARED_TABLES, "Compilation", "Run")


class SharedFolder:
    """The folder for an export's parts, and finally for the merged export."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.shown = without_credentials(place)

    def check_is_empty(self) -> None:
        """Raise `GraphUnwritable` if the folder contains anything."""
        if is_address(self.place):
            check_is_empty(self.place)
        elif (folder := Path(self.place)).exists() and any(folder.iterdir()):
            raise GraphUnwritable(f"{folder} is not empty; name a folder that is new or empty")

    @contextmanager
    def new_part(self, name: str) -> Iterator[Path]:
        """Provide a folder for a part, which others can see once the context ends."""
        if not is_address(self.place):
            folder = Path(self.place, PARTS, name)
            folder.parent.mkdir(parents=True, exist_ok=True)
            yield folder
            return
        with TemporaryDirectory(prefix="xlagraph-") as temporary:
            part = Path(temporary, name)
            yield part
            if part.exists():  # a part without compilations has no files
                upload(part, f"{self.place.rstrip('/')}/{PARTS}/{name}")

    def merge(self, names: Sequence[str]) -> Manifest:
        """Merge these parts into one export, and remove all other parts."""
        if not is_address(self.place):
            folder = Path(self.place)
            for part in (folder / PARTS).iterdir():
                if part.name not in names:  # written by an attempt that was repeated
                    shutil.rmtree(part)
            return merge_exports(folder, [folder / PARTS / name for name in names])
        with TemporaryDirectory(prefix="xlagraph-") as temporary:
            folder = Path(temporary)
            self._fetch_parts(folder, names)
            manifest = merge_exports(folder, [folder / PARTS / name for name in names])
            upload(folder, self.place, leave_out=PARTS)
            return manifest

    def _fetch_parts(self, folder: Path, names: Sequence[str]) -> None:
        """Fetch the files that a merge reads; remove the parts of attempts that were repeated."""
        store = Store(self.place)
        stored = dict(store.below())
        foreign = [path for path in stored if path.split("/")[1:2] not in [[n] for n in names]]
        store.remove(foreign)

        def fetch(path: str) -> None:
            store.fetch(stored[path], folder / path)

        with ThreadPoolExecutor(FILES_AT_ONCE) as threads:
            manifests = [f"{PARTS}/{name}/{MANIFEST}" for name in names]
            list(threads.map(fetch, manifests))
            tables = [
                f"{PARTS}/{name}/{file}"
                for name in names
                for table, files in read_manifest(folder / PARTS / name).files.items()
                if table in _READ_BY_A_MERGE
                for file in files
            ]
            list(threads.map(fetch, tables))


def check_is_empty(address: str) -> None:
    """Raise `GraphUnwritable` if there is a file below an address."""
    try:
        found = next(iter(Store(address).below()), None)
    except FileNotFoundError:
        return
    except Exception as error:
        if isinstance(error, ExtraMissing):
            raise
        reason = without_secrets(str(error))
        raise GraphUnwritable(
            f"{without_credentials(address)} cannot be listed: {reason}"
        ) from error
    if found is not None:
        shown = without_credentials(address)
        raise GraphUnwritable(f"{shown} is not empty, it contains {found[0]}; name another folder")


def upload(folder: Path, address: str, *, leave_out: str | None = None) -> None:
    """Copy an export's files to an address, its manifest last; raises `GraphUnwritable`."""
    store = Store(address)
    names = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] != leave_out
    ]
    try:
        with ThreadPoolExecutor(FILES_AT_ONCE) as threads:
            rest = [name for name in names if name != MANIFEST]
            list(threads.map(lambda name: store.write(folder / name, name), rest))
        if MANIFEST in names:
            store.write(folder / MANIFEST, MANIFEST)
    except Exception as error:
        reason = without_secrets(str(error))
        raise GraphUnwritable(f"{store.shown} could not be written: {reason}") from error
