"""Each task of SKILL.md names a command that exists, with options that it accepts."""

import re
import shlex
from inspect import getsource
from pathlib import Path
from typing import Any

import pytest

from xlagraph.cli.app import COMMANDS, build_command
from xlagraph.serve import mcp_server

SKILL = (Path(__file__).resolve().parents[1] / "SKILL.md").read_text(encoding="utf-8")
TASKS = dict(re.findall(r"^\| (.+?) \| `xlagraph (.+)` \|$", SKILL, re.MULTILINE))
NOT_ANSWERS = {"serve", "mcp", "remove", "catalogue", "resident"}


@pytest.mark.parametrize("task", TASKS)
def test_the_command_of_a_task_is_accepted(task):
    command: Any = build_command()
    context, name, words = None, "xlagraph", shlex.split(TASKS[task])
    while command is not None:
        context = command.make_context(name, words, parent=context)
        rest = [*getattr(context, "_protected_args", ()), *context.args]
        if not hasattr(command, "resolve_command") or not rest:
            return
        name, command, words = command.resolve_command(context, rest)
    pytest.fail(f"no command {name}")


def test_every_command_that_answers_has_a_task():
    named = {shlex.split(command)[0] for command in TASKS.values()}
    assert set(COMMANDS) - named == NOT_ANSWERS


def test_the_tools_are_those_of_the_server():
    (listed,) = re.findall(r"serves the same graph as tools: (.*?)\.\n", SKILL, re.DOTALL)
    tools = re.findall(r"_tool\(tools\.(\w+)", getsource(mcp_server))
    assert re.findall(r"`(\w+)`", listed) == tools


def test_an_assistant_finds_the_skill_by_its_description():
    front = re.match(r"---\nname: ([a-z-]+)\ndescription: (.+)\n---\n", SKILL)
    assert front
    assert front[1] == "xlagraph"
    assert 1 <= len(front[2]) <= 1024
