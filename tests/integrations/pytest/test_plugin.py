"""Tests fail if programs break a memory limit, a donation or a baseline."""

import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from xlagraph.graph import open_graph
from xlagraph.jax import memory_plan
from xlagraph.pytest.baseline import portable_path
from xlagraph.queries import run as run_query

pytest_plugins = ["pytester"]

MODEL = """
    import jax, jax.numpy as jnp
    ROW = jax.ShapeDtypeStruct((256,), jnp.float32)
    def step(state):
        return {"a": state["a"] + 1}
"""
GROWN = (
    MODEL
    + """
    def step(state):
        sorted_rows = jnp.sort(state["a"])
        return {"a": state["a"] + 1, "b": sorted_rows}
"""
)


@pytest.fixture(scope="module")
def jax_and_engine() -> None:
    """Import JAX and the engine first: pytester unloads modules that it imports, even native."""
    with memory_plan(lambda x: x + 1, jax.ShapeDtypeStruct((8,), jnp.float32)) as plan:
        plan.advise()


@pytest.fixture
def run(pytester: pytest.Pytester, jax_and_engine: None):
    """Run a test file over `model.py` in this process."""
    pytester.makepyfile(model=MODEL)

    def run_tests(tests: str, *options: str) -> pytest.RunResult:
        preamble = "import jax, jax.numpy as jnp, pytest\nfrom model import ROW, step\n"
        pytester.path.joinpath("test_it.py").write_text(preamble + tests, encoding="utf-8")
        # a tree in which the package was built lists the modules of the tests among its files
        warnings = "-W", "error", "-W", "ignore::pytest.PytestAssertRewriteWarning"
        return pytester.runpytest_inprocess(*warnings, "-p", "no:xdist", *options)

    return run_tests


def test_a_limit_applies_to_the_largest_program_that_a_test_compiles(run, pytester):
    result = run(
        "step = jax.jit(step)\n"
        "state = {'a': jnp.zeros(256)}\n"
        "step(state)\n"  # compiled before, but it counts
        "@pytest.mark.limit_hbm('2 KiB')\n"
        "def test_equal():\n    step(state)\n"
        "@pytest.mark.limit_hbm('2047 B')\n"
        "def test_beyond():\n    step(state)\n"
        "@pytest.mark.limit_hbm('1 B')\n"
        "def test_that_compiles_nothing():\n    pass\n"
        "@pytest.mark.limit_hbm('much')\n"
        "def test_without_a_size():\n    pass\n"
    )
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "jit_step(*) reserves 2,048 B; the limit is 2,047 B",
            "at the physical peak:",
            "1.0 KiB  *model.py:4 *",
            "look: xlagraph query peak/by-line --graph .pytest_cache/d/xlagraph/*beyond.lbug",
            "*limit_hbm: expected bytes such as 64MiB*found 'much'",
        ]
    )
    (file,) = pytester.path.glob(".pytest_cache/d/xlagraph/*.lbug")
    with open_graph(file) as graph:
        assert run_query(graph, "peak/by-line").result.rows


def test_a_failure_of_the_test_itself_comes_first(run):
    result = run("@pytest.mark.limit_hbm('1 B')\ndef test_it():\n    assert step(3) == 4\n")
    result.stdout.fnmatch_lines(["*TypeError: 'int' object is not subscriptable"])


def test_donations_are_asserted_by_the_names_of_arguments(run):
    result = run(
        "def test_donated(memory_plan, assert_donated):\n"
        "    plan = memory_plan(step, {'a': ROW}, donate_argnums=0)\n"
        "    assert_donated(plan)\n"
        "    assert_donated(plan, 'state')\n"
        "    assert_donated(plan, \"state['a']\", in_place=True)\n"
        "def test_not_donated(memory_plan, assert_donated):\n"
        "    assert_donated(memory_plan(step, {'a': ROW}), 'state')\n"
        "def test_nothing_donated(memory_plan, assert_donated):\n"
        "    assert_donated(memory_plan(step, {'a': ROW}))\n"
        "def test_no_such_argument(memory_plan, assert_donated):\n"
        "    assert_donated(memory_plan(step, {'a': ROW}), 'params')\n"
    )
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "step/jit_step(*): donation saves nothing for 1 of 1 arrays",
            "state[[]'a']    1.0 KiB  not donated",
            "step/jit_step(*): no argument is donated; see jax.jit*",
            "step/jit_step(*): no argument is called 'params'; its arguments are state[[]'a']",
        ]
    )


GROWTH = (
    "def test_step(memory_plan, assert_no_growth):\n"
    "    assert_no_growth(memory_plan(step, {'a': ROW}))\n"
)


def test_growth_is_refused_until_it_is_accepted(run, pytester):
    run(GROWTH).stdout.fnmatch_lines(
        ["test_it.py::test_step: memory-baseline.json has no baseline for this test on cpu*"]
    )
    file = pytester.path / "memory-baseline.json"
    file.write_text(json.dumps({"tests": {"test_other.py::test_it": {"tpu": {"lines": []}}}}))
    updated = run(GROWTH, "--update-memory-baseline")
    updated.assert_outcomes(passed=1)
    updated.stdout.fnmatch_lines(
        ["memory baseline: memory-baseline.json: 1 added, 0 changed, 0 unchanged"]
    )
    baseline = json.loads(file.read_text())
    assert "test_other.py::test_it" in baseline["tests"]  # it did not run
    entry = baseline["tests"]["test_it.py::test_step"]["cpu"]
    assert entry["reservedBytes"] == 2048
    assert {"bytes": 1024, "line": "model.py:4", "code": 'return {"a": state["a"] + 1}'} in (
        entry["lines"]
    )
    run(GROWTH).assert_outcomes(passed=1)

    pytester.makepyfile(model=GROWN)
    result = run(GROWTH)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*::test_step reserves 3.* KiB, 1.* KiB more than its baseline of 2.0 KiB (+*%)",
            "grown at the physical peak:",
            '*model.py:7  sorted_rows = jnp.sort(state[[]"a"])',
            "look: xlagraph query peak/by-line --graph .pytest_cache/d/xlagraph/*",
            "accept: pytest --update-memory-baseline, and review memory-baseline.json",
        ]
    )
    run(GROWTH.replace("ROW})", "ROW}), tolerance='60%'")).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("file", "portable"),
    [
        ("/home/ann/project/model/layers.py", "model/layers.py"),
        ("/home/ann/.venv/lib/python3.12/site-packages/flax/nn.py", "flax/nn.py"),
        ("/usr/lib/python3/dist-packages/numpy/core.py", "numpy/core.py"),
        ("/usr/lib/python3.11/functools.py", "functools.py"),
        ("C:\\envs\\a\\Lib\\site-packages\\optax\\adam.py", "optax/adam.py"),
        ("/elsewhere/tool.py", "/elsewhere/tool.py"),
    ],
)
def test_a_line_of_the_baseline_is_the_same_in_every_environment(file, portable):
    assert portable_path(file, Path("/home/ann/project")) == portable


def test_workers_of_xdist_write_one_baseline(pytester):
    pytester.makepyfile(model=MODEL, test_it="from model import ROW, step\n" + GROWTH)
    result = pytester.runpytest_subprocess("-n", "1", "--update-memory-baseline")
    result.assert_outcomes(passed=1)
    tests = json.loads(pytester.path.joinpath("memory-baseline.json").read_text())["tests"]
    assert tests.keys() == {"test_it.py::test_step"}


def test_the_plugin_imports_neither_jax_nor_an_engine():
    program = (
        "import sys, xlagraph.pytest\n"
        "print({name.partition('.')[0] for name in sys.modules} & {'jax', 'ladybug', 'pyarrow'},"
        " [name for name in sys.modules if name.startswith('xlagraph.')])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert shown.stdout == "set() ['xlagraph.pytest']\n"
