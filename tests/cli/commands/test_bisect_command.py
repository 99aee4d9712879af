"""`bisect` finds the version of a package that made a program grow, in a local package index.

The package `grower`, which represents a framework, determines a program's bytes.
"""

import importlib.util
import os
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.cli.command_line import json_rows
from tests.tiny_dumps import dump

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pip") is None, reason="needs pip next to the tests"
)

TEMP_BYTES = {"1.0": 256, "1.1": 256, "1.2": None, "1.3": 512, "1.4rc1": 512, "1.10": 768}
"""Bytes that the program takes with each version; it fails with 1.2."""
PROGRAM = """
import os, pathlib, grower
print("compiles with", grower.__file__)
flags = dict(flag.partition("=")[::2] for flag in os.environ["XLA_FLAGS"].split())
folder = pathlib.Path(flags["--xla_dump_to"])
folder.mkdir(exist_ok=True)
stem = "module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt"
folder.joinpath(stem).write_text(grower.DUMP)
"""


def write_wheel(folder: Path, version: str, module: str) -> None:
    """Write a wheel of one module."""
    information = f"grower-{version}.dist-info"
    files = {
        "grower.py": module,
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: grower\nVersion: {version}\n",
        f"{information}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{information}/RECORD"])
    with ZipFile(folder / f"grower-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in {**files, f"{information}/RECORD": record}.items():
            wheel.writestr(name, text)


@pytest.fixture
def bisect(run, monkeypatch, tmp_path):
    """Bisect the program over a local package index."""
    index = tmp_path / "index"
    index.mkdir()
    for version, temp in TEMP_BYTES.items():
        module = "raise ImportError" if temp is None else f"DUMP = {dump(temp)!r}"
        write_wheel(index, version, module)
    (index / "grower-1.11-py3-none-any.whl").write_text("not a wheel")
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(index))
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    Path("train.py").write_text(PROGRAM)

    def bisect_program(package: str, *options: object):
        return run("bisect", "--package", package, *options, "--", "python", "train.py")

    return bisect_program


needs_uv = pytest.mark.skipif(shutil.which("uv") is None, reason="there is no uv")


@needs_uv
def test_the_first_bad_version_and_its_growth_are_shown(run, bisect, tmp_path):
    ended = bisect("grower==1.0..1.3", "--max-growth", "50%", "--format", "json")
    assert ended.code == 4
    assert "grower: 4 versions from 1.0 to 1.3\n" in ended.err
    assert "grower 1.2 skipped: the program ended with exit code 1\n" in ended.err
    assert (
        "grower 1.3 is the first bad version (or, skipped: 1.2): 640 B reserved, 384 B with 1.0;"
        " more than 50% is not allowed\n"
    ) in ended.err
    assert '"part":"total","name":"reserved"' in ended.out.replace(" ", "").replace("\n", "")
    names = {row[0]: row[4] for row in json_rows(run("runs", "--format", "json"))}
    assert names["train-grower-1.3"] == ["package=grower==1.3"]
    assert set(names) == {f"train-grower-{version}" for version in ("1.0", "1.1", "1.3")}

    # environments are reused, and growth within the limit is not an error
    (environment,) = (tmp_path / "cache/xlagraph/environments").glob("grower-1.3-*")
    environment.joinpath("lib/mark").touch()
    within = bisect("grower==1.1..1.3", "--max-growth", "1KiB")
    assert within.code == 0
    assert "grower 1.3: 640 B reserved, 384 B with 1.1; no more than 1KiB of growth" in within.err
    assert "train-grower-1.1 → train-grower-1.3: reserved bytes grow by 256 B" in within.out
    assert environment.joinpath("lib/mark").exists()


def test_without_uv_pip_fills_the_environments(bisect, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = bisect("grower==1.10..1.11")
    assert "grower 1.10: 896 B reserved\n" in ended.err
    assert "grower 1.11 skipped: it cannot be installed: " in ended.err
    assert ended.code == 1
    assert "fewer than two versions could be measured" in ended.err


def test_wrong_arguments_are_reported_before_anything_is_installed(run, bisect, monkeypatch):
    unknown = bisect("grower==1.0..2.0")
    assert unknown.code == 1
    assert "error: grower 2.0 is not released for this Python; similar versions: " in unknown.err
    assert "1.4rc1" not in unknown.err
    assert "expected a range such as" in bisect("grower").err
    assert run("bisect", "--package", "grower==1.0..1.3").code == 2
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={os.devnull}")
    assert bisect("grower==1.0..1.3").code == 2
