"""What JAX compiles while other code runs, told by the events that JAX itself reports."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from xlagraph.ingest.files.compiled_dump import compiled_dump
from xlagraph.ingest.problems.errors import NoMemoryPlan
from xlagraph.jax.function_plan import FunctionPlan

__all__ = ["Watch", "watch_compilations"]

_COMPILED: Final = "backend_compile"
"""Part of the name of the event that JAX reports after each compilation."""
_active: Final[list["Watch"]] = []
_listens: Final[list[bool]] = []
"""Not empty once the listener is registered: not every JAX can remove one."""


class Watch:
    """The programs that were compiled since a watch began, in their order."""

    def __init__(self) -> None:
        self.plans: list[FunctionPlan] = []
        self.unreadable: list[str] = []
        """Why a program is not among them: executables for GPUs and TPUs do not hold their plan."""
        self._known = _live_executables()

    def look(self) -> None:
        """Add the programs that are new."""
        # held, an executable stays the same object at every look
        for executable in _live_executables():
            if any(executable is known for known in self._known):
                continue
            self._known.append(executable)
            try:
                self.plans.append(FunctionPlan(compiled_dump(_Compiled(executable), "compiled")))
            except NoMemoryPlan as error:
                self.unreadable.append(str(error))


@contextmanager
def watch_compilations(*, compile_again: bool = False) -> Iterator[Watch]:
    """Watch what the code of a `with` block compiles, in any thread of this process.

    A function that was compiled before is not compiled, and so not seen, unless
    ``compile_again`` clears the caches of JAX first.
    """
    import jax

    if not _listens:
        jax.monitoring.register_event_duration_secs_listener(_listen)
        _listens.append(True)
    if compile_again:
        clear_caches: Any = jax.clear_caches
        clear_caches()
    watch = Watch()
    _active.append(watch)
    try:
        yield watch
    finally:
        _active.remove(watch)


def _listen(event: str, duration_secs: float, **_: str | int) -> None:
    del duration_secs
    if _COMPILED in event:
        for watch in _active:
            watch.look()


def _live_executables() -> list[Any]:
    """Return the programs of the default backend, the oldest first."""
    import jax

    client: Any = jax.local_devices()[0].client
    return list(reversed(client.live_executables()))


class _Compiled:
    """An executable with the methods of `jax.stages.Compiled` that are asked."""

    def __init__(self, executable: Any) -> None:  # noqa: ANN401 - of any version of jaxlib
        self._executable = executable

    def runtime_executable(self) -> Any:  # noqa: ANN401
        return self._executable

    def memory_analysis(self) -> Any:  # noqa: ANN401
        return self._executable.get_compiled_memory_stats()
