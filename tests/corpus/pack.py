"""Pack real dumps into the archive next to this file; the same dumps give the same bytes.

    python -m tests.corpus.pack FOLDER...

Each folder becomes one in the archive. Absolute paths of programs become `programs/NAME.py`:
the original paths are private, and the lengths of lines do not depend on them.
"""

import io
import lzma
import re
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

ARCHIVE = Path(__file__).with_name("dumps.tar.xz")
PROGRAM = re.compile(rb'"/(?:[^"/]+/)*([^"/]+\.py)"')


def packed(folders: Iterable[Path]) -> bytes:
    """Return a tar of the dumps below folders, sorted by name, without times and owners."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder in sorted(folders, key=lambda folder: folder.name):
            for path in sorted(folder.rglob("*.txt")):
                text = PROGRAM.sub(rb'"programs/\1"', path.read_bytes())
                member = tarfile.TarInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
    return written.getvalue()


def unpack(folder: Path) -> None:
    """Write the dumps of the archive below a folder."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")


if __name__ == "__main__":
    ARCHIVE.write_bytes(
        lzma.compress(packed(map(Path, sys.argv[1:])), preset=9 | lzma.PRESET_EXTREME)
    )
