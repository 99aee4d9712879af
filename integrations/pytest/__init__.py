"""A pytest plugin that checks the memory of compiled programs: `pip install 'xlagraph[pytest]'`.

It adds `@pytest.mark.limit_hbm("2 GiB")` and the fixtures `memory_plan`, `assert_donated` and
`assert_no_growth`. JAX and the graph engine are imported only when a test uses them.
"""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from xlagraph.jax import FunctionPlan
    from xlagraph.pytest.baseline_session import BaselineSession

__all__: list[str] = []

MARKER: Final = "limit_hbm"
_SESSION: Final[pytest.StashKey["BaselineSession"]] = pytest.StashKey()
_WRITTEN: Final = pytest.StashKey[str]()
_FROM_WORKER: Final = "xlagraph_memory_baseline"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the baseline, and the setting for its file."""
    parser.getgroup("xlagraph").addoption(
        "--update-memory-baseline",
        action="store_true",
        help="write the memory that plans reserve now to the baseline of assert_no_growth",
    )
    parser.addini(
        "memory_baseline",
        "baseline file that assert_no_growth compares with",
        default="memory-baseline.json",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(limit): fail if the test compiles a program that reserves more than the limit,"
        " such as '2 GiB'",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Compare the programs that a marked test compiles with its limit."""
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        return (yield)
    from xlagraph.jax import watch_compilations
    from xlagraph.pytest.limit import fail_beyond, limit_of

    limit_bytes = limit_of(marker)
    with watch_compilations(compile_again=True) as watch:
        outcome = yield
    fail_beyond(limit_bytes, watch, item.nodeid, _graph_folder(item.config))
    return outcome


@pytest.fixture
def memory_plan() -> "Iterator[Callable[..., FunctionPlan]]":
    """Return `xlagraph.jax.memory_plan`, with plans that are closed after the test."""
    from xlagraph.jax import memory_plan as plan_of

    plans: list[FunctionPlan] = []

    def plan(function: Callable[..., Any], *arguments: Any, **options: Any) -> "FunctionPlan":  # noqa: ANN401
        plans.append(plan_of(function, *arguments, **options))
        return plans[-1]

    yield plan
    for each in plans:
        each.close()


@pytest.fixture
def assert_donated(request: pytest.FixtureRequest) -> "Callable[..., None]":
    """Return a check that arguments are donated to outputs.

    Its parameters are `(plan, "params", …, in_place=False)`.
    """
    from xlagraph.pytest.donations import fail_unless_donated

    def check(plan: "FunctionPlan", *arguments: str, in_place: bool = False) -> None:
        __tracebackhide__ = True
        folder = _graph_folder(request.config)
        test = request.node.nodeid
        fail_unless_donated(plan, arguments, in_place=in_place, test=test, folder=folder)

    return check


@pytest.fixture
def assert_no_growth(request: pytest.FixtureRequest) -> "Callable[..., None]":
    """Return a check that a plan reserves no more than its baseline.

    Its parameters are `(plan, name="", tolerance="0%")`.
    """
    session = _session(request.config)
    test = request.node.nodeid

    def check(plan: "FunctionPlan", name: str = "", *, tolerance: str | int = 0) -> None:
        __tracebackhide__ = True
        key = f"{test}[{name}]" if name else test
        session.check(plan, key, tolerance, _graph_folder(request.config))

    return check


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the baseline; a worker of xdist sends its part to the process that started it."""
    found = session.config.stash.get(_SESSION, None)
    if found is None or not found.updated:
        return
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_FROM_WORKER] = found.updated
    else:
        session.config.stash[_WRITTEN] = found.write()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Write how many entries of the baseline were added and changed."""
    if written := config.stash.get(_WRITTEN, None):
        terminalreporter.write_line(f"memory baseline: {written}")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:  # noqa: ANN401 - of xdist
    """Add the part of the baseline that a worker of xdist has sent."""
    if updated := getattr(node, "workeroutput", {}).get(_FROM_WORKER):
        _session(node.config).updated.update(updated)


def _session(config: pytest.Config) -> "BaselineSession":
    if _SESSION not in config.stash:
        from xlagraph.pytest.baseline_session import BaselineSession

        config.stash[_SESSION] = BaselineSession(
            config.rootpath / str(config.getini("memory_baseline")),
            config.rootpath,
            is_updated=bool(config.getoption("--update-memory-baseline")),
        )
    return config.stash[_SESSION]


def _graph_folder(config: pytest.Config) -> Path | None:
    """Return the folder for the graphs of failures; None with ``-p no:cacheprovider``."""
    cache = getattr(config, "cache", None)
    return None if cache is None else Path(cache.mkdir("xlagraph"))
