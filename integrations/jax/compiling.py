"""Compile what is lowered, and keep the dump of it, also where the compiler then fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from xlagraph.ingest.files.compiled_dump import compiled_dump
from xlagraph.ingest.files.discovery import DumpFiles
from xlagraph.ingest.files.held_dump import hold_largest_dump
from xlagraph.ingest.problems.errors import NoMemoryPlan
from xlagraph.jax.errors import NoPlan

if TYPE_CHECKING:
    import jax

__all__ = ["CompiledDump", "compile_lowered"]


class CompiledDump(NamedTuple):
    """The dump of one compilation, in memory."""

    files: DumpFiles
    error: str | None
    """What the compiler said after the memory was planned; None if it finished."""


def compile_lowered(lowered: "jax.stages.Lowered", run: str, *, holds_plan: bool) -> CompiledDump:
    """Compile and return the dump as one of a run.

    ``holds_plan`` says that executables of this platform hold their plan, as those for CPUs do:
    then no file is written. Else XLA dumps into a folder, which is removed, and JAX's
    compilation cache is off meanwhile: what is found there is not dumped. Raises the error of
    the compiler if that came before the memory was planned, and NoPlan without a dump.
    """
    if holds_plan:
        try:
            return CompiledDump(compiled_dump(lowered.compile(), run), None)
        except (NoMemoryPlan, ModuleNotFoundError):  # such as protobuf
            pass
    failure: RuntimeError | None = None
    with TemporaryDirectory(prefix="xlagraph-") as folder:
        options: dict[str, str | bool] = {"xla_dump_to": folder, "xla_dump_hlo_as_text": True}
        try:
            with _without_compilation_cache():
                lowered.compile(compiler_options=options)
        except RuntimeError as error:  # of JAX and XLA, by one name or another
            failure = error
        files = hold_largest_dump(Path(folder), run)
    if files is not None:
        return CompiledDump(files, None if failure is None else str(failure))
    if failure is not None:
        raise failure
    raise NoPlan(f"XLA dumped no memory plan of {run}: is the dump redirected by XLA_FLAGS?")


@contextmanager
def _without_compilation_cache() -> "Iterator[None]":
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    config: Any = jax.config
    if not (config.jax_enable_compilation_cache and config.jax_compilation_cache_dir):
        yield
        return
    config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()  # JAX asks once whether there is one
    try:
        yield
    finally:
        config.update("jax_enable_compilation_cache", True)
        compilation_cache.reset_cache()
