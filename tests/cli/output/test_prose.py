"""Sentences are wrapped at words on a terminal, and nowhere else."""

from io import StringIO

import pytest

from xlagraph.cli.output.messages import write_prose


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")


def test_a_terminal_gets_lines_that_fit_with_an_indent_after_the_first():
    shown = Terminal()
    write_prose("JAX:  wrap the layer in jax.checkpoint, or so", shown, indent=6)
    assert shown.getvalue() == "JAX:  wrap the layer in\n      jax.checkpoint, or so\n"


def test_a_file_gets_the_unchanged_line():
    written = StringIO()
    write_prose("JAX:  wrap the layer in jax.checkpoint, or so", written, indent=6)
    assert written.getvalue() == "JAX:  wrap the layer in jax.checkpoint, or so\n"


def test_a_path_longer_than_a_line_is_not_broken():
    shown = Terminal()
    path = "/runs/baseline/module_0004.jit_train_step.txt"
    write_prose(f"left out: {path}: empty", shown)
    assert shown.getvalue().splitlines() == ["left out:", f"{path}:", "empty"]


def test_an_empty_line_stays_empty():
    shown = Terminal()
    write_prose("", shown)
    assert shown.getvalue() == "\n"
