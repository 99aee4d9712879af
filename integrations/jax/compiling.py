"""Lower functions, compile them and keep their dumps, even if the compiler fails afterwards."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from xlagraph.ingest.errors import NoMemoryPlan
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.files.memory_dumps import compiled_dump, hold_largest_dump

if TYPE_CHECKING:
    import jax


def lower(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    jit_options: Mapping[str, Any],
    device: "jax.Device | None" = None,
) -> "jax.stages.Lowered":
    """Lower a function for the default device, or for another one; nothing runs.

    Without options a jitted function is lowered unchanged; options replace those it was jitted
    with. Arguments for another device become shapes on it, unless they or the option
    `in_shardings` have a sharding.
    """
    import jax

    given = jax.tree.leaves(jit_options.get("in_shardings"))
    # a `Format` may have a layout alone
    is_placed = any(getattr(leaf, "sharding", leaf) is not None for leaf in given)
    if device is not None and not is_placed:
        arguments = jax.tree.map(lambda leaf: _placed(leaf, device), arguments)
    is_jitted = hasattr(function, "lower")
    if is_jitted and not jit_options:
        lowered: jax.stages.Lowered = function.lower(*arguments)  # type: ignore[attr-defined]
        return lowered
    plain = getattr(function, "__wrapped__", function) if is_jitted else function
    return jax.jit(plain, **jit_options).lower(*arguments)


def _placed(leaf: Any, device: "jax.Device") -> Any:  # noqa: ANN401 - a leaf of any pytree
    """Return a shape on a device for an array; anything else is returned unchanged."""
    import jax
    from jax.sharding import SingleDeviceSharding

    if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
        return leaf
    if isinstance(leaf, jax.ShapeDtypeStruct) and leaf.sharding is not None:
        return leaf
    shape: Any = jax.ShapeDtypeStruct
    return shape(leaf.shape, leaf.dtype, sharding=SingleDeviceSharding(device))


class NoPlan(RuntimeError):
    """A compilation finished, but its memory plan could not be read."""


class CompiledDump(NamedTuple):
    """The dump of one compilation, in memory."""

    files: DumpFiles
    error: str | None
    """Error of the compiler after it planned the memory; None if it finished."""


def compile_lowered(
    lowered: "jax.stages.Lowered",
    run: str,
    options: Mapping[str, str | bool] = MappingProxyType({}),
    *,
    holds_plan: bool,
) -> CompiledDump:
    """Compile a lowered function with options of XLA; return its dump as part of a run.

    ``holds_plan`` is True if executables of this platform contain their plan, as those for CPUs
    do; then no file is written. Otherwise XLA dumps into a temporary folder, and JAX's
    compilation cache is disabled meanwhile, because cached programs are not dumped. Raises the
    compiler's error if it failed before the memory was planned, and NoPlan if there is no dump.
    """
    if holds_plan:
        try:
            return CompiledDump(compiled_dump(lowered.compile(dict(options) or None), run), None)
        except (NoMemoryPlan, ModuleNotFoundError):  # for example, protobuf is not installed
            pass
    failure: RuntimeError | None = None
    with TemporaryDirectory(prefix="xlagraph-") as folder:
        dumping = {**options, "xla_dump_to": folder, "xla_dump_hlo_as_text": True}
        try:
            with _without_compilation_cache():
                lowered.compile(compiler_options=dumping)
        except RuntimeError as error:  # errors of JAX and XLA have several names
            failure = error
        files = hold_largest_dump(Path(folder), run)
    if files is not None:
        return CompiledDump(files, None if failure is None else str(failure))
    if failure is not None:
        raise failure
    raise NoPlan(f"XLA dumped no memory plan of {run}: does XLA_FLAGS dump to another folder?")


@contextmanager
def _without_compilation_cache() -> "Iterator[None]":
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    config: Any = jax.config
    if not (config.jax_enable_compilation_cache and config.jax_compilation_cache_dir):
        yield
        return
    config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()  # JAX checks only once if there is a cache
    try:
        yield
    finally:
        config.update("jax_enable_compilation_cache", True)
        compilation_cache.reset_cache()
