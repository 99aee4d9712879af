"""`compare --format md` writes a comment for a pull request."""

import re

import pytest

from tests.tiny_dumps import dump, tiny_dump, write_dump

MOST_OF_A_COMMENT = 65_536
"""Most characters that a comment on GitHub may have."""


@pytest.mark.parametrize(("limit", "said"), [("10%", "failed"), ("30%", "passed")])
def test_the_verdict_is_the_first_line(run, graph, limit, said):
    shown = run("compare", "before", "after", "--max-growth", limit, "--format", "md").out
    verdict, planned, *_ = shown.split("\n\n")
    assert verdict == (
        f"**Memory gate {said}: `after` needs 192 B (30.0%) more memory than `before`;"
        f" at most {limit} more is allowed**"
    )
    assert planned == (
        "640 B → 832 B of device memory, as XLA plans it at compile time, summed over 2 programs"
        " (1 compiled program, 0 of them unchanged, 1 only in `before`, 1 only in `after`)."
    )


def test_without_a_gate_it_summarises_the_change(run, graph):
    first, *_ = run("compare", "after", "before", "--format", "md").out.splitlines()
    assert first == "**`before` needs 192 B (23.1%) less memory than `after`**"
    first, *_ = run("compare", "after", "after", "--format", "md").out.splitlines()
    assert first == "**`after` needs as much memory as `after`**"


def test_the_reasons_and_the_growth_by_cause_are_open_and_the_rest_is_folded(run, graph):
    shown = run("compare", "before", "after", "--format", "md").out
    opened = re.sub(r"<details>.*?</details>\n", "", shown, flags=re.DOTALL)
    assert opened.replace("\xa0", " ").split("\n\n", 2)[2].rstrip() == (
        "### Why\n\n"
        "- **+256 B** 1 value has 2 times as many elements, such as f32[64] → f32[128]"
        " (mostly f.py:5)\n"
        "- **-64 B** 1 compilation only in before (jit_g), 1 compilation only in after (jit_h)\n\n"
        "### Memory by cause\n\n"
        "|  | before | after | change |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| temporary values live at the peak | 384 B | 576 B | +192 B |\n"
        "| inputs: arguments such as weights, optimizer state, batch | 128 B | 128 B | 0 |\n"
        "| outputs: results with separate memory | 128 B | 128 B | 0 |\n"
        "| **reserved memory** | 640 B | 832 B | +192 B |"
    )
    assert re.findall("<summary>(.*?)</summary>", shown) == [
        "Commands that show the details",
        "What the words mean",
        "Totals",
        "By compilation: reserved bytes; 0 of 1 pairs are equal, 1 only in before, 1 only in after",
        "By role: allocated bytes, 640 B → 832 B",
        "By op: bytes at the physical peak, 640 B → 832 B",
        "By line: bytes at the physical peak, 640 B → 832 B",
    ]


def test_a_comment_is_short_enough_for_any_number_of_changes(run, tmp_path):
    for number in range(40):
        op = "/".join([f"jit(f{number})", *["é" * 900] * 3, "dot"])
        for side, size in (("a", 256), ("b", 512)):
            text = dump(size + 4 * number, op=op).replace("f.py", f"{'d' * 300}/{number}.py")
            write_dump(tmp_path / "runs" / side, number, f"jit_f{number}", text)
    graph = tmp_path / "large.lbug"
    assert run("ingest", tmp_path / "runs", "--graph", graph).code == 0
    for options in ((), ("--limit", 0)):
        shown = run("compare", "a", "b", "--graph", graph, "--format", "md", *options).out
        assert len(shown.encode()) < MOST_OF_A_COMMENT
        assert shown.count("<details>") == shown.count("</details>") >= 3
        assert "### Memory by cause" in shown


def test_names_are_escaped_and_mention_no_user(run, tmp_path):
    op = "jit(f)/@team|`x`</details>/mul @ @f.py:1"
    for side, count in (("a", 4), ("b", 8)):
        text = tiny_dump(
            f"0 | {4 * count} | preallocated-temp",
            f"0 | a | f32[{count}]{{0}} | 0 | {4 * count} | 0-1 | iota() | {op}",
        )
        write_dump(tmp_path / "runs" / side, 1, "jit_f", text)
    graph = tmp_path / "g.lbug"
    run("ingest", tmp_path / "runs", "--graph", graph)
    shown = run("compare", "a", "b", "--graph", graph, "--format", "md").out
    outside_code = re.sub(r"`[^`]*`", "", shown)
    assert not re.search("@[a-z]", outside_code)
    assert len(re.findall(r"(?<!\\)</details>", outside_code)) == outside_code.count("<details>")
