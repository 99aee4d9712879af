"""Programs that JAX compiles while other code runs, found through JAX's monitoring events."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from xlagraph.ingest.errors import NoMemoryPlan
from xlagraph.ingest.files.memory_dumps import compiled_dump
from xlagraph.jax.function_plan import FunctionPlan

_COMPILED: Final = "backend_compile"
"""Part of the name of the event that JAX reports after each compilation."""
_active: Final[list["Watch"]] = []
_listens: Final[list[bool]] = []
"""Contains True once the listener is registered; some versions of JAX cannot remove one."""


class Watch:
    """The programs compiled since a watch began, in order."""

    def __init__(self) -> None:
        self.plans: list[FunctionPlan] = []
        self.unreadable: list[str] = []
        """Reasons why a program has no plan here: GPU and TPU executables do not contain theirs."""
        self._known = _live_executables()

    def look(self) -> None:
        """Add the programs compiled since the last look."""
        # while a reference is kept, an executable is the same object at every look
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
    """Record the programs compiled during a `with` block, in any thread of this process.

    A function that was compiled before is not compiled again, and so not recorded, unless
    ``compile_again`` clears JAX's caches first.
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
    """An executable with the methods of `jax.stages.Compiled` that are needed."""

    def __init__(self, executable: Any) -> None:  # noqa: ANN401 - of any version of jaxlib
        self._executable = executable

    def runtime_executable(self) -> Any:  # noqa: ANN401
        return self._executable

    def memory_analysis(self) -> Any:  # noqa: ANN401
        return self._executable.get_compiled_memory_stats()
