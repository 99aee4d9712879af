"""Keep a dump in memory, so that it outlives the folder that it was read from."""

from dataclasses import replace
from pathlib import Path

from xlagraph.ingest.carriers.carrier import Part
from xlagraph.ingest.carriers.file_bytes import read_bytes
from xlagraph.ingest.files.discovery import DumpFiles, find_dumps

__all__ = ["hold_largest_dump"]


def hold_largest_dump(folder: Path, run: str) -> DumpFiles | None:
    """Read the largest dump of a folder into memory; return None if there is no dump.

    A compilation may dump several modules, because XLA compiles small ones to time kernels.
    Raises OSError, EOFError or zlib.error if a file cannot be read.
    """
    dumps = find_dumps(folder, run).dumps
    if not dumps:
        return None
    largest = max(dumps, key=lambda dump: (dump.size_bytes, dump.key))
    sources = tuple(
        replace(source, parts=tuple(map(_held, source.parts))) for source in largest.sources
    )
    return replace(largest, sources=sources)


def _held(part: Part) -> Part:
    content = read_bytes(part.path, part.start, part.length)
    return part._replace(path=Path(part.path.name), content=content)
