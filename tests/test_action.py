"""The scripts of the GitHub Action and of the pre-commit hook, run like by their runners.

A script replaces `gh`: it knows one push of main with an artifact, and stores the posted comment.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny_dumps import dump, write_dump

TREE = Path(__file__).resolve().parents[1]
SCRIPTS = TREE / ".github" / "action"
GH = """#!/bin/sh
echo "$@" >> "$STAND_IN/calls"
case "$1 $2" in
    "run list") cat "$STAND_IN/runs" ;;
    "run download") test "$3" = 7 && mkdir -p "$7" && cp "$STAND_IN"/artifact/* "$7" ;;
    "api repos/o/r/issues/5/comments") cat "$STAND_IN/comments" ;;
    api*) test ! -e "$STAND_IN/read-only" && cp "$RUNNER_TEMP/xlagraph-plan/body.md" "$STAND_IN" ;;
esac
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """Return the folder with the data of `gh`: runs, an artifact, comments."""
    folder = tmp_path / "gh"
    folder.mkdir()
    write_dump(folder / "artifact", 1, "jit_f", dump(256))
    (folder / "runs").write_text("aaa 6\nbase 7\n")
    (folder / "comments").write_text("")
    return folder


@pytest.fixture
def job(tmp_path, stand_in, forked_xlagraph):
    """Run steps of the action in the workspace of a job; return exit codes and outputs."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "gh").write_text(GH)
    (binaries / "gh").chmod(0o755)
    temporary = tmp_path / "runner"
    (temporary / "xlagraph").mkdir(parents=True)
    (temporary / "xlagraph" / "bin").symlink_to(forked_xlagraph)
    for size in (256, 512):
        write_dump(tmp_path / f"dumps-{size}", 1, "jit_f", dump(size))

    def run(*steps: str, **inputs: str) -> tuple[list[int], str]:
        environment = {
            "PATH": f"{binaries}:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "GITHUB_OUTPUT": str(tmp_path / "outputs"),
            "GITHUB_ACTION_PATH": str(TREE),
            "STAND_IN": str(stand_in),
            "GH_REPO": "o/r",
            "PULL_REQUEST": "5",
            "BASE_BRANCH": "main",
            "BASE_COMMIT": "base",
            "XLAGRAPH_NAME": "plan",
            "XLAGRAPH_COMMAND": "",
            "XLAGRAPH_DUMPS": "",
            "MAX_GROWTH": "",
            "CAPACITY": "",
            "SARIF": "false",
            **inputs,
        }
        codes = [
            subprocess.run(
                ["bash", "-eo", "pipefail", "-c", f'"{SCRIPTS}/{step}.sh"'],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                check=False,
            ).returncode
            for step in steps
        ]
        outputs = tmp_path / "outputs"
        return codes, outputs.read_text() if outputs.exists() else ""

    return run


def test_growth_trips_the_gate_and_its_comment_is_edited_by_the_next_push(job, stand_in, tmp_path):
    codes, outputs = job(
        "record", "fetch-base", "compare", "comment",
        XLAGRAPH_DUMPS="dumps-512", MAX_GROWTH="2%", CAPACITY="1GiB", SARIF="true",
    )  # fmt: skip
    assert codes == [0, 0, 0, 0]
    assert '"2.1.0"' in (tmp_path / "runner/xlagraph-plan/memory.sarif").read_text()
    assert "exit-code=4\n" in outputs  # though it is within the other limit
    comment = (stand_in / "body.md").read_text()
    assert comment.startswith("<!-- xlagraph plan -->\n")
    assert "`after` needs 256 B (66.7%) more memory than `before`" in comment
    assert comment == (tmp_path / "summary.md").read_text()
    assert "--method POST repos/o/r/issues/5/comments" in (stand_in / "calls").read_text()
    assert "run download 6" not in (stand_in / "calls").read_text()  # the base commit is first
    assert "Does it fit? Yes" in comment

    (stand_in / "comments").write_text("91\n")
    assert job("comment")[0] == [0]
    assert "--method PATCH repos/o/r/issues/comments/91" in (stand_in / "calls").read_text()


def test_without_a_plan_of_the_base_or_a_writing_token_the_job_goes_on(job, stand_in):
    (stand_in / "runs").write_text("")
    (stand_in / "read-only").touch()
    codes, outputs = job(
        "record", "fetch-base", "compare", "comment",
        XLAGRAPH_DUMPS="dumps-256", MAX_GROWTH="2%", CAPACITY="1GiB",
    )  # fmt: skip
    assert codes == [0, 0, 0, 0]
    assert outputs == "comparison=\nexit-code=0\n"


def test_a_command_is_recorded_and_its_failure_fails_the_step(job, tmp_path):
    # the program itself writes the dump of XLA
    program = 'dir=${XLA_FLAGS#--xla_dump_to=}; mkdir -p "${dir%% *}"; cp dumps-256/* "${dir%% *}"'
    codes, _ = job("record", XLAGRAPH_COMMAND=program)
    assert codes == [0]
    assert list((tmp_path / "runner/xlagraph-plan/after").glob("*-buffer-assignment.txt"))
    assert job("record", XLAGRAPH_COMMAND="false", XLAGRAPH_NAME="b")[0] == [1]
    assert job("record", XLAGRAPH_NAME="c")[0] == [2]


def test_every_script_that_the_action_names_exists_and_is_executable():
    named = re.findall(r"\.github/action/([\w.-]+)", (TREE / "action.yml").read_text())
    assert sorted(named) == sorted(path.name for path in SCRIPTS.iterdir())
    assert all(os.access(SCRIPTS / name, os.X_OK) for name in named)


def test_the_hook_fails_for_a_wrong_query(tmp_path, monkeypatch):
    hook = dict(re.findall(r"^..(\w+): (.+)$", (TREE / ".pre-commit-hooks.yaml").read_text(), re.M))
    command = [*shlex.split(hook["entry"]), *hook["args"].strip("[]").split(", ")]
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    monkeypatch.chdir(tmp_path)
    canned = TREE / "queries" / "canned" / "overview" / "roles.cypher"
    query = tmp_path / "queries" / "mine" / "roles.cypher"
    query.parent.mkdir(parents=True)
    shutil.copy(canned, query)
    assert subprocess.run(command, check=False).returncode == 0
    query.write_text(query.read_text() + "\nDELETE everything")
    assert subprocess.run(command, check=False).returncode == 1
