"""Make dumps of bytes in memory, in place of files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from xlagraph.hlo.descriptor_sets import missing_protobuf
from xlagraph.ingest.carriers.carrier import Part
from xlagraph.ingest.carriers.file_bytes import read_bytes
from xlagraph.ingest.carriers.file_names import dump_name
from xlagraph.ingest.carriers.proto.process import compiled_source
from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.ingest.files.dump_files import DumpFiles

_FOLDER = "process"
"""Folder of the run of such a dump."""


def compiled_dump(compiled: Any, run: str) -> DumpFiles:  # noqa: ANN401 - of any version of JAX
    """Return the result of `jax.jit(f).lower(…).compile()` as a dump of a run.

    Raises TypeError for any other object, NoMemoryPlan if it has no plan, and
    ModuleNotFoundError without protobuf.
    """
    if (missing := missing_protobuf()) is not None:
        raise ModuleNotFoundError(f"reading a compilation requires protobuf: {missing}")
    source, platform = compiled_source(compiled)
    return DumpFiles(
        run=run,
        run_path=_FOLDER,
        stem=source.stem,
        key=f"{run}/{source.stem}",
        other_key=None,
        name=dump_name(source.stem)._replace(platform=platform),
        sources=(source,),
        size_bytes=sum(len(part.content or b"") for part in source.parts),
    )


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
