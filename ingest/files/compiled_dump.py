"""Make a dump of a compilation of this process, with bytes in place of files."""

from typing import Any

from xlagraph.ingest.carriers.file_names import dump_name
from xlagraph.ingest.carriers.proto.compiled_object import compiled_source
from xlagraph.ingest.carriers.proto.requirement import missing_protobuf
from xlagraph.ingest.files.discovery import DumpFiles

__all__ = ["compiled_dump"]

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
