"""The installed package: the built wheel, without the sources."""

import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

TREE = Path(__file__).resolve().parents[1]
CONFIGURATION = tomllib.loads((TREE / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = CONFIGURATION["project"]
FOLDERS: dict[str, str] = CONFIGURATION["tool"]["setuptools"]["package-dir"]
"""The folder of each package; the integrations are directly in `xlagraph`."""
INTEGRATIONS = {path.name for path in (TREE / FOLDERS["xlagraph"]).iterdir()} - {"__pycache__"}
SUBPACKAGES = [name.removeprefix("xlagraph.") for name in FOLDERS if "." in name]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build from a copy, so that stray files of the tree are not included."""
    sources = tmp_path_factory.mktemp("sources")
    compiled = shutil.ignore_patterns("__pycache__")  # other tests may write these meanwhile
    for part in FOLDERS.values():
        shutil.copytree(TREE / part, sources / part, ignore=compiled, dirs_exist_ok=True)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(TREE / name, sources)
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([sys.executable, *build, "--wheel-dir", folder, sources], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a fresh virtual environment with the wheel, and nothing else of this project."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder)
    pip = [sys.executable, "-m", "pip", "--python", str(folder)]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    # dependencies are those of the tests: a .pth file adds the folder,
    # but ignores an editable install of the sources in it
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin"


def test_the_wheel_has_the_folders_under_one_name_and_nothing_else(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"xlagraph", f"xlagraph-{PROJECT['version']}.dist-info"}
    held = {name.split("/")[1] for name in names if name.startswith("xlagraph/")}
    assert held == {*SUBPACKAGES, *INTEGRATIONS}


def test_every_file_that_repeats_the_version_has_that_of_the_package() -> None:
    command = [str(TREE / ".ci" / "release" / "version"), "--unreleased"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    assert shown.stdout == f"{PROJECT['version']}\n"


def test_every_folder_of_modules_is_a_package() -> None:
    for folder in {path.parent for top in FOLDERS.values() for path in (TREE / top).rglob("*.py")}:
        assert (folder / "__init__.py").exists(), folder.relative_to(TREE)


def test_the_wheel_has_every_module_and_every_other_file(wheel: Path) -> None:
    wanted = {
        f"{name.replace('.', '/')}/{path.relative_to(TREE / folder)}"
        for name, folder in FOLDERS.items()
        for path in (TREE / folder).rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    held = {name for name in ZipFile(wheel).namelist() if name.startswith("xlagraph/")}
    assert held == wanted
    assert {f"xlagraph/{name}/py.typed" for name in SUBPACKAGES} <= wanted


def test_the_installed_command_prints_its_version(installed: Path, tmp_path: Path) -> None:
    shown = subprocess.run(
        [installed / "xlagraph", "--version"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert PROJECT["version"] in shown.stdout


def test_the_installed_packages_are_those_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]: print(importlib.import_module(f'xlagraph.{name}').__file__)"
    )
    shown = subprocess.run(
        [installed / "python", "-c", script, *SUBPACKAGES],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    files = [Path(line) for line in shown.stdout.splitlines()]
    assert len(files) == len(SUBPACKAGES)
    assert all(file.is_relative_to(installed.parent) for file in files)
