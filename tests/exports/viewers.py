"""The tools that open exports, as installed by `make viewers`."""

import subprocess
from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parents[2] / "build" / "viewers"


def installed(path: str) -> Path:
    """Return a file of the tools; skip the test if it does not exist."""
    if not (_FOLDER / path).exists():
        pytest.skip(f"{path} is not there: `make viewers` installs it, with go, npm and pip")
    return _FOLDER / path


def printed_by_xprof_python(program: str, *arguments: object) -> str:
    """Run a program in the environment with XProf and Perfetto; return its output."""
    python = installed("xprof/bin/python")
    command = [str(python), "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
