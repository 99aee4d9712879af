"""List released versions of a package, and install one into an environment, by uv or pip.

Environments are kept in the user's cache folder, so that a second bisection over the same
versions installs nothing.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xlagraph.ingest.errors import NotInstallable, VersionUnknown

_VERSIONS: Final = "Available versions:"
_COMPLETE: Final = "xlagraph-complete"
"""Name of an empty file that marks an environment as complete."""


@dataclass(frozen=True, slots=True)
class Installer:
    """The Python of the environments, and the tools that install packages."""

    python: str
    """Path of the interpreter."""
    uv: str | None
    """Path of uv; None to use pip instead."""
    pip: tuple[str, ...]
    """The command that runs pip."""

    def released_versions(self, package: str) -> tuple[str, ...]:
        """Return the released versions for this Python in the index, oldest first.

        Pre-releases are omitted. Raises VersionUnknown if the index cannot be queried or does not
        have the package.
        """
        other = [] if self.python == sys.executable else ["--python", self.python]
        asked = _run([*self.pip, *other, "index", "versions", package])
        line = next((line for line in asked.stdout.splitlines() if _VERSIONS in line), None)
        if line is None:
            raise VersionUnknown(f"no versions of {package} found: {_last_line(asked.stderr)}")
        return tuple(reversed(line.partition(_VERSIONS)[2].replace(",", " ").split()))

    def install(self, requirements: Sequence[str], files: Sequence[Path]) -> Path:
        """Return the folder of an environment with these requirements and requirement files.

        A cached environment is reused. Raises NotInstallable, with the installer's last
        line, if something cannot be installed.
        """
        folder = environment_folder(self.python, requirements, files)
        if (folder / _COMPLETE).exists():
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        wanted = [*requirements, *(word for file in files for word in ("-r", str(file)))]
        python = str(folder / "bin" / "python")
        if self.uv is not None:
            commands = [
                [self.uv, "venv", "--quiet", "--no-project", "--python", self.python, str(folder)],
                [self.uv, "pip", "install", "--quiet", "--python", python, *wanted],
            ]
        else:
            commands = [
                [self.python, "-m", "venv", "--without-pip", str(folder)],
                [*self.pip, "--python", python, "install", "--quiet", *wanted],
            ]
        for command in commands:
            done = _run(command)
            if done.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                raise NotInstallable(_last_line(done.stderr))
        (folder / _COMPLETE).touch()
        return folder


def find_installer(python: str | None) -> Installer:
    """Return the installer of this machine, for a Python given by path or version.

    None means the Python of this process. Raises NotInstallable if that Python is not found, or
    neither uv nor pip is.
    """
    uv = shutil.which("uv")
    if importlib.util.find_spec("pip"):
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    elif uv is not None:
        pip = (uv, "tool", "run", "pip")
    else:
        raise NotInstallable("expected uv on PATH or pip in this environment, found neither")
    if python is None:
        return Installer(sys.executable, uv, pip)
    found = shutil.which(python) or shutil.which(f"python{python}")
    if found is None and uv is not None:
        found = _run([uv, "python", "find", python]).stdout.strip() or None
    if found is None:
        raise NotInstallable(f"Python {python} not found; name one by its path")
    return Installer(found, uv, pip)


def environment_folder(python: str, requirements: Sequence[str], files: Sequence[Path]) -> Path:
    """Return the cache folder for an environment with these requirements; it may not exist.

    Its name ends with a digest of the Python, the requirements and the files. Raises OSError if a
    file cannot be read.
    """
    digest = hashlib.sha256(repr((python, *requirements)).encode())
    for file in files:
        digest.update(file.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = f"{requirements[0].replace('==', '-')}-{digest.hexdigest()[:12]}"
    return cache / "xlagraph" / "environments" / name


def environment_variables(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that activate a virtual environment."""
    path = os.pathsep.join(filter(None, (str(folder / "bin"), environment.get("PATH"))))
    return {"PATH": path, "VIRTUAL_ENV": str(folder)}


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  the user's own installer
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "the installer gave no reason"
