"""Plots in a terminal: a series as lines, groups as bars with shares."""

import io

from xlagraph.cli.output.terminal import write_bars, write_series


def drawn(write, columns, rows):
    stream = io.StringIO()
    write(columns, rows, stream)
    return stream.getvalue().splitlines()


def test_bars_are_as_long_as_their_bytes_and_show_their_share(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    rows = [("dot", 3, 3 * 2**20), (None, 1, 2**20), ("add", 1, 0)]
    dot, nameless, add = drawn(write_bars, ("opName", "values", "physicalBytes"), rows)
    assert dot.split()[:4] == ["dot", "3.0", "MiB", "75.0%"]
    assert nameless.split()[:4] == ["null", "1.0", "MiB", "25.0%"]
    assert (dot.count("█"), nameless.count("█")) == (23, 7)  # and five eighths of a block
    assert "█" not in add


def test_a_series_shows_its_highest_bytes_and_its_steps_on_the_axes(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    rows = [(step, "x", step * 2**20, step * 2**19) for step in range(50)]
    lines = drawn(write_series, ("step", "instruction", "logicalBytes", "physicalBytes"), rows)
    assert max(map(len, lines)) <= 60
    assert any("26.9 MiB" in line or "24.5 MiB" in line for line in lines)
    assert "physicalBytes" in lines[-1]  # without colours one line: the group that has bytes


def test_a_single_step_is_drawn(monkeypatch):
    assert drawn(write_series, ("step", "physicalBytes"), [(0, 64)])


def test_rows_are_drawn_if_requested(run, graph):
    asked = ("--compilation", "after/module_0001")
    plotted = run("query", "peak/by-op", *asked, "--plot")
    assert plotted.code == 0
    assert "█" in plotted.out
    assert "step" in run("query", "peak/timeline", *asked, "--plot").out
    assert run("query", "peak/timeline", *asked).out.startswith("step  instruction")


def test_rows_without_bytes_cannot_be_drawn(run, graph):
    ended = run(
        "query", "alias/names", "--compilation", "after/module_0001", "--value", "t", "--plot"
    )
    assert ended.code == 2
    assert "no column of bytes" in ended.err


def test_a_plot_has_no_columns_to_select(run, graph):
    for option in (["--columns", "step"], ["--wide"]):
        ended = run("query", "peak/timeline", "after/module_0001", "--plot", *option)
        assert ended.code == 2
        assert "omit --columns and --wide" in ended.err
