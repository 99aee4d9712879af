"""Temporary folders for dumps, and the removal of those that a killed process left."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Final

from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.runtime.process_identity import has_ended, this_process

__all__ = ["temporary_dump_folder"]

_PREFIX: Final = "xlagraph-record-"
_OWNER: Final = "recorded-by"
"""File with the identity of the process that removes the folder."""


@contextmanager
def temporary_dump_folder(notify_kept: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a folder that is removed at the end; after an error, it is kept if it has dumps.

    Folders of processes that were killed are removed first. ``notify_kept`` gets a kept folder.
    """
    for owner in Path(gettempdir()).glob(f"{_PREFIX}*/{_OWNER}"):
        with contextlib.suppress(OSError):  # of another user, or removed meanwhile
            if has_ended(owner.read_text(encoding="utf-8")):
                shutil.rmtree(owner.parent)
    folder = Path(mkdtemp(prefix=_PREFIX))
    owner = folder / _OWNER
    owner.write_text(this_process(), encoding="utf-8")
    try:
        yield folder
    except BaseException:
        owner.unlink(missing_ok=True)
        found = find_dumps(folder)
        if found.dumps or found.problems:
            notify_kept(folder)
        else:
            shutil.rmtree(folder)
        raise
    shutil.rmtree(folder)
