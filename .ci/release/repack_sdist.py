"""Pack a source distribution again, so that only its content decides its bytes.

setuptools writes times of today into it; here all have the time of SOURCE_DATE_EPOCH.
"""

import gzip
import io
import os
import sys
import tarfile
from pathlib import Path


def repack(path: Path, epoch: int) -> None:
    """Replace an archive by one with the same files, in order of their names."""
    with tarfile.open(path) as packed:
        members = sorted(packed.getmembers(), key=lambda member: member.name)
        contents = [packed.extractfile(member) for member in members]
        data = [content.read() if content else None for content in contents]
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as repacked:
        for member, content in zip(members, data, strict=True):
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, epoch
            plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            repacked.addfile(plain, io.BytesIO(content) if content is not None else None)
    path.write_bytes(gzip.compress(tar.getvalue(), mtime=epoch))


if __name__ == "__main__":
    repack(Path(sys.argv[1]), int(os.environ["SOURCE_DATE_EPOCH"]))
