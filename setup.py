"""Names the packages: each folder of modules below the folders that pyproject.toml installs."""

import tomllib
from pathlib import Path

from setuptools import setup

TREE = Path(__file__).parent
FOLDERS = tomllib.loads((TREE / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "setuptools"
]["package-dir"]

setup(
    packages=sorted(
        {
            ".".join((name, *module.parent.relative_to(TREE / folder).parts))
            for name, folder in FOLDERS.items()
            for module in (TREE / folder).rglob("__init__.py")
        }
    )
)
