"""The example workflow for users: its xlagraph commands do what it says, on the examples."""

import re
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

TREE = Path(__file__).resolve().parents[1]
WORKFLOW = TREE / "docs" / "examples" / "memory-gate.yml"

STEP = re.compile(
    r"^      - name: (?P<name>.+)\n(?P<rest>(?:(?!      - ).*\n)*)",
    re.MULTILINE,
)
SCRIPT = re.compile(r"^        run: \|\n(?P<script>(?:(?: {10}.*)?\n)+)", re.MULTILINE)


def scripts() -> dict[str, str]:
    """Return the script of each step of the workflow by its name."""
    text = WORKFLOW.read_text(encoding="utf-8") + "\n"
    found = {step["name"]: SCRIPT.search(step["rest"]) for step in STEP.finditer(text)}
    return {name: dedent(script["script"]) for name, script in found.items() if script}


@pytest.fixture
def job(tmp_path, monkeypatch, forked_xlagraph):
    """Run steps like a job, with two example runs as its dumps."""
    monkeypatch.setenv("PATH", str(forked_xlagraph), prepend=":")
    monkeypatch.setenv("GITHUB_SHA", "3f2a1c")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    for name in ("XLAGRAPH_GRAPH", "XLAGRAPH_QUERIES", "NEO4J_URI"):
        monkeypatch.delenv(name, raising=False)
    posted = tmp_path / "bin" / "gh"
    posted.parent.mkdir()
    posted.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/posted\n')
    posted.chmod(0o755)
    monkeypatch.setenv("PATH", str(posted.parent), prepend=":")

    def run(before: str, after: str) -> dict[str, int]:
        for side, example in (("before", before), ("after", after)):
            shutil.copytree(TREE / "examples" / "runs" / example, tmp_path / "runs" / side)
        return {
            name: subprocess.run(
                ["bash", "-e", "-c", script], cwd=tmp_path, check=False, capture_output=True
            ).returncode
            for name, script in scripts().items()
            if name != "Dump the plans of both"
        }

    return run


def test_growth_fails_the_job_and_is_still_posted(job, tmp_path):
    codes = job("baseline", "batch2x")
    assert codes == {"Load them": 0, "Compare": 4, "Does it fit?": 0, "Comment": 0}
    comment = (tmp_path / "comment.md").read_text()
    verdict = "`after` needs 1.3 GiB (82.0%) more memory than `before`; at most 2% more is allowed"
    assert comment.startswith(f"**Memory gate failed: {verdict}**\n")
    assert "\n**Does it fit? Yes: 2 compilations;" in comment
    assert comment == (tmp_path / "summary.md").read_text()
    assert "--body-file comment.md" in (tmp_path / "posted").read_text()


def test_a_change_without_growth_passes(job, tmp_path):
    assert set(job("baseline", "remat").values()) == {0}
    assert (tmp_path / "comment.md").read_text().startswith("**Memory gate passed: ")


def test_the_workflow_writes_the_comment_after_a_failed_gate():
    text = WORKFLOW.read_text(encoding="utf-8")
    for name in ("Does it fit?", "Comment"):
        assert f"- name: {name}\n        if: ${{{{ !cancelled() }}}}\n" in text
