"""Programs that other code compiles are recorded, and shown below a notebook cell."""

import jax
import jax.numpy as jnp
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from xlagraph.jax import watch_compilations


@jax.jit
def add_one(x):
    return x + 1


def modules(watch):
    return [plan.name.partition("/")[2].partition("(")[0] for plan in watch.plans]


def test_each_program_is_recorded_once_unless_it_was_compiled_before():
    x = jnp.zeros(256)
    with watch_compilations(compile_again=True) as first:
        add_one(add_one(x))
    assert modules(first) == ["jit_add_one"]
    assert first.plans[0].reserved == 2048
    with watch_compilations() as second:
        add_one(x)
    assert second.plans == []
    with watch_compilations(compile_again=True) as third:
        add_one(x)
    add_one(jnp.zeros(3))
    assert modules(third) == ["jit_add_one"]


@pytest.fixture
def shell():
    made = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    made.run_line_magic("load_ext", "xlagraph")
    return made


def test_a_cell_shows_the_programs_it_compiled_and_their_largest_lines(shell):
    shell.run_cell("import jax, jax.numpy as jnp; x = jnp.zeros(256)")
    shown = shell.run_cell_magic("xla_memory", "", "y = jax.jit(lambda x: x * 3)(x)")
    (programs,) = shown.outline().tables
    assert [(row[0].partition("(")[0], *row[1:3]) for row in programs.rows] == [
        ("jit__lambda", 2048, 2048)
    ]
    assert "2.0 KiB" in shown._repr_html_()
    assert shell.user_ns["xla_memory"] is shown
    assert float(shell.user_ns["y"][0]) == 0


def test_a_cell_that_compiles_nothing_says_so(shell):
    assert repr(shell.run_cell_magic("xla_memory", "found", "a = 1")) == "nothing was compiled"
    assert shell.user_ns["found"].plans == []
